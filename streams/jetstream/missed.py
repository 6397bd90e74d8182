"""Messages that an intake stream keeps and the log never took: which they are.

nats-server may pass over one that it has acknowledged (docs/adr/0075). What each message of
the log came from is read from where it was read before, so that a look costs as much as
arrived since.
"""

import time
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path
from typing import Any

from schemas.values.record import Record, moment
from schemas.values.subjects import PARTITIONS, parse
from streams.errors import LogUnavailable
from streams.jetstream.connection import insist
from streams.jetstream.hardened_client import BrokerClient
from streams.jetstream.intake import logged
from streams.jetstream.migrate import epoch_of
from streams.jetstream.origins import EVERYWHERE, behind, pages, since
from streams.jetstream.read import stored
from streams.jetstream.registry import load
from streams.jetstream.sourced import consumer_of_box
from streams.jetstream.taken_mark import Mark, keep, recall
from streams.segments import Segment, Segments
from streams.topology import BOXES, IN

_Stretch = tuple[int, int]
"""A first and a last sequence, inclusive."""


class Taken:
    """What the log has of one intake stream: all up to `last`, but for some gaps."""

    def __init__(self, last: int = 0) -> None:
        """Begin with a log that has everything up to a sequence."""
        self.last = last
        self._gaps: list[_Stretch] = []

    @property
    def gaps(self) -> tuple[_Stretch, ...]:
        """What the log does not have before `last`, ascending."""
        return tuple(self._gaps)

    def lacks(self, end: int) -> tuple[_Stretch, ...]:
        """Return what the log does not have up to a sequence, ascending."""
        rest = [(self.last + 1, end)] if end > self.last else []
        return (*self._gaps, *rest)

    def take(self, sequence: int) -> None:
        """Note that the log has a message, or need not have it."""
        if sequence > self.last:
            if sequence > self.last + 1:
                self._gaps.append((self.last + 1, sequence - 1))
            self.last = sequence
        elif self._gaps:
            self.drop((sequence, sequence))

    def drop(self, stretch: _Stretch) -> None:
        """Note that the log need not have a stretch, which the intake stream has not."""
        first, last = stretch
        left: list[_Stretch] = []
        for gap in self._gaps:
            left += [(gap[0], min(gap[1], first - 1)), (max(gap[0], last + 1), gap[1])]
        self._gaps = sorted({each for each in left if each[0] <= each[1]})
        if first <= self.last + 1:
            self.last = max(self.last, last)

    def forget(self, before: int) -> None:
        """Note that the intake stream has nothing before a sequence any more."""
        self.last = max(self.last, before - 1)
        self._gaps = [
            (max(first, before), last) for first, last in self._gaps if last >= before
        ]


_NAMED = 1_000
"""How many messages of one intake stream a look finds; the next one goes on."""

_GAPS = 10_000
"""How many gaps are remembered of an intake stream; what lies behind is read later."""

_HEARD_NS = 5_000_000_000
"""Nanoseconds since the last sign of life of a source, of which it gives one a second."""

_KEPT_S = 30.0
"""Seconds between two writes of the mark."""

_MARGIN = timedelta(minutes=10)
"""By how much the broker's clock may have been put back between two messages."""

_INTAKES = (IN.name, *(box.name for box in BOXES))


@dataclass(frozen=True, slots=True, order=True)
class Missed:
    """A message that an intake stream keeps and the log does not have."""

    stream: str
    sequence: int
    subject: str
    """As the intake stream has it."""
    agent: str
    partition: int
    is_behind: bool
    """Whether nothing behind it was taken either: then the broker can still do so."""

    def __str__(self) -> str:
        return f"{self.stream} {self.sequence} ({self.subject})"


@dataclass(frozen=True, slots=True)
class Lost:
    """Messages that the log never took, and that an intake stream cannot hand out any more
    though it has not come to their end: its files are damaged."""

    stream: str
    first: int
    last: int

    @property
    def count(self) -> int:
        """How many."""
        return self.last - self.first + 1

    def __str__(self) -> str:
        upto = f" to {self.last}" if self.count > 1 else ""
        return f"{self.stream} {self.first}{upto}"


@dataclass(frozen=True, slots=True)
class Forgotten:
    """An intake stream of which the broker lost what the log has: the numbers that it gives
    to new messages were given before."""

    stream: str
    last: int
    """The last sequence that the log has of it."""
    since_ns: int
    """When the log had it: what the stream holds of a later time is new."""


@dataclass(slots=True)
class _Known:
    """How far the log was read, and what it has taken."""

    segments: Segments
    taken: dict[str, Taken]
    """By intake stream."""
    read: dict[str, int]
    """By stream of the log: up to which sequence."""
    last: dict[str, int] = field(default_factory=dict)
    """By source, as `Segment.begins` names them: the last that the broker took."""
    places: dict[str, tuple[str, int]] = field(default_factory=dict)
    """By intake stream: where in the log the last one of it stands, stream and sequence."""
    lost: list[Lost] = field(default_factory=list)


