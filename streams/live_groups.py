"""Groups of a log that still grows, joined as their records arrive."""

from collections.abc import Collection

from schemas.codec.decode import read_mark
from schemas.values.record import Record
from schemas.values.subjects import parse
from streams.groups import Group

_WAITING_LIMIT = 10_000
"""How many inputs may wait for their group before the oldest is dropped; without a bound an
agent whose worker is down would fill the memory."""


class GroupJoiner:
    """Joins inputs with their outputs, in the order of the log."""

    def __init__(self, agents: Collection[str] | None = None) -> None:
        """Join the groups of these agents, else of all; those of others are passed over."""
        self._agents = agents
        self._inputs: dict[int, Record] = {}
        self._outputs: dict[int, list[Record]] = {}

    def take(self, record: Record) -> Group | None:
        """Return the group that this record completes, None if it completes none."""
        subject = parse(record.subject)
        if self._agents is not None and subject.agent not in self._agents:
            return None
        if subject.direction == "in":
            self._inputs[record.sequence] = record
            # A dict keeps the order of insertion, so its first key is the oldest input.
            while len(self._inputs) > _WAITING_LIMIT:
                del self._inputs[next(iter(self._inputs))]
            return None
        mark = read_mark(record)
        outputs = self._outputs.setdefault(mark.cause_sequence, [])
        outputs.append(record)
        # Each output's mark says how many the group has.
        if len(outputs) < mark.count:
            return None
        del self._outputs[mark.cause_sequence]
        # The input may stand before the place where following began.
        input_ = self._inputs.pop(mark.cause_sequence, None)
        return None if input_ is None else Group(input_, tuple(outputs))
