"""What the mind asks of the world: commands to the effects, answered later as results."""

from typing import ClassVar, Literal

from pydantic import Field

from schemas.controls import Action
from schemas.message import Message, Moment, Name, Seconds, Unit
from schemas.reasons import Path, ResponseType
from schemas.subjects import Kind


class Ask(Message):
    """A command to an effect; its id is the ask's."""

    kind: ClassVar[Kind] = "ask"

    decision_id: Name
    priority: float
    """Higher is served first: the effective salience, threats above all."""
    expires_at: Moment


class ModelAsked(Ask):
    """Ask the model this."""

    purpose: Literal["answer"] = "answer"
    model: Name
    system: str
    prompt: str
    temperature: float
    max_tokens: int
    deadline_s: Seconds
    request_hash: Name
    """Of model, system, prompt and sampling: what a replay finds the answer by."""


class DeliveryAsked(Ask):
    """Say this on a channel."""

    event_id: Name
    channel: Name
    text: str = Field(min_length=1)
    response_type: ResponseType
    urgency: Unit
    path: Path
    action: Action | None = None
