"""Strays: messages that a sensor published to a subject with a `*` or `>` for a token.

The server takes the sign for a wildcard and stores the message without the transform, where
no reader of the log looks. It is appended once more as an input, and so gets its answer.
"""

from functools import partial

from handlers.broker_wait import heed_cancellation, until_available
from schemas.values.ids import EPOCH_PREFIX
from schemas.values.record import Record, Wire
from schemas.values.subjects import (
    SHARED_AGENT,
    STRAYED_TO,
    input_subject,
    parse,
    partition_of,
)
from schemas.values.subjects import STRAY as KIND
from streams.log import ReadableLog, WritableLog
from streams.topology import SENSOR_SUBJECTS

_AT_ONCE = 100
_PARTITION = partition_of(SHARED_AGENT)


async def reappend(log: ReadableLog, writer: WritableLog) -> None:
    """Append each stray again as an input, until cancelled."""
    position = await until_available(partial(last_readmitted, log))
    async for strays in log.follow(SENSOR_SUBJECTS, position, _AT_ONCE):
        for stray in strays:
            await _append(log, writer, stray)
            heed_cancellation()


async def last_readmitted(log: ReadableLog) -> int:
    """Return the sequence of the last stray that was appended again; 0 for none."""
    found = await log.last_sequence(input_subject(_PARTITION, SHARED_AGENT, KIND, "*"))
    record = await log.record(found)
    return int(parse(record.subject).detail) if record is not None else 0


async def _append(log: ReadableLog, writer: WritableLog, stray: Record) -> None:
    # The place of the stray in its subject: where to go on, and proof that it is ours.
    subject = input_subject(_PARTITION, SHARED_AGENT, KIND, str(stray.sequence))
    # The subject as published goes along, so that the input can say where it came from.
    headers = {**stray.headers, STRAYED_TO: stray.subject}
    # Derived from the stray, so that the broker drops a second append of the same one.
    message_id = f"{EPOCH_PREFIX}{log.epoch}:{KIND}-{stray.sequence}"
    wire = Wire(subject, headers, stray.body)
    await until_available(partial(writer.append, wire, message_id))
