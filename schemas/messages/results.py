"""Results: answers to asks, as inputs; the first answer to an ask wins."""

from datetime import datetime
from typing import ClassVar, Literal

from pydantic import Field

from schemas.values.base import Kind, Message, Moment, Name


class ClockTicked(Message):
    """A timer is due and no other input came to run it."""

    kind: ClassVar[Kind] = "clock"
    token: ClassVar[str] = "clock_ticked"

    due_at: Moment
    """When the earliest timer was due."""


class Result(Message):
    """The answer to one ask."""

    kind: ClassVar[Kind] = "result"

    ask_id: Name


class ModelAnswered(Result):
    """The model answered."""

    token: ClassVar[str] = "model_answered"

    request_hash: Name
    """Of the request as asked, by which a replay finds this answer."""
    model: Name
    text: str = Field(max_length=100_000)
    input_tokens: int | None = None
    output_tokens: int | None = None
    cost_usd: float | None = None
    started_at: datetime | None = None
    latency_ms: float | None = None


class ModelFailed(Result):
    """The model gave no answer."""

    token: ClassVar[str] = "model_failed"

    request_hash: Name
    reason: Literal["timeout", "no_response", "declined", "unavailable"]
    detail: str = Field(default="", max_length=2_000)
    started_at: datetime | None = None
    latency_ms: float | None = None


class Delivered(Result):
    """A delivery was published to its channel."""

    token: ClassVar[str] = "delivered"

    channel: Name
    started_at: datetime | None = None
    latency_ms: float | None = None
    """Until the broker had it."""


class DeliveryFailed(Result):
    """A delivery could not be published."""

    token: ClassVar[str] = "delivery_failed"

    channel: Name
    reason: Literal["expired", "refused", "unknown"]
    detail: str = Field(default="", max_length=2_000)
    started_at: datetime | None = None
    latency_ms: float | None = None
