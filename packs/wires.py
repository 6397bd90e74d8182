"""How a simulated sensor's events are written: by the simulation's time, with derived ids.

The same run makes the same messages, byte for byte.
"""

import hashlib
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

import orjson
from msgspec.structs import replace

from schemas.messages.feedback import FeedbackGiven
from schemas.messages.sensing import Sensed
from schemas.values.base import rfc3339
from schemas.values.record import Wire
from schemas.values.subjects import PUBLISHED_FEEDBACK, sensor_subject


@dataclass(frozen=True, slots=True)
class Run:
    """Whose simulation it is, and which of them: ids derive from both."""

    agent: str
    name: str

    def event_id(self, source: str, at: datetime, index: int) -> str:
        """Return a UUIDv7 of the simulated time; its other bits hash what it is of."""
        key = f"{self.name}|{self.agent}|{source}|{index}".encode()
        bits = int.from_bytes(hashlib.blake2b(key, digest_size=10).digest(), "big")
        # As RFC 9562, 5.7 lays a UUIDv7 out: time, version 7, 12 bits, variant 2, 62 bits.
        value = (int(at.timestamp() * 1000) & ((1 << 48) - 1)) << 80
        value |= (
            0x7 << 76 | (bits >> 62 & 0xFFF) << 64 | 0b10 << 62 | bits & ((1 << 62) - 1)
        )
        return str(UUID(int=value))

    def event(self, source: str, event: Sensed, at: datetime, index: int) -> Wire:
        """Return the `index`-th message of a run, an event, as it is published."""
        noticed = replace(event, occurred_at=at)
        body = orjson.dumps(noticed.changed(without=("source", "type")))
        return self._wire(source, event.type, body, at, index)

    def vote(self, source: str, vote: FeedbackGiven, at: datetime, index: int) -> Wire:
        """Return the `index`-th message of a run, a person's vote, as it is published."""
        body = orjson.dumps(vote.changed())
        return self._wire(source, PUBLISHED_FEEDBACK, body, at, index)

    def _wire(
        self, source: str, type_: str, body: bytes, at: datetime, index: int
    ) -> Wire:
        return Wire(
            subject=sensor_subject(self.agent, source, type_),
            headers={
                "ce-specversion": "1.0",
                "ce-id": self.event_id(source, at, index),
                "ce-time": rfc3339(at),
            },
            body=body,
        )
