"""Publish events, controls and feedback, and wait for the mind's answer.

Every input is answered, so a sender can wait for the group that names it as its cause.
"""

import asyncio
import secrets
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, Any, Protocol
from uuid import uuid4

from nats.errors import NoRespondersError

from echoic.client.admission import body_of, too_large
from echoic.client.find import record_of
from echoic.errors import EchoicError, RefusedError
from replay.recording.decisions import DecisionRecord, DecisionRecords
from schemas.codec.catalogue import InputMessage
from schemas.codec.decode import read_input, read_output
from schemas.codec.envelope import Output
from schemas.messages.executive import (
    ContextSwitched,
    FactStated,
    PersonalitySelected,
    ReminderSet,
    SalienceModulated,
    SkillLoaded,
    SkillUnloaded,
)
from schemas.messages.feedback import FeedbackGiven
from schemas.messages.learning import FeedbackRefused, OutcomeObserved
from schemas.messages.notes import ControlRefused, Handled, Quarantined
from schemas.messages.sensing import Sensed
from schemas.values.ids import filled_event_id
from schemas.values.lazily import Lazily
from schemas.values.subjects import (
    input_subject,
    output_subject,
    partition_of,
    sensor_subject,
)
from streams.errors import IntakeFull, LogUnavailable
from streams.groups import answer, arrival
from streams.jetstream.connection import answer as checked
from streams.jetstream.connection import attempts, request
from streams.jetstream.hardened_client import Admit, BrokerClient
from streams.log import ReadableLog, WritableLog, append_input

if TYPE_CHECKING:
    from echoic.client import recall_decision
else:
    # Only a vote on a decision of long ago takes it.
    recall_decision = Lazily("echoic.client.recall_decision")

_ANSWER_S = 20.0
"""Seconds that the mind may take to answer an input."""
SOURCE = "/echoic/cli"

_FULL_S = 5.0
"""Seconds for which an event is sent again to an intake stream that others have filled: whoever
does is refused at the watch's next look, and in memory the log had taken it within two."""

_REFUSALS = (ControlRefused, FeedbackRefused, Quarantined)


class TalkingLog(ReadableLog, WritableLog, Protocol):
    """A log to append to and to read the answer from."""

    @property
    def admit(self) -> Admit | None:
        """As of `BrokerClient`."""


def new_event_id() -> str:
    """Make an event id: a UUIDv7, whose 128 bits serve as the trace id, too."""
    return filled_event_id(time.time_ns(), secrets.randbits(63))


async def publish(
    client: BrokerClient,
    agent: str,
    event: Sensed,
    *,
    event_id: str,
    headers: Mapping[str, str] | None = None,
    sender: str | None = None,
) -> dict[str, Any]:
    """Publish an event as a sensor does, and return the broker's acknowledgement.

    `sender` is as whom its bytes count; None: the agent's source.

    Raises:
        pydantic.ValidationError: a field is of the wrong type, or beyond its limits.
        OverDayError: the sender has too few bytes of the day left.
        RefusedError: it is too large for the mind, which would quarantine it.
    """
    event = event.checked()
    if (fault := too_large(event)) is not None:
        raise RefusedError(f"refused (too_large): {fault}")
    subject = sensor_subject(agent, event.source, event.type)
    own = {**(headers or {}), "ce-id": event_id}
    return await publish_raw(client, subject, body_of(event), own, sender)


async def publish_raw(
    client: BrokerClient,
    subject: str,
    body: bytes,
    headers: Mapping[str, str],
    sender: str | None = None,
) -> dict[str, Any]:
    """Publish a message as a sensor does, and return the broker's acknowledgement.

    Raises:
        OverDayError: the sender has too few bytes of the day left.
        IntakeFull: its intake stream had no room for seconds.
        LogUnavailable, LogFull: the broker is away; its sender is over its bounds.
    """
    if client.admit is not None:
        client.admit(sender or ".".join(subject.split(".")[1:3]), len(body))
    async for last in attempts(_FULL_S):
        try:
            return checked(subject, await request(client, subject, body, dict(headers)))
        except (IntakeFull, LogUnavailable) as error:
            # Nobody responds, for an instant, where the broker takes a new configuration.
            is_passing = isinstance(error.__cause__, NoRespondersError | None)
            if last or not is_passing:
                raise
    raise AssertionError("unreachable")


async def decided_on(
    log: ReadableLog,
    agent: str,
    source: str,
    type_: str,
    event_id: str,
    after: int,
    timeout_s: float = _ANSWER_S,
) -> DecisionRecord:
    """Wait for the final decision on an event published after the sequence `after`.

    Raises:
        RefusedError: it was quarantined, or decided before.
        Unanswered: nothing came in time.
    """
    partition = partition_of(agent)
    subject = input_subject(partition, agent, "sensor", f"{source}.{type_}")
    event = await arrival(log, subject, event_id, after, timeout_s)
    outputs = await _outputs(log, partition, event.sequence, timeout_s)
    for record in DecisionRecords().take(read_input(event), outputs):
        # A group may hold a decision on another occasion as well, such as a due timer.
        if record.decided.event_id == event_id:
            return await _final(log, record, outputs, timeout_s)
    raise _refusal(outputs)


