"""What the log would refuse of an event: asked before it is published.

A broker acknowledges what it has stored, long before the mind reads it. Whoever publishes
for a sensor or a person refuses here what the mind would refuse for its size or its form,
so that no acknowledgement comes first. So with the bytes of a day: to the broker all that
goes through Echoic's own account is of one sender.
"""

import fcntl
import os
from collections.abc import Mapping
from datetime import UTC, datetime

import orjson
from msgspec import structs

from echoic.config.load import Settings
from echoic.errors import RefusedError
from schemas.codec.decode import read_input
from schemas.codec.envelope import Unreadable
from schemas.messages.sensing import Sensed
from schemas.values import bounds
from schemas.values.record import Record
from schemas.values.subjects import input_subject, partition_of
from streams.topology import SENSOR_MESSAGE_BYTES

EVENT_BYTES = SENSOR_MESSAGE_BYTES - 2_000
"""Of an event as JSON; the rest is for the headers that go with it."""


_DAY_S = 86_400
SENT = "sent.json"
"""What each sender has published today, in the data folder."""


class OverDayError(RefusedError):
    """A sender has too few bytes of the day left; nothing of the message was sent."""

    wait_s = 0.0
    """Until the next day."""


def take_of_day(settings: Settings, sender: str, size: int, now: float) -> None:
    """Count bytes that a sender is about to publish, over all programs of a data folder.

    `now` is in seconds since 1970. Where nothing can be written, nothing is counted.

    Raises:
        OverDayError: with what was published this day (UTC) it would be too much.
    """
    day = datetime.fromtimestamp(now, UTC).date().isoformat()
    most, sent = settings.intake_day_mb * 1_000_000, 0
    try:
        opened = os.open(settings.data / SENT, os.O_RDWR | os.O_CREAT, 0o600)
        with os.fdopen(opened, "r+b") as file:
            fcntl.flock(file, fcntl.LOCK_EX)
            noted = _noted(file.read()).get(day, {})
            sent = noted.get(sender, 0)
            if sent + size <= most:
                # Cut after it is written: cut to nothing first, ext4 syncs it at each close.
                file.seek(0)
                file.write(orjson.dumps({day: noted | {sender: sent + size}}))
                file.truncate()
                return
    except OSError:
        return
    error = OverDayError(
        f"{sender} has sent {sent / 1e6:,.1f} MB today, intake.day_mb allows"
        f" {most / 1e6:,.1f}; again from 00:00 UTC",
        next_step="echoic config show intake.day_mb",
    )
    error.wait_s = _DAY_S - now % _DAY_S
    raise error


def _noted(text: bytes) -> dict[str, dict[str, int]]:
    """Return what was noted, by day and sender; who was killed writing leaves nothing."""
    try:
        noted: dict[str, dict[str, int]] = orjson.loads(text)
    except orjson.JSONDecodeError:
        return {}
    return noted


def body_of(event: Sensed) -> bytes:
    """Return the body of an event as it is published.

    Source and type are tokens of the subject, and are not repeated.
    """
    return structs.replace(event, source="", type="").to_bytes()


def too_large(event: Sensed) -> str | None:
    """Return which limit of size an event exceeds; None if it keeps them all."""
    return _too_long(len(body_of(event))) or bounds.fields_fault(event.fields)


def refused(
    agent: str, source: str, type_: str, headers: Mapping[str, str], body: bytes
) -> str | None:
    """Return why the mind would quarantine a sensor's message; None if it would not."""
    if too_long := _too_long(len(body)):
        return too_long
    detail = f"{source}.{type_}"
    subject = input_subject(partition_of(agent), agent, "sensor", detail)
    # A time of the broker's, which it does not have yet; nothing here depends on it.
    read = read_input(Record(subject, dict(headers), body, 0, 0)).message
    if isinstance(read, Unreadable):
        return read.detail
    return bounds.fields_fault(read.fields) if isinstance(read, Sensed) else None


def _too_long(size: int) -> str | None:
    if size <= EVENT_BYTES:
        return None
    return f"an event has at most {EVENT_BYTES:,} bytes, not {size:,}"
