"""What the log would refuse of an event: asked before it is published.

A broker acknowledges what it has stored, long before the mind reads it. Whoever publishes
for a sensor or a person refuses here what the mind would refuse for its size or its form,
so that no acknowledgement comes first.
"""

from collections.abc import Mapping

from schemas.codec.decode import read_input
from schemas.codec.envelope import Unreadable
from schemas.messages.sensing import Sensed
from schemas.values import bounds
from schemas.values.record import Record
from schemas.values.subjects import input_subject, partition_of
from streams.topology import SENSOR_MESSAGE_BYTES

EVENT_BYTES = SENSOR_MESSAGE_BYTES - 2_000
"""Of an event as JSON; the rest is for the headers that go with it."""


def body_of(event: Sensed) -> bytes:
    """Return the body of an event as it is published.

    Source and type are tokens of the subject, and are not repeated.
    """
    body = event.model_dump_json(exclude_none=True, exclude={"source", "type"})
    return body.encode()


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
