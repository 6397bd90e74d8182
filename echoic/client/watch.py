"""Live decisions: whole groups are read from the growing log and folded into decisions.

It reads the log alone, so a watcher sees exactly what a replay will see.
"""

from collections.abc import AsyncIterator

from replay.recording.decisions import DecisionRecord, DecisionRecords
from schemas.codec.decode import read_input, read_mark, read_output
from schemas.codec.envelope import Input, Output
from schemas.messages.controls import MindStarted
from schemas.values.settings import UNSTARTED, MindSettings
from schemas.values.subjects import (
    SHARED_AGENT,
    input_subject,
    outputs_of,
    partition_of,
)
from streams.live_groups import GroupJoiner
from streams.log import ReadableLog

_AT_ONCE = 500
"""Records in one batch from the broker at most."""


async def settings_in_force(log: ReadableLog, partition: int) -> MindSettings:
    """Return the settings that the worker of a partition last started with."""
    subject = input_subject(partition, SHARED_AGENT, "control", MindStarted.token)
    record = await log.record(await log.last_sequence(subject))
    message = read_input(record).message if record is not None else None
    return message.settings if isinstance(message, MindStarted) else UNSTARTED


async def last_answered(log: ReadableLog, partition: int) -> int:
    """Return the sequence of the last answered input of a partition, 0 for none."""
    # By outputs: each is marked with the input that it answers, and inputs may still wait.
    last = await log.last_sequence(outputs_of(partition))
    record = await log.record(last)
    return read_mark(record).cause_sequence if record is not None else 0


async def answered(
    log: ReadableLog, agent: str, after: int
) -> AsyncIterator[tuple[Input, list[Output]]]:
    """Yield each input of an agent after a sequence with its whole group, live."""
    joiner = GroupJoiner((agent,))
    # Both directions, as a group is an input with all outputs that answer it.
    subjects = f"ev.{partition_of(agent)}.*.{agent}.>"
    async for records in log.follow(subjects, after, _AT_ONCE):
        for record in records:
            group = joiner.take(record)
            if group is not None:
                yield read_input(group.input), list(map(read_output, group.outputs))


async def decisions(
    log: ReadableLog, agent: str, after: int
) -> AsyncIterator[DecisionRecord]:
    """Yield each decision of an agent when made, and again when its answer is final."""
    records = DecisionRecords()
    async for input_, outputs in answered(log, agent, after):
        for record in records.take(input_, outputs):
            yield record