async def credited_by(log: ReadableLog, report: DecisionRecord) -> list[str]:
    """Return the ids of the heuristics that a reported outcome was credited to."""
    partition = partition_of(report.agent)
    outputs = await _outputs(log, partition, report.sequence, _ANSWER_S)
    messages = (output.message for output in outputs)
    return [each.heuristic_id for each in messages if isinstance(each, OutcomeObserved)]


async def tell(
    log: TalkingLog, agent: str, message: InputMessage, *, partition: int | None = None
) -> Sequence[Output]:
    """Append an input and return the group that answers it.

    Raises:
        RefusedError: the mind refuses it.
        Unanswered: nothing came in time.
    """
    place = partition_of(agent) if partition is None else partition
    outputs = await submit(log, agent, message, partition=place)
    if any(isinstance(output.message, _REFUSALS) for output in outputs):
        raise _refusal(outputs)
    return outputs


async def submit(
    log: TalkingLog,
    agent: str,
    message: InputMessage,
    *,
    partition: int,
    id_: str | None = None,
    source: str = SOURCE,
    timeout_s: float = _ANSWER_S,
) -> Sequence[Output]:
    """Append an input and return the group that answers it, even a refusal.

    A vote on a decision that the mind no longer remembers is sent again, with what the log
    holds of that decision.

    Raises:
        OverDayError: who votes, or the door, has too few bytes of the day left.
        Unanswered: nothing came in time; its `sequence` is the input's.
    """
    if log.admit is not None:
        door = source.rpartition("/")[2]
        by = message.actor if isinstance(message, FeedbackGiven) else None
        log.admit(f"{agent}.{by or door}", len(message.to_bytes()))
    send = partial(
        append_input, log, log.epoch, agent=agent, partition=partition, source=source
    )
    sequence = await send(message, id_=id_ or str(uuid4()))
    outputs = await _outputs(log, partition, sequence, timeout_s)
    if isinstance(message, FeedbackGiven) and any(map(_is_unknown, outputs)):
        # The mind remembers a bounded number of decisions and cannot read the log itself.
        informed = await recall_decision.with_recalled(log, agent, message)
        if informed is not None:
            # Under a new id: the broker would drop the first one's as a duplicate.
            sequence = await send(informed, id_=str(uuid4()))
            outputs = await _outputs(log, partition, sequence, timeout_s)
    return outputs


async def _final(
    log: ReadableLog,
    record: DecisionRecord,
    outputs: Sequence[Output],
    timeout_s: float,
) -> DecisionRecord:
    """Wait for the record's final answer; return it unfinished after the timeout."""
    if record.is_final:
        return record
    opened = next(output for output in outputs if output.id == record.id)
    subjects = output_subject(opened.partition, opened.agent, "decision", "*")
    # A model may use its whole deadline before the mind can answer.
    patience_s = timeout_s + (record.awaited.deadline_s if record.awaited else 0.0)
    with suppress(TimeoutError):
        async with asyncio.timeout(patience_s):
            async for _ in log.follow(subjects, opened.record.sequence, 100):
                record = await record_of(log, opened)
                if record.is_final or record.asks_first is not None:
                    break
    return record


async def _outputs(
    log: ReadableLog, partition: int, sequence: int, timeout_s: float
) -> Sequence[Output]:
    group = await answer(log, partition, sequence, timeout_s)
    return [read_output(record) for record in group.outputs]


def _is_unknown(output: Output) -> bool:
    refused = output.message
    return isinstance(refused, FeedbackRefused) and refused.reason == "unknown_decision"


_SHOWN_BY = {
    ContextSwitched.token: "echoic context list",
    FactStated.token: "echoic fact list",
    PersonalitySelected.token: "echoic personality list",
    ReminderSet.token: "echoic remind list",
    SalienceModulated.token: "echoic salience list",
    SkillLoaded.token: "echoic skill list",
    SkillUnloaded.token: "echoic skill list",
}
"""The command that shows what there is, by the control that named what is not."""


def _refusal(outputs: Sequence[Output]) -> EchoicError:
    for output in outputs:
        match output.message:
            case ControlRefused() | FeedbackRefused() as refused:
                return RefusedError(
                    f"refused ({refused.reason}): {refused.detail}",
                    next_step=_SHOWN_BY.get(getattr(refused, "control", "")),
                )
            case Quarantined() as kept:
                return RefusedError(
                    f"quarantined ({kept.reason}): {kept.detail}",
                    next_step="echoic log tail --kind note",
                )
            case Handled(reason="duplicate") as handled:
                return RefusedError(f"not decided again: {handled.detail}")
            case _:
                continue
    return EchoicError("the mind gave no decision", next_step="echoic log tail")