class Lookout:
    """Compares what intake streams keep with what the log has of them."""

    def __init__(self, client: BrokerClient, mark: Path | None = None) -> None:
        """Use a connection, which the caller closes, and a file that saves reading again."""
        self._client, self._mark = client, mark
        self._known: _Known | None = None
        self._kept_at = time.monotonic()

    async def look(self, *, is_closed: bool = False) -> tuple[Missed, ...]:
        """Return what the log lacks now, in the order of each intake stream.

        What is on its way may be among it, so only what is found twice, some seconds apart,
        was missed; unless `is_closed`: then the log takes nothing meanwhile.

        Raises:
            StreamsError: the broker is away, or the copy of the log that was read lags.
        """
        segments, _ = await load(self._client)
        if segments.preparing:
            # A roll-over has closed the intake, and opens it.
            return ()
        # Before the log is read: what comes later may be on its way.
        ends = await self._ends(segments, is_closed=is_closed)
        if self._known is None or self._known.segments != segments:
            self._known = await self._begun(segments)
        for segment in segments.stored:
            await self._read_on(self._known, segment)
        found: list[Missed] = []
        for stream, end in ends.items():
            found += [each async for each in self._lacking(self._known, stream, end)]
        return tuple(found)

    def last(self, stream: str) -> int:
        """Return the last sequence of an intake stream that the log has."""
        return self._known.taken[stream].last if self._known is not None else 0

    async def forgotten(self) -> tuple[Forgotten, ...]:
        """Return which intake streams lack what the log has of them, after a look.

        Raises:
            StreamsError: the broker is away.
        """
        known, found = self._known, []
        for name, (stream, position) in known.places.items() if known else ():
            last = known.taken[name].last if known else 0
            if (await self._state(name))["last_seq"] < last:
                record = await stored(self._client, {"seq": position}, stream)
                assert record is not None, "it was read there"
                found.append(Forgotten(name, last, record.time_ns))
        return tuple(found)

    async def lost(self) -> tuple[Lost, ...]:
        """Return what the last look found lost; what became too old since is not among it.

        Raises:
            StreamsError: the broker is away.
        """
        known = self._known.lost if self._known is not None else []
        first = {
            name: (await self._state(name))["first_seq"]
            for name in {each.stream for each in known}
        }
        return tuple(each for each in known if each.last >= first[each.stream])

    async def keep(self) -> None:
        """Write the mark, unless it was written just now or something is missed."""
        known, now = self._known, time.monotonic()
        if self._mark is None or known is None or now - self._kept_at < _KEPT_S:
            return
        self._kept_at = now
        # Behind a mark nobody would find what is lost.
        if known.lost or any(each.gaps for each in known.taken.values()):
            return
        read = {}
        for stream, sequence in known.read.items():
            record = await stored(self._client, {"seq": sequence}, stream)
            if record is not None:
                read[stream] = sequence, record.time_ns
        taken = {name: each.last for name, each in known.taken.items()}
        keep(self._mark, Mark(str(await epoch_of(self._client)), read, taken))

    async def _ends(self, segments: Segments, *, is_closed: bool) -> dict[str, int]:
        """Return up to which sequence of each intake stream the broker claims to be done."""
        ends = {IN.name: 0 if is_closed else await self._end_of_in(segments)}
        for segment in segments.open:
            for box in (BOXES[each] for each in segment.every):
                info = await consumer_of_box(self._client, segment, box)
                ends[box.name] = info["ack_floor"]["stream_seq"] if info else 0
        return ends

    async def _end_of_in(self, segments: Segments) -> int:
        """Return the last sequence of `IN` if nothing of it waits, as the broker says.

        It tells no position of the consumer that it makes for itself.
        """
        last: int = (await self._state(IN.name))["last_seq"]
        for segment in segments.open:
            subject = f"$JS.API.STREAM.INFO.{segment.stream}"
            sources = (await insist(self._client, subject, {})).get("sources") or []
            own = [each for each in sources if each["name"] == IN.name]
            # While the intake is closed it waits, and so it does for a source not yet heard.
            is_heard = all(0 <= each["active"] < _HEARD_NS for each in own)
            if not own or not is_heard or any(each["lag"] for each in own):
                return 0
        return last

    async def _begun(self, segments: Segments) -> _Known:
        """Return where to begin: where it was read before, or with what intakes keep."""
        states = {name: await self._state(name) for name in _INTAKES}
        mark = recall(self._mark) if self._mark else None
        if mark is not None and await self._fits(mark, segments, states):
            read = {stream: sequence for stream, (sequence, _) in mark.read.items()}
            return _Known(segments, _from(mark.taken), read)
        known = _Known(segments, _from({}), {})
        for name, state in states.items():
            _forget(known.taken[name], state)
            known.taken[name].forget(_first_known(segments, name))
        return known

    async def _fits(
        self, mark: Mark, segments: Segments, states: dict[str, Any]
    ) -> bool:
        """Tell whether a mark is of this log and these intake streams, as they are now."""
        if mark.epoch != str(await epoch_of(self._client)):
            return False
        if any(states[name]["last_seq"] < last for name, last in mark.taken.items()):
            return False
        for segment in segments.stored:
            if segment.stream in mark.read:
                # A log that was put back from a backup has another message there, or none.
                sequence, time_ns = mark.read[segment.stream]
                found = await stored(self._client, {"seq": sequence}, segment.stream)
                if found is None or found.time_ns != time_ns:
                    return False
        return True

    async def _read_on(self, known: _Known, segment: Segment) -> None:
        """Read where the messages of a stream of the log came from, up to its present end."""
        stream, at = segment.stream, known.read.get(segment.stream, 0)
        if segment.last is not None and segment.last <= at:
            return
        end: int = (await self._state(stream))["last_seq"]
        if end <= at:
            return
        last = [
            await stored(self._client, {"last_by_subj": each}, stream)
            for each in EVERYWHERE
        ]
        times = [each.time_ns for each in last if each]
        oldest = 0 if at else await self._oldest(max(times, default=time.time_ns()))
        begin = behind(at) if at else since(moment(oldest).isoformat())
        position = at
        async for page in pages(self._client, stream, EVERYWHERE, begin):
            position = known.read[stream] = max(position, page.position)
            for origin in page.origins:
                known.taken[origin.stream].take(origin.sequence)
                name, sequence = origin.name, origin.sequence
                known.last[name] = max(sequence, known.last.get(name, 0))
                if sequence == known.taken[origin.stream].last:
                    known.places[origin.stream] = stream, origin.position
            if any(len(each.gaps) > _GAPS for each in known.taken.values()):
                return
        if any(
            each and each.sequence > position and each.time_ns > oldest for each in last
        ):
            # The leader has more. What a node lacks that lags would read as missed.
            raise LogUnavailable(f"the copy of {stream} that was read lags: try again")
        known.read[stream] = max(position, end)

    async def _oldest(self, newest: int) -> int:
        """Return since when the log has what the intake streams keep, in nanoseconds.

        At least the `newest` that it has of them is among it: they may have forgotten that.
        """
        found = [
            await stored(self._client, {"seq": 1, "next_by_subj": ">"}, name)
            for name in _INTAKES
        ]
        margin = int(_MARGIN.total_seconds()) * 1_000_000_000
        return min([newest, *(each.time_ns for each in found if each)]) - margin

    async def _lacking(
        self, known: _Known, stream: str, end: int
    ) -> AsyncIterator[Missed]:
        """Yield what an intake stream keeps of what the log lacks, up to a sequence."""
        taken, named = known.taken[stream], 0
        if not taken.lacks(end):
            return
        _forget(taken, await self._state(stream))
        for first, last in taken.lacks(end):
            at = first
            while at <= last and named < _NAMED:
                wanted = {"seq": at, "next_by_subj": ">"}
                record = await stored(self._client, wanted, stream)
                until = min(last, record.sequence - 1) if record else last
                if until >= at:
                    # Too old since a moment, or damaged.
                    taken.drop((at, until))
                    known.lost.append(Lost(stream, at, until))
                if record is None or record.sequence > last:
                    break
                named, at = named + 1, record.sequence + 1
                missed = _missed(known, stream, record)
                # Other partitions of `IN` may be ahead.
                if end or not missed.is_behind:
                    yield missed

    async def _state(self, stream: str) -> dict[str, Any]:
        info = await insist(self._client, f"$JS.API.STREAM.INFO.{stream}", {})
        state: dict[str, Any] = info["state"]
        return state


