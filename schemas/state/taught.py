"""Heuristics that an agent has besides those of packs, as the state keeps them."""

from datetime import datetime

from immutables import Map
from msgspec import Struct, field

from schemas.messages.controls import Action
from schemas.values.reasons import Origin, ResponseType
from schemas.values.vectors import Vector


class Taught(Struct, frozen=True, kw_only=True):
    """A heuristic that this agent has besides those of packs."""

    id: str
    name: str
    domain: str
    condition: str
    when: str | None
    response_type: ResponseType
    text: str
    action: Action | None
    declared: float
    urgency: float
    content_hash: str
    vector: Vector
    """Of the condition."""
    action_vector: Vector = b""
    """Of the text; empty if it was not embedded."""
    origin: Origin = "seeded"
    since: datetime | None = None
    """When it came; None in a state of before that was kept."""
    is_silence: bool = False
    """Whether what it says is nothing."""
    origin_id: str | None = None
    """The control that taught it, or the decision whose answer it was; None as above."""


class Shelf(Struct, frozen=True, eq=False):
    """The heuristics taught in one domain; each change makes a new shelf."""

    heuristics: Map[str, Taught] = field(default_factory=Map)
    """By id."""
