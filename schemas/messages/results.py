"""Results: answers to asks, as inputs; the first answer to an ask wins."""

from datetime import datetime
from typing import ClassVar, Literal

from pydantic import Field

from schemas.values.base import Kind, Message, Moment, Name, Part, Personal

ModelFault = Literal[
    "timeout", "no_response", "declined", "unavailable", "stale", "malformed"
]
"""Why nothing of a model's reply is to be had."""


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


CHARACTERS_PER_TOKEN = 4
"""How many characters a token is taken to have: about the mean of English texts."""


class TriedModel(Part):
    """A model of a chain that was asked, and whose answer could not be taken."""

    model: Name
    reason: ModelFault
    detail: Personal = Field(default="", max_length=2_000)
    text: Personal | None = Field(default=None, max_length=10_000)
    """The content of its reply, cut off, if one came."""
    latency_ms: float | None = None
    tokens: int = 0
    """Of prompt and reply together; estimated where its server counts none."""
    cost_usd: float | None = None


class Repeated(Part):
    """A call of a model that failed for a moment, and was made again."""

    at: datetime
    reason: ModelFault
    detail: Personal = Field(default="", max_length=500)
    status: int | None = None
    """The HTTP status that its server answered with, if one did."""


class ModelAnswered(Result):
    """The model answered: its reply as it was received, whole or from parts.

    What it says is decided by the mind, which can refuse it."""

    token: ClassVar[str] = "model_answered"

    request_hash: Name
    """Of the request as asked, by which a replay finds this answer."""
    model: Name
    text: Personal = Field(max_length=100_000)
    """The content as it came; empty if there was none."""
    reasoning: Personal | None = Field(default=None, max_length=100_000)
    """What the model thought, where its server tells that apart."""
    finish_reason: Name | None = None
    """Why it ended, as its server says: `stop`, `length`, `content_filter`, `tool_calls`."""
    tool_calls: Personal | None = Field(default=None, max_length=10_000)
    """The calls of tools in it, as JSON."""
    refusal: Personal | None = Field(default=None, max_length=10_000)
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


class ModelFailed(Result):
    """The model gave no answer."""

    token: ClassVar[str] = "model_failed"

    request_hash: Name
    reason: ModelFault
    """`malformed`: by the mind alone, for a reply whose form is none that was asked for."""
    detail: Personal = Field(default="", max_length=2_000)
    started_at: datetime | None = None
    latency_ms: float | None = None
    link: Name | None = None
    """Of a chain: the last model that was asked."""
    attempts: tuple[TriedModel, ...] | None = None
    """Of a chain: the models that were asked before."""
    repeated: tuple[Repeated, ...] | None = None
    """The calls of this model before the last one."""


class TurnGranted(Result):
    """It is a character's turn to ask its model."""

    token: ClassVar[str] = "turn_granted"

    started_at: datetime | None = None
    latency_ms: float | None = None


class TurnFailed(Result):
    """A character's turn did not come in time."""

    token: ClassVar[str] = "turn_failed"

    reason: Literal["stale"]
    """`stale`: what it was to ask for would come too late."""
    detail: Personal = Field(default="", max_length=2_000)
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
    reason: Literal["expired", "refused", "unknown", "other_clock"]
    """`other_clock`: another agent, whose time is another world's, cannot be told."""
    detail: Personal = Field(default="", max_length=2_000)
    started_at: datetime | None = None
    latency_ms: float | None = None


class DeliveryBegun(Result):
    """A delivery that takes time, such as speech, has begun; another result ends it."""

    token: ClassVar[str] = "delivery_begun"

    channel: Name
    started_at: datetime | None = None


class DeliveryInterrupted(Result):
    """A delivery was cut off before its end."""

    token: ClassVar[str] = "delivery_interrupted"

    channel: Name
    reason: Literal["urgent", "asked", "stopped"]
    """`urgent`: something more urgent had to be said; `asked`: somebody wanted it;
    `stopped`: the program ended."""
    after_ms: float
    """How much of it was heard."""
    started_at: datetime | None = None


class Recalled(Result):
    """What was remembered of the past, for a model's prompt."""

    token: ClassVar[str] = "recalled"

    ids: tuple[Name, ...] = Field(default=(), max_length=64)
    """The messages that the memories are of, nearest first."""
    texts: tuple[Personal, ...] = Field(default=(), max_length=64)
    as_of: int
    """The sequence up to which the memory was complete."""
    started_at: datetime | None = None
    latency_ms: float | None = None


class RecallFailed(Result):
    """Nothing could be remembered in time; the decision goes on without."""

    token: ClassVar[str] = "recall_failed"

    reason: Literal["timeout", "unavailable"]
    detail: Personal = Field(default="", max_length=2_000)
    started_at: datetime | None = None
    latency_ms: float | None = None
