"""What a log has lost, as the log itself records it; the one reader honours it.

Sequences that are gone stay gone: they are never used again. What is left of a group that
lost a part, or its cause or answer, is void: everybody reads on as if it were not there.
"""

from bisect import bisect_right
from collections.abc import Iterable
from dataclasses import dataclass

from schemas.codec.decode import read_input
from schemas.messages.controls import MessagesLost, Stretches
from schemas.values.subjects import SHARED_AGENT, input_subject
from streams.log import ReadableLog

_PAGE = 1000


class Sequences:
    """A set of sequences, kept as stretches."""

    def __init__(self, stretches: Iterable[tuple[int, int]] = ()) -> None:
        """Take stretches in any order, from the first to the last of each."""
        self.stretches = tuple(sorted(stretches))
        self._firsts = [first for first, _ in self.stretches]

    def __contains__(self, sequence: int) -> bool:
        """Whether a sequence is of one of the stretches."""
        at = bisect_right(self._firsts, sequence) - 1
        return at >= 0 and sequence <= self.stretches[at][1]

    def __bool__(self) -> bool:
        """Whether there is any."""
        return bool(self.stretches)

    def __len__(self) -> int:
        """How many sequences they are."""
        return sum(int(last - first + 1) for first, last in self.stretches)

    @property
    def last(self) -> int:
        """The highest; 0 for none."""
        return max((last for _, last in self.stretches), default=0)

    def between(self, after: int, before: int) -> bool:
        """Tell whether one stands between two sequences."""
        return any(first < before and last > after for first, last in self.stretches)


@dataclass(frozen=True, slots=True)
class Losses:
    """What one partition has lost."""

    lost: Sequences
    void: Sequences
    seams: Sequences
    """Where what comes after need not follow from what stands before."""


async def losses_of(log: ReadableLog, partition: int) -> Losses:
    """Return what the log records as lost of a partition."""
    subject = input_subject(
        partition, SHARED_AGENT, MessagesLost.kind, MessagesLost.token
    )
    lost: list[tuple[int, int]] = []
    void: list[tuple[int, int]] = []
    records: list[tuple[int, int]] = []
    for record in await log.page(subject, 0, _PAGE):
        message = read_input(record).message
        if isinstance(message, MessagesLost):
            lost += message.lost
            void += message.void
            records.append((record.sequence, record.sequence))
    return Losses(Sequences(lost), Sequences(void), Sequences([*lost, *void, *records]))


def stretches(sequences: Iterable[int]) -> Stretches:
    """Single sequences, in order, as stretches."""
    found: list[tuple[int, int]] = []
    for sequence in sequences:
        if found and found[-1][1] == sequence - 1:
            found[-1] = (found[-1][0], sequence)
        else:
            found.append((sequence, sequence))
    return tuple(found)
