"""Live decisions: whole groups are read from the growing log and turned into accounts.

It reads the log alone, so a watcher sees exactly what a replay will see.
"""

from collections.abc import AsyncIterator

from echoic.client.decision_record import Account, Accounts
from schemas.codec.decode import read_input, read_mark, read_output
from schemas.codec.envelope import Input, Output
from schemas.values.record import Record
from schemas.values.subjects import outputs_of, parse, partition_of
from streams.log import ReadableLog

AT_ONCE = 500
"""Records in one batch from the broker at most."""

UNANSWERED_LIMIT = 10_000
"""Inputs that may wait for their group before the oldest is dropped."""


class Groups:
    """Joins inputs with their outputs as they arrive, in the order of the log."""

    def __init__(self) -> None:
        self._inputs: dict[int, Record] = {}
        self._outputs: dict[int, list[Output]] = {}

    def take(self, record: Record) -> tuple[Input, list[Output]] | None:
        """Return the input and its outputs if this record completes their group."""
        if parse(record.subject).direction == "in":
            self._inputs[record.sequence] = record
            while len(self._inputs) > UNANSWERED_LIMIT:
                del self._inputs[next(iter(self._inputs))]
            return None
        output = read_output(record)
        cause = output.mark.cause_sequence
        group = self._outputs.setdefault(cause, [])
        group.append(output)
        # Each output's mark says how many the group has.
        if len(group) < output.mark.count:
            return None
        del self._outputs[cause]
        answered = self._inputs.pop(cause, None)
        # The input may lie before the place where reading began.
        return None if answered is None else (read_input(answered), group)


async def last_answered(log: ReadableLog, partition: int) -> int:
    """Return the sequence of the last answered input of a partition, 0 for none."""
    last = await log.last_sequence(outputs_of(partition))
    record = await log.record(last)
    return read_mark(record).cause_sequence if record is not None else 0


async def answered(
    log: ReadableLog, agent: str, after: int
) -> AsyncIterator[tuple[Input, list[Output]]]:
    """Yield each input of an agent after a sequence with its whole group, live."""
    groups = Groups()
    subjects = f"ev.{partition_of(agent)}.*.{agent}.>"
    async for records in log.follow(subjects, after, AT_ONCE):
        for record in records:
            whole = groups.take(record)
            if whole is not None:
                yield whole


async def decisions(log: ReadableLog, agent: str, after: int) -> AsyncIterator[Account]:
    """Yield each decision of an agent when made, and again when its answer is final."""
    accounts = Accounts()
    async for input_, outputs in answered(log, agent, after):
        for account in accounts.take(input_, outputs):
            yield account
