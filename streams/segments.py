"""The segments of a log as data: which streams a partition's messages stand in, in which order.

A log is one stream, `LOG`, until somebody segments it. From then on each partition has a
chain of streams, of which the last is open and the others are sealed. Sequences go on from
one to the next, so that one sequence means one message over all of them (ADR 0061).
"""

from collections.abc import Sequence
from typing import Literal

import msgspec

from schemas.values.subjects import PARTITIONS
from streams.topology import LOG

State = Literal["preparing", "open", "closed", "archived", "deleted"]
"""`preparing`: of a roll-over under way, no reader looks there. `open`: the one that grows.
`closed`: sealed. `archived`: sealed, and read back from an archive by its digest. `deleted`:
its stream is gone, and only the archive has it."""

COUNTS = (1, 2, 4, 8, 16)
"""How many streams may be open at once; each divides the partitions evenly."""

WIDTH = 2**40
"""Sequences between the beginnings of two ranges. A range that wrote 100,000 messages a
second would come to the next one's in 127 days of one segment; none does."""


class Segment(msgspec.Struct, frozen=True, kw_only=True):
    """One stream of the log: a range of partitions over a stretch of sequences."""

    stream: str = LOG.name
    partitions: tuple[int, int] = (0, PARTITIONS - 1)
    """The first and the last, inclusive."""
    first: int = 1
    """The first sequence that it has or will have."""
    last: int | None = None
    """The last one; None while it grows."""
    state: State = "open"
    digest: str = ""
    """Of a closed one: blake2b (hex) of the last message of each partition and direction."""
    begins: dict[str, int] = {}
    """Where it goes on to source: `IN_<p>` or `IN` or `IN/<p>` (the messages of partition p
    in `IN`) to the first sequence of that stream which no segment before has sourced."""

    def has(self, partition: int | None) -> bool:
        """Tell whether it holds a partition; None stands for any."""
        if partition is None:
            return True
        return self.partitions[0] <= partition <= self.partitions[1]

    @property
    def every(self) -> range:
        """Its partitions."""
        return range(self.partitions[0], self.partitions[1] + 1)


class Segments(msgspec.Struct, frozen=True, kw_only=True):
    """All segments of a log, by their first sequence."""

    segments: tuple[Segment, ...] = (Segment(),)
    is_routed: bool = False
    """Whether `IN` stores messages under their partition, as several streams need it."""

    @property
    def readable(self) -> tuple[Segment, ...]:
        """Those that hold, or held, messages."""
        return tuple(each for each in self.segments if each.state != "preparing")

    @property
    def open(self) -> tuple[Segment, ...]:
        """Those that grow, by partition."""
        return self._of("open")

    @property
    def preparing(self) -> tuple[Segment, ...]:
        """Those of a roll-over under way."""
        return self._of("preparing")

    @property
    def stored(self) -> tuple[Segment, ...]:
        """Those whose stream exists, as far as a roll-over has not left them half made."""
        return tuple(each for each in self.readable if each.state != "deleted")

    def _of(self, state: State) -> tuple[Segment, ...]:
        return tuple(each for each in self.segments if each.state == state)

    def chain(self, partition: int | None) -> tuple[Segment, ...]:
        """Return the segments of a partition in their order; of all of them for None."""
        if len(self.segments) == 1:
            return self.segments
        return tuple(each for each in self.readable if each.has(partition))

    def open_of(self, partition: int) -> Segment:
        """Return the segment to which a partition is written."""
        if len(self.segments) == 1:
            return self.segments[0]
        return next(each for each in self.open if each.has(partition))

    def end(self, segment: Segment) -> int:
        """Return the highest sequence that a segment may come to have."""
        if segment.last is not None:
            return segment.last
        behind = [each.first for each in self.readable if each.first > segment.first]
        return min(behind) - 1 if behind else 2**63 - 1

    def holding(self, sequence: int) -> Segment | None:
        """Return the segment in which a sequence lies, if there is one."""
        for each in self.readable:
            if each.first <= sequence <= self.end(each):
                return each
        return None

    def begin(self, segment: Segment, after: Sequence[int]) -> int | None:
        """Return behind which of its sequences a reader goes on; None where it has it all.

        `after` is the sequence behind which it reads, or one for each segment that was open
        when it began.
        """
        end = self.end(segment)
        inside = [each for each in after if segment.first - 1 <= each <= end]
        # What was taken as the end of a later range reaches back into this one at most by
        # what a reader asks for again, hence the lowest.
        if inside:
            return min(inside)
        return None if end <= min(after) else segment.first - 1


ALONE = Segments()
"""A log that was never segmented."""


def partition_in(subjects: str) -> int | None:
    """Return the one partition that a filter over the log names; None if it names none."""
    if not subjects.startswith("ev."):
        return None
    token = subjects.split(".", 2)[1]
    return int(token) if token.isdecimal() else None


def planned(log: Segments, count: int) -> tuple[Segment, ...]:
    """Return `count` further segments of a log, which have no sequences yet."""
    number, each = len(log.segments), PARTITIONS // count
    return tuple(
        Segment(
            stream=f"{LOG.name}_{number + place}",
            partitions=(place * each, place * each + each - 1),
            first=0,
            state="preparing",
        )
        for place in range(count)
    )


def first_sequence(place: int, last: int) -> int:
    """Return where range `place` of the next segments begins, behind the log's `last`.

    Above whatever any segment has, so that a sequence stays unique however often a log is
    divided anew; range 0 goes on without a gap.
    """
    return last + 1 if place == 0 else (last // WIDTH + place) * WIDTH + 1
