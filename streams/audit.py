"""Audit of a log: whether every input is answered by exactly one whole group.

It counts the faults at which `streams.groups` would raise, and goes on behind them.
"""

from collections.abc import Mapping
from dataclasses import dataclass, fields
from types import MappingProxyType

from schemas.codec.decode import read_mark
from schemas.values.record import Record
from schemas.values.subjects import PARTITIONS, inputs_of, outputs_of
from streams.log import ReadableLog, scan


@dataclass(frozen=True, slots=True)
class Since:
    """The sequences of the last answered input and last output up to which a partition is
    known to be sound."""

    input: int = 0
    output: int = 0


_THE_START = Since()
_ALL: Mapping[int, Since] = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class Audit:
    """How many inputs and groups a log has, and how many faults of each kind."""

    inputs: int = 0
    groups: int = 0
    """Whole groups that answer an input which was not answered before."""
    unanswered: int = 0
    """Inputs without a group; at the log's end they may only be waiting."""
    causeless: int = 0
    """Groups whose input does not exist, or stands in another partition."""
    incomplete: int = 0
    """Groups of which an output is missing, comes twice or has no group mark."""
    repeated: int = 0
    """Groups that answer an input which was answered before."""

    @property
    def sound(self) -> bool:
        """Whether every input is answered by exactly one whole group."""
        return self.inputs == self.groups and self.faults == 0

    @property
    def faults(self) -> int:
        """The sum of the counts that should be zero."""
        return self.unanswered + self.causeless + self.incomplete + self.repeated

    def __add__(self, other: "Audit") -> "Audit":
        """Return the sums, field by field."""
        names = (field.name for field in fields(self))
        return Audit(
            **{each: getattr(self, each) + getattr(other, each) for each in names}
        )


async def audit(log: ReadableLog, since: Mapping[int, Since] = _ALL) -> Audit:
    """Audit all partitions behind what is known to be sound; no damage stops it."""
    whole = Audit()
    for partition in range(PARTITIONS):
        begin = since.get(partition, _THE_START)
        whole += await audit_partition(log, partition, begin)
    return whole


async def audit_partition(
    log: ReadableLog, partition: int, since: Since = _THE_START
) -> Audit:
    """Audit one partition up to its present end; what arrives meanwhile is left out."""
    # Fixed before reading, so that an input which arrives during the audit does not count
    # as unanswered, nor its group as causeless.
    end = max(
        await log.last_sequence(inputs_of(partition)),
        await log.last_sequence(outputs_of(partition)),
    )
    causes = [
        each.sequence
        async for each in scan(log, inputs_of(partition), since.input, end)
    ]
    tally = _Tally(causes, end)
    async for record in scan(log, outputs_of(partition), since.output):
        tally.take(record)
    return tally.result()


class _Tally:
    """The counts so far, and the group that is being read."""

    def __init__(self, causes: list[int], end: int) -> None:
        self._end = end
        self._inputs = frozenset(causes)
        self._waiting = set(causes)
        self._groups = self._causeless = self._incomplete = self._repeated = 0
        self._cause = self._count = 0
        self._indexes: list[int] = []

    def take(self, record: Record) -> None:
        """Add one output to the group being read, or begin the next group."""
        try:
            mark = read_mark(record)
        except (KeyError, ValueError):
            self._close()
            self._incomplete += 1
            return
        if min(record.sequence, mark.cause_sequence) > self._end:
            return
        # Index 0 begins a new group even of the same cause: a group that comes again.
        belongs = (mark.cause_sequence, mark.count) == (self._cause, self._count)
        if not belongs or mark.index == 0:
            self._close()
            self._cause, self._count = mark.cause_sequence, mark.count
        self._indexes.append(mark.index)
        if len(self._indexes) == self._count:
            self._close()

    def result(self) -> Audit:
        """Return the audit, once all outputs were taken."""
        self._close()
        return Audit(
            inputs=len(self._inputs),
            groups=self._groups,
            unanswered=len(self._waiting),
            causeless=self._causeless,
            incomplete=self._incomplete,
            repeated=self._repeated,
        )

    def _close(self) -> None:
        """Count the group that was being read under the first fault it has."""
        indexes, self._indexes = self._indexes, []
        if not indexes:
            return
        if indexes != list(range(self._count)):
            self._incomplete += 1
        elif self._cause not in self._inputs:
            self._causeless += 1
        elif self._cause not in self._waiting:
            self._repeated += 1
        else:
            self._waiting.remove(self._cause)
            self._groups += 1
