"""Strays: messages that a sensor published to a subject with a `*` or `>` for a token.

The server takes the sign for a wildcard and stores the message without the transform, where
no reader of the log looks. It is appended once more as an input, and so gets its answer.

They come from two places, the stream of those without an account and the sensors' boxes.
Each place has a partition of its own for them, whose last one says where to go on.
"""

import asyncio
from dataclasses import dataclass
from functools import partial

from handlers.broker_wait import until_available
from schemas.values.ids import EPOCH_PREFIX, filled_event_id
from schemas.values.record import Record, Wire
from schemas.values.subjects import (
    PARTITIONS,
    SHARED_AGENT,
    STRAYED_TO,
    input_subject,
    parse,
    partition_of,
)
from schemas.values.subjects import STRAY as KIND
from streams.cancellation import heed_cancellation
from streams.errors import LogRefused
from streams.log import ReadableLog, WritableLog
from streams.topology import BOX_SUBJECTS, SENSOR_SUBJECTS

_AT_ONCE = 100
_PARTITION = partition_of(SHARED_AGENT)


@dataclass(frozen=True, slots=True)
class Origin:
    """Where strays come from, and in which partition they are appended again."""

    subjects: str
    partition: int
    prefix_tokens: int
    """Of how many tokens stands `in` in the subject as it was published."""

    def published(self, stray: Record) -> str:
        """Return the subject that a stray was published to."""
        return f"in.{stray.subject.split('.', self.prefix_tokens)[-1]}"


_PUBLISHED = Origin(SENSOR_SUBJECTS, _PARTITION, 1)
_BOXED = Origin(BOX_SUBJECTS, (_PARTITION + 1) % PARTITIONS, 2)
"""The box of partition 3 has `in.ada.cam.*` as `ip.3.ada.cam.*`."""


async def reappend(log: ReadableLog, writer: WritableLog) -> None:
    """Append each stray again as an input, until cancelled."""
    async with asyncio.TaskGroup() as group:
        for origin in (_PUBLISHED, _BOXED):
            group.create_task(_reappend(log, writer, origin))


async def _reappend(log: ReadableLog, writer: WritableLog, origin: Origin) -> None:
    position = await until_available(partial(last_readmitted, log, origin))
    async for strays in log.follow(origin.subjects, position, _AT_ONCE):
        for stray in strays:
            await _append(log, writer, stray, origin)
            heed_cancellation()


async def last_readmitted(log: ReadableLog, origin: Origin = _PUBLISHED) -> int:
    """Return the sequence of the last stray that was appended again; 0 for none."""
    again = input_subject(origin.partition, SHARED_AGENT, KIND, "*")
    record = await log.record(await log.last_sequence(again))
    return int(parse(record.subject).detail) if record is not None else 0


async def _append(
    log: ReadableLog, writer: WritableLog, stray: Record, origin: Origin
) -> None:
    # The place of the stray in its subject: where to go on, and proof that it is ours.
    subject = input_subject(origin.partition, SHARED_AGENT, KIND, str(stray.sequence))
    # An id of the stray's own place: it is the same if the broker takes this twice.
    id_ = {"ce-id": filled_event_id(stray.time_ns, stray.sequence)}
    # The subject as published goes along, so that the input can say where it came from.
    headers = {**id_, **stray.headers, STRAYED_TO: origin.published(stray)}
    message_id = f"{EPOCH_PREFIX}{log.epoch}:{KIND}-{stray.sequence}"
    try:
        wire = Wire(subject, headers, stray.body)
        await until_available(partial(writer.append, wire, message_id))
    except LogRefused:
        # Headers that no line of the protocol can hold, or too much with the one that is new.
        # The log has the stray itself, whole, at the place that the subject names.
        published = ascii(headers[STRAYED_TO])[1:-1]
        wire = Wire(subject, {**id_, STRAYED_TO: published}, b"")
        await until_available(partial(writer.append, wire, message_id))
