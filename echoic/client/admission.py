"""What the log would refuse of an event: asked before it is published.

A broker acknowledges what it has stored, long before the mind reads it. Whoever publishes
for a sensor or a person refuses here what the mind would refuse for its size or its form,
so that no acknowledgement comes first. So with the bytes of a day: to the broker all that
goes through Echoic's own account is of one sender.
"""

import time
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path

from msgspec import structs

from echoic.config.load import Settings
from echoic.errors import RefusedError
from schemas.codec.decode import read_input
from schemas.codec.envelope import Unreadable
from schemas.messages.sensing import Sensed
from schemas.values import bounds
from schemas.values.record import Record
from schemas.values.subjects import input_subject, partition_of
from streams.bounds import Limits, Standing, admitted, amend_standing, why
from streams.topology import SENSOR_MESSAGE_BYTES

EVENT_BYTES = SENSOR_MESSAGE_BYTES - 2_000
"""Of an event as JSON; the rest is for the headers that go with it."""

MB = 1_000_000

_DAY_S = 86_400


class OverDayError(RefusedError):
    """A sender has too few bytes of the day left; nothing of the message was sent."""

    wait_s = 0.0
    """Until the next day."""


def limits_of(settings: Settings) -> Limits:
    """Return the bounds that the settings name, in bytes."""
    return Limits(
        waiting=settings.intake_waiting_mb * MB,
        day=settings.intake_day_mb * MB,
        floor=settings.intake_floor_mb * MB,
    )


def noted_in(settings: Settings) -> Path:
    """Return the folder in which it is noted what senders have sent today."""
    return settings.data if settings.nats_url else settings.data / "nats"


def take_of_day(
    settings: Settings, sender: str, size: int, now: float | None = None
) -> None:
    """Count bytes that a sender is about to publish, where the broker's watch counts as well.

    `now` is in seconds since 1970; None: the clock's. Where nothing can be written, nothing is
    counted.

    Raises:
        OverDayError: with what was published this day (UTC) it would be too much.
    """
    now = time.time() if now is None else now
    day, limits = (
        datetime.fromtimestamp(now, UTC).date().isoformat(),
        limits_of(settings),
    )
    over: str | None = None

    def change(noted: Standing | None) -> Standing:
        nonlocal over
        found, over = admitted(noted or Standing(), sender, size, day, limits)
        return found

    try:
        standing = amend_standing(noted_in(settings), change)
    except OSError:
        return
    if over is not None:
        error = OverDayError(
            f"{over} is refused: {why(standing, over, limits)}",
            next_step="echoic doctor",
        )
        error.wait_s = _DAY_S - now % _DAY_S
        raise error


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