def _from(taken: dict[str, int]) -> dict[str, Taken]:
    return {name: Taken(taken.get(name, 0)) for name in _INTAKES}


def _forget(taken: Taken, state: dict[str, Any]) -> None:
    """Note what an intake stream does not keep any more."""
    taken.forget(state["first_seq"] if state["messages"] else state["last_seq"] + 1)


def _first_known(segments: Segments, stream: str) -> int:
    """Return the first sequence of an intake stream of which the log can tell: what an
    archived segment took, it tells no more."""
    begins: dict[str, int] = {}
    for partition in range(PARTITIONS):
        chain = segments.chain(partition)
        if chain[0].state == "deleted":
            begins |= next(each.begins for each in chain if each.state != "deleted")
    own = [begins[name] for name in begins if name.partition("/")[0] == stream]
    return max(own, default=1)


def _missed(known: _Known, stream: str, record: Record) -> Missed:
    tokens, last = record.subject.split("."), known.taken[stream].last
    if stream != IN.name:
        partition = int(stream.rpartition("_")[2])
    elif tokens[0] == "ip":
        partition = int(tokens[1])
        last = known.last.get(f"{stream}/{partition}", 0)
    else:
        # The stream of the log that has partition 0 takes what `IN` has of none.
        partition, last = 0, known.last.get(stream, 0)
    return Missed(
        stream=stream,
        sequence=record.sequence,
        subject=record.subject,
        agent=parse(logged(record.subject, record.sequence)).agent,
        partition=partition,
        is_behind=record.sequence > last,
    )
