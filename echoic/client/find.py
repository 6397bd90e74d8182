"""Search for decisions in the log: by a prefix of the id, or the last one.

It reads the log backwards, so that what just happened is found at once.
"""

from collections.abc import AsyncIterator, Callable
from dataclasses import replace

from echoic.errors import EchoicError, NotFoundError
from replay.recording.decisions import DecisionRecord, DecisionRecords
from schemas.codec.decode import read_input, read_output
from schemas.codec.envelope import Output
from schemas.messages.asks import DeliveryAsked
from schemas.messages.decisions import Completed, Decided, Dropped, Held
from schemas.messages.results import DeliveryFailed, Recalled, RecallFailed
from schemas.messages.sensing import Sensed
from schemas.values import naming
from schemas.values.ids import trace_id
from schemas.values.subjects import input_subject, output_subject, partition_of
from streams.groups import groups
from streams.log import ReadableLog, scan

_FIRST_WINDOW = 2_000
"""Sequences in the first window; each further window is eight times as wide."""

_Wanted = Callable[[Output], bool]


async def find_decision(log: ReadableLog, agent: str, prefix: str) -> DecisionRecord:
    """Return the decision that is meant by an id: its own, its event's or its trace's.

    Raises:
        NotFoundError: there is none, or several.
    """
    found: list[Output] = []
    async for output in _decisions(log, agent):
        event_id = getattr(output.message, "event_id", output.id)
        # A timer's decision has no event: its trace is named after itself.
        known = (output.id, event_id, trace_id(event_id), trace_id(output.id))
        if prefix in known:
            return await record_of(log, output)
        if output.id.startswith(prefix):
            found.append(output)
            # 32 bits of an id: a second match is so unlikely that the whole log is not
            # searched.
            if len(prefix) >= 8:
                break
    by_id = {output.id: output for output in found}
    try:
        return await record_of(log, by_id[naming.meant(prefix, by_id, "decision")])
    except naming.AmbiguousNameError as error:
        raise NotFoundError(str(error), next_step="give more of it") from error
    except naming.UnknownNameError as error:
        raise NotFoundError(
            f"{agent!r} has no decision {prefix!r}",
            next_step="echoic explain --last, or name the companion with --agent",
        ) from error


async def last_decision(
    log: ReadableLog, agent: str, *, silent: bool = False
) -> DecisionRecord:
    """Return the agent's last decision, or its last silent one.

    Decisions on events that report an outcome are skipped: nobody means them by `last`.

    Raises:
        NotFoundError: there is none.
    """
    async for output in _decisions(log, agent):
        record = await record_of(log, output)
        if (not silent or record.silence is not None) and not _is_on_report(record):
            return record
    kind = "silent decision" if silent else "decision"
    raise NotFoundError(
        f"{agent!r} has no {kind} yet", next_step='echoic pub "hello" --wait'
    )


def _is_on_report(record: DecisionRecord) -> bool:
    event = record.event
    return isinstance(event, Sensed) and event.outcome is not None


async def record_of(log: ReadableLog, output: Output) -> DecisionRecord:
    """Return the record of a decision, with its answer so far."""
    records = DecisionRecords()
    found = await _taken(log, records, output)
    record = next((each for each in found if each.id == output.id), None)
    if record is None:
        raise EchoicError(
            f"the group of decision {output.id} is not whole",
            next_step="echoic log verify",
        )
    record = await _with_memories(log, records, output, record)
    if record.is_final:
        return await _told(log, record, output)
    subjects = output_subject(output.partition, output.agent, "decision", "*")
    async for stored in scan(log, subjects, output.record.sequence):
        later = read_output(stored)
        concerns = isinstance(later.message, Completed | Dropped | Held)
        if concerns and getattr(later.message, "decision_id", None) == record.id:
            ended = await _taken(log, records, later)
            record = next((each for each in ended if each.id == record.id), record)
            if record.is_final:
                break
    return await _told(log, record, output)


async def _told(
    log: ReadableLog, record: DecisionRecord, output: Output
) -> DecisionRecord:
    """Return a decision with why nobody was told, if all its deliveries failed."""
    open_, partition = set(record.deliveries), output.partition
    if not open_:
        return record
    failed = input_subject(partition, output.agent, "result", DeliveryFailed.token)
    async for stored in scan(log, failed, output.mark.cause_sequence):
        result = read_input(stored).message
        if not (isinstance(result, DeliveryFailed) and result.ask_id in open_):
            continue
        # Perhaps it was delivered.
        if result.reason == "unknown":
            return record
        open_.remove(result.ask_id)
        # What cannot be spoken may go elsewhere as text.
        async for group in groups(log, partition, stored.sequence - 1, stored.sequence):
            for said in map(read_output, group.outputs):
                asked = said.message
                if isinstance(asked, DeliveryAsked) and asked.decision_id == record.id:
                    open_.add(said.id)
        if not open_:
            return replace(record, undelivered=result.reason)
    return record


async def _with_memories(
    log: ReadableLog, records: DecisionRecords, output: Output, record: DecisionRecord
) -> DecisionRecord:
    """Return a decision after the memory's answer, with the model's call that followed."""
    if record.recall_id is None:
        return record
    subjects = input_subject(output.partition, output.agent, "result", "*")
    async for stored in scan(log, subjects, output.record.sequence):
        result = read_input(stored).message
        is_its = isinstance(result, Recalled | RecallFailed)
        if is_its and getattr(result, "ask_id", None) == record.recall_id:
            cause = stored.sequence
            found = await _of_cause(log, records, output.partition, cause)
            return next((each for each in found if each.id == record.id), record)
    return record


async def _taken(
    log: ReadableLog, records: DecisionRecords, output: Output
) -> list[DecisionRecord]:
    """Return what the group of an output makes of the records."""
    return await _of_cause(log, records, output.partition, output.mark.cause_sequence)


async def _of_cause(
    log: ReadableLog, records: DecisionRecords, partition: int, cause: int
) -> list[DecisionRecord]:
    # Exactly one group: the one of that input.
    return [
        record
        async for group in groups(log, partition, cause - 1, cause)
        for record in records.take(
            read_input(group.input), list(map(read_output, group.outputs))
        )
    ]


async def _decisions(log: ReadableLog, agent: str) -> AsyncIterator[Output]:
    """Yield the agent's decisions, newest first."""
    subject = output_subject(partition_of(agent), agent, "decision", Decided.token)
    end = await log.last_sequence(subject)
    width = _FIRST_WINDOW
    while end > 0:
        start = max(0, end - width)
        # Consumers deliver forwards alone, so each window is read whole and then reversed.
        window = [record async for record in scan(log, subject, start, end)]
        for record in reversed(window):
            yield read_output(record)
        end, width = start, width * 8
