"""The intake of a sealed log: takes what sensors send, seals it and appends it.

The broker does not source for a sealed log, so that no words of a person reach an undeletable
stream in clear. What was appended is overwritten in the intake stream at once. A crash in
between appends it twice, under the same id, and the state refuses the second: whatever a box
still holds when an intake begins is handed out again, before anything newer.
"""

import asyncio
import base64
import logging
from collections.abc import Callable, Sequence
from typing import Protocol
from uuid import UUID

from nats.aio.msg import Msg
from nats.js.api import AckPolicy, ConsumerConfig
from nats.js.client import JetStreamContext

from schemas.values.ids import EPOCH_PREFIX, filled_event_id
from schemas.values.record import Record, Wire, nanoseconds
from schemas.values.subjects import (
    SHARED_AGENT,
    STRAY,
    STRAYED_TO,
    SubjectError,
    input_subject,
    parse,
    partition_of,
)
from streams.cancellation import heed_cancellation
from streams.errors import LogRefused, StreamsError
from streams.headers import own_headers
from streams.jetstream.connection import ApiError, insist, translated
from streams.jetstream.hardened_client import BrokerClient
from streams.jetstream.key_bucket import NO_MESSAGE, erase
from streams.log import ReadableLog, WritableLog
from streams.sealing import HEADER
from streams.topology import BOX_WINDOW, BOXES, IN

_DURABLE = "INTAKE"
"""The durable consumer of each intake stream."""

_WAIT_S = 20.0
"""How long one request waits for a message."""

_PAUSE_S = 0.5
"""How long a box waits after the broker did not answer."""

_PARTITION = partition_of(SHARED_AGENT)
_log = logging.getLogger(__name__)


class _TakingLog(ReadableLog, WritableLog, Protocol):
    """A sealed log to append to."""


async def take_in(client: BrokerClient, log: _TakingLog) -> None:
    """Take what arrives in the intake streams, until cancelled."""
    names = [IN.name, *(box.name for box in BOXES)]
    # A task for each, so that a flood in one box does not delay the others.
    async with asyncio.TaskGroup() as group:
        for name in names:
            group.create_task(_keep_taking(client, log, name))


async def _keep_taking(client: BrokerClient, log: _TakingLog, stream: str) -> None:
    while True:
        heed_cancellation()
        try:
            with translated(f"to the intake stream {stream!r}"):
                await _take(client, log, stream)
        except* StreamsError as errors:
            _log.warning("what sensors send waits: %s", errors.exceptions[0])
            await asyncio.sleep(_PAUSE_S)


async def _take(client: BrokerClient, log: _TakingLog, stream: str) -> None:
    context = client.jetstream()
    config = ConsumerConfig(
        durable_name=_DURABLE, ack_policy=AckPolicy.EXPLICIT, max_ack_pending=BOX_WINDOW
    )
    waiting = await context.pull_subscribe(
        "", durable=_DURABLE, stream=stream, config=config
    )
    # What is there was not taken, or not to the end: handed out again at once, in order,
    # before anything newer of the same sensor.
    await insist(client, f"$JS.API.CONSUMER.RESET.{stream}.{_DURABLE}", {"seq": 1})
    try:
        while True:
            heed_cancellation()
            await _round(client, log, stream, waiting)
    finally:
        await waiting.unsubscribe()


async def _round(
    client: BrokerClient,
    log: _TakingLog,
    stream: str,
    waiting: JetStreamContext.PullSubscription,
) -> None:
    """Append what waits, in the order of each sensor."""
    try:
        messages = await _fetched(waiting)
    # The library raises its own or the plain one, as it happens.
    except TimeoutError:
        return
    lanes: dict[str, list[Msg]] = {}
    for message in messages:
        lanes.setdefault(message.subject, []).append(message)
    async with asyncio.TaskGroup() as group:
        for lane in lanes.values():
            group.create_task(_append_all(client, log, stream, lane))


async def _fetched(waiting: JetStreamContext.PullSubscription) -> list[Msg]:
    """Wait for messages; who is cancelled goes at once, even if the library does not."""
    fetching = asyncio.create_task(waiting.fetch(BOX_WINDOW, timeout=_WAIT_S))
    # What it ends with when nobody waits for it any more is no news.
    fetching.add_done_callback(lambda task: task.cancelled() or task.exception())
    try:
        await asyncio.wait([fetching])
        return fetching.result()
    finally:
        fetching.cancel()


