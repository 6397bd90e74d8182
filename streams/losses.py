"""What a log has lost, as the log itself records it (`MessagesLost`, ADR 0018).

Lost sequences are never used again. What is left of a group that lost a part, its cause or
its answer is void: every reader passes over it, so that all of them read the same log.
"""

from bisect import bisect_right
from collections.abc import Iterable
from dataclasses import dataclass

from schemas.codec.decode import read_input
from schemas.messages.controls import MessagesLost, Stretches
from schemas.values.subjects import SHARED_AGENT, input_subject
from streams.log import ReadableLog, scan


class Sequences:
    """A set of sequences, stored as inclusive stretches; a loss may span millions."""

    def __init__(self, stretches: Iterable[tuple[int, int]] = ()) -> None:
        """Take (first, last) pairs, inclusive and disjoint, in any order."""
        self.stretches = tuple(sorted(stretches))
        self._firsts = [first for first, _ in self.stretches]

    def __contains__(self, sequence: int) -> bool:
        """Tell whether a sequence lies in one of the stretches."""
        at = bisect_right(self._firsts, sequence) - 1
        return at >= 0 and sequence <= self.stretches[at][1]

    def __bool__(self) -> bool:
        """Tell whether there is any."""
        return bool(self.stretches)

    def __len__(self) -> int:
        """Return how many sequences there are."""
        return sum(int(last - first + 1) for first, last in self.stretches)

    @property
    def last(self) -> int:
        """The highest; 0 for none."""
        return max((last for _, last in self.stretches), default=0)

    def between(self, after: int, before: int) -> bool:
        """Tell whether one lies strictly between two sequences."""
        return any(first < before and last > after for first, last in self.stretches)


@dataclass(frozen=True, slots=True)
class Losses:
    """What one partition has lost."""

    lost: Sequences
    void: Sequences
    seams: Sequences
    """Lost and void sequences and the records of them: a chain may start anew behind them."""


async def losses_of(log: ReadableLog, partition: int, after: int = 0) -> Losses:
    """Return what the log records as lost of a partition, behind a sequence."""
    subject = input_subject(
        partition, SHARED_AGENT, MessagesLost.kind, MessagesLost.token
    )
    lost: list[tuple[int, int]] = []
    void: list[tuple[int, int]] = []
    records: list[tuple[int, int]] = []
    async for record in scan(log, subject, after):
        message = read_input(record).message
        if isinstance(message, MessagesLost):
            lost += message.lost
            void += message.void
            records.append((record.sequence, record.sequence))
    return Losses(Sequences(lost), Sequences(void), Sequences([*lost, *void, *records]))


def stretches(sequences: Iterable[int]) -> Stretches:
    """Join ascending sequences into stretches."""
    found: list[tuple[int, int]] = []
    for sequence in sequences:
        if found and found[-1][1] == sequence - 1:
            found[-1] = (found[-1][0], sequence)
        else:
            found.append((sequence, sequence))
    return tuple(found)
