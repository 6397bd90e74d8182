"""Results: answers to asks, as inputs; the first answer to an ask wins."""

from datetime import datetime
from typing import Annotated, ClassVar, Literal

from msgspec import Meta

from schemas.values.base import (
    Kind,
    Message,
    MessagePart,
    Moment,
    Name,
    Personal,
    written,
)

_ModelFault = Literal[
    "timeout", "no_response", "declined", "unavailable", "stale", "malformed"
]
"""Why nothing of a model's reply is to be had."""


class ClockTicked(Message, frozen=True, kw_only=True):
    """A timer is due and no other input came to run it."""

    kind: ClassVar[Kind] = "clock"
    token: ClassVar[str] = "clock_ticked"

    due_at: Moment
    """When the earliest timer was due."""


class Result(Message, frozen=True, kw_only=True):
    """The answer to one ask."""

    kind: ClassVar[Kind] = "result"

    ask_id: Name


class TriedModel(MessagePart, frozen=True, kw_only=True):
    """A model of a chain that was asked, and whose answer could not be taken."""

    model: Name
    reason: _ModelFault
    detail: Annotated[Personal, Meta(max_length=2_000)] = written("")
    text: Annotated[Personal, Meta(max_length=10_000)] | None = None
    """The content of its reply, cut off, if one came."""
    latency_ms: float | None = None
    tokens: int = written(0)
    """Of prompt and reply together; estimated where its server counts none."""
    cost_usd: float | None = None


class Repeated(MessagePart, frozen=True, kw_only=True):
    """A call of a model that failed for a moment, and was made again."""

    at: datetime
    reason: _ModelFault
    detail: Annotated[Personal, Meta(max_length=500)] = written("")
    status: int | None = None
    """The HTTP status that its server answered with, if one did."""


class ModelAnswered(Result, frozen=True, kw_only=True):
    """The model answered: its reply as it was received, whole or from parts.

    What it says is decided by the mind, which can refuse it."""

    token: ClassVar[str] = "model_answered"

    request_hash: Name
    """Of the request as asked, by which a replay finds this answer."""
    model: Name
    text: Annotated[Personal, Meta(max_length=100_000)]
    """The content as it came; empty if there was none."""
    reasoning: Annotated[Personal, Meta(max_length=100_000)] | None = None
    """What the model thought, where its server tells that apart."""
    finish_reason: Name | None = None
    """Why it ended, as its server says: `stop`, `length`, `content_filter`, `tool_calls`."""
    tool_calls: Annotated[Personal, Meta(max_length=10_000)] | None = None
    """The calls of tools in it, as JSON."""
    refusal: Annotated[Personal, Meta(max_length=10_000)] | None = None
    """Why it refused, in the field that servers have for that."""
    input_tokens: int | None = None
    output_tokens: int | None = None
    estimated_tokens: int | None = None
    """Of prompt and reply, a token for four characters, where its server counts none."""
    cost_usd: float | None = None
    """Of a chain: of all its models that were asked."""
    response_id: Name | None = None
    """By which its server, or litellm if that has none, knows the answer."""
    server: Name | None = None
    """Host and port where it listens, if the settings name them."""
    started_at: datetime | None = None
    latency_ms: float | None = None
    first_part_ms: float | None = None
    """How long its first words, or thoughts, took to come, if it came in parts."""
    link: Name | None = None
    """Of a chain: the model that answered, as the settings name it."""
    attempts: tuple[TriedModel, ...] | None = None
    """Of a chain: the models that were asked before."""
    repeated: tuple[Repeated, ...] | None = None
    """The calls of this model before the last one."""

    @property
    def tokens(self) -> int:
        """How many tokens it read and wrote, counted or else estimated."""
        counted = (self.input_tokens or 0) + (self.output_tokens or 0)
        return max(counted, 0) or self.estimated_tokens or 0


class ModelFailed(Result, frozen=True, kw_only=True):
    """The model gave no answer."""

    token: ClassVar[str] = "model_failed"

    request_hash: Name
    reason: _ModelFault
    """`malformed`: by the mind alone, for a reply whose form is none that was asked for."""
    detail: Annotated[Personal, Meta(max_length=2_000)] = written("")
    started_at: datetime | None = None
    latency_ms: float | None = None
    link: Name | None = None
    """Of a chain: the last model that was asked."""
    attempts: tuple[TriedModel, ...] | None = None
    """Of a chain: the models that were asked before."""
    repeated: tuple[Repeated, ...] | None = None
    """The calls of this model before the last one."""


class TurnGranted(Result, frozen=True, kw_only=True):
    """It is a character's turn to ask its model."""

    token: ClassVar[str] = "turn_granted"

    started_at: datetime | None = None
    latency_ms: float | None = None


class TurnFailed(Result, frozen=True, kw_only=True):
    """A character's turn did not come in time."""

    token: ClassVar[str] = "turn_failed"

    reason: Literal["stale"]
    """`stale`: what it was to ask for would come too late."""
    detail: Annotated[Personal, Meta(max_length=2_000)] = written("")
    started_at: datetime | None = None
    latency_ms: float | None = None


class Delivered(Result, frozen=True, kw_only=True):
    """A delivery was published to its channel."""

    token: ClassVar[str] = "delivered"

    channel: Name
    started_at: datetime | None = None
    latency_ms: float | None = None
    """Until the broker had it."""


class DeliveryFailed(Result, frozen=True, kw_only=True):
    """A delivery could not be published."""

    token: ClassVar[str] = "delivery_failed"

    channel: Name
    reason: Literal["expired", "refused", "unknown", "other_clock"]
    """`other_clock`: another agent, whose time is another world's, cannot be told."""
    detail: Annotated[Personal, Meta(max_length=2_000)] = written("")
    started_at: datetime | None = None
    latency_ms: float | None = None


class DeliveryBegun(Result, frozen=True, kw_only=True):
    """A delivery that takes time, such as speech, has begun; another result ends it."""

    token: ClassVar[str] = "delivery_begun"

    channel: Name
    started_at: datetime | None = None


class DeliveryInterrupted(Result, frozen=True, kw_only=True):
    """A delivery was cut off before its end."""

    token: ClassVar[str] = "delivery_interrupted"

    channel: Name
    reason: Literal["urgent", "asked", "stopped"]
    """`urgent`: something more urgent had to be said; `asked`: somebody wanted it;
    `stopped`: the program ended."""
    after_ms: float
    """How much of it was heard."""
    started_at: datetime | None = None


class Recalled(Result, frozen=True, kw_only=True):
    """What was remembered of the past, for a model's prompt."""

    token: ClassVar[str] = "recalled"

    ids: Annotated[tuple[Name, ...], Meta(max_length=64)] = written(())
    """The messages that the memories are of, nearest first."""
    texts: Annotated[tuple[Personal, ...], Meta(max_length=64)] = written(())
    as_of: int
    """The sequence up to which the memory was complete."""
    started_at: datetime | None = None
    latency_ms: float | None = None


class RecallFailed(Result, frozen=True, kw_only=True):
    """Nothing could be remembered in time; the decision goes on without."""

    token: ClassVar[str] = "recall_failed"

    reason: Literal["timeout", "unavailable"]
    detail: Annotated[Personal, Meta(max_length=2_000)] = written("")
    started_at: datetime | None = None
    latency_ms: float | None = None