async def _append_all(
    client: BrokerClient, log: _TakingLog, stream: str, lane: Sequence[Msg]
) -> None:
    for message in lane:
        await _append(log, message)
        with translated(f"to the intake stream {stream!r}"):
            await message.ack()
        await erase(client, stream, message.metadata.sequence.stream)


async def _append(log: _TakingLog, message: Msg) -> None:
    place = message.metadata
    sequence, time_ns = place.sequence.stream, nanoseconds(place.timestamp)
    headers = own_headers(message.headers)
    kept = Record(message.subject, headers, message.data, sequence, time_ns)
    await append_kept(log, log.epoch, place.stream, kept)


async def append_kept(
    log: WritableLog,
    epoch: UUID,
    stream: str,
    kept: Record,
    *,
    strays: int = _PARTITION,
    **marks: str,
) -> None:
    """Append what an intake stream keeps, under an id that a repetition has as well.

    Args:
        log: Where to.
        epoch: The epoch of the log.
        stream: The intake stream.
        kept: The message as it is there.
        strays: The partition for what is outside the grammar of subjects.
        marks: Headers to add.
    """
    headers = {name: kept.headers[name] for name in kept.headers if name != HEADER}
    # Of box and place, so that a repetition has the same id.
    id_ = filled_event_id(kept.time_ns, kept.sequence)
    if not headers.get("ce-id"):
        headers["ce-id"] = id_
    subject = logged(kept.subject, kept.sequence, strays)
    if parse(subject).kind == STRAY:
        headers[STRAYED_TO] = published(kept.subject)
    wire = Wire(subject, headers | marks, kept.body)
    # Two boxes may hold the same id, and one partition's must not hide another's.
    message_id = f"{EPOCH_PREFIX}{epoch}:{stream}:{kept.sequence}"
    try:
        await log.append(wire, message_id)
    except LogRefused:
        # Headers that no line of the protocol can hold: what remains can be quarantined.
        await log.append(Wire(subject, {"ce-id": id_} | marks, kept.body), message_id)


def published(subject: str) -> str:
    """Return the subject that was published, of one by which an intake stream sorts."""
    return f"in.{subject.split('.', 2)[2]}" if subject.startswith("ip.") else subject


def logged(subject: str, sequence: int, strays: int = _PARTITION) -> str:
    """Return where the log holds what was published to a subject of an intake stream.

    What is outside the grammar is filed under the shared agent in the partition `strays`,
    and quarantined there.
    """
    stray = input_subject(strays, SHARED_AGENT, STRAY, str(sequence))
    subject = published(subject)
    tokens = subject.split(".")
    # Blanks would end the subject in the protocol's line, and signs would be a filter's.
    if subject.split() != [subject] or any(each in ("*", ">") for each in tokens):
        return stray
    if tokens[0] == "ev":
        try:
            return subject if parse(subject).kind == "sensor" else stray
        except SubjectError:
            return stray
    if tokens[0] != "in" or len(tokens) < 2:
        return stray
    partition, rest = partition_of(tokens[1]), ".".join(tokens[1:])
    if len(tokens) == 4:
        return input_subject(partition, tokens[1], "sensor", ".".join(tokens[2:]))
    return input_subject(partition, SHARED_AGENT, "sensor", rest)


async def erase_waiting(
    client: BrokerClient, agent: str, is_theirs: Callable[[bytes], bool]
) -> int:
    """Overwrite what waits in the intake streams for an agent and is `is_theirs` by its body.

    Returns how many messages it was. What is taken meanwhile is not there any more.
    """
    count = 0
    box = BOXES[partition_of(agent)]
    for stream, subjects in (
        (IN.name, f"in.{agent}.>"),
        (box.name, f"ev.{partition_of(agent)}.in.{agent}.sensor.>"),
    ):
        sequence = 1
        while (found := await _next(client, stream, subjects, sequence)) is not None:
            sequence, body = found
            if is_theirs(body):
                await erase(client, stream, sequence)
                count += 1
            sequence += 1
    return count


async def _next(
    client: BrokerClient, stream: str, subjects: str, sequence: int
) -> tuple[int, bytes] | None:
    which = {"seq": sequence, "next_by_subj": subjects}
    try:
        found = await insist(client, f"$JS.API.STREAM.MSG.GET.{stream}", which)
    except ApiError as error:
        if error.code == NO_MESSAGE:
            return None
        raise
    message = found["message"]
    return message["seq"], base64.b64decode(message.get("data", ""))
