"""Heuristics that an agent has beside those of packs: seeded by a person, or learned."""

from datetime import datetime

from immutables import Map
from msgspec import Struct, field

from schemas.messages.arms import HeuristicContent
from schemas.values.reasons import Origin
from schemas.values.vectors import Vector


class Taught(HeuristicContent, frozen=True, kw_only=True, omit_defaults=False):
    """A heuristic of this agent alone, or one of a pack as if it were."""

    # What states call these.
    heuristic_id: str = field(name="id")
    confidence: float = field(name="declared")
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
    """Whether its action is to say nothing."""
    origin_id: str | None = None
    """The control that taught it, or the decision whose answer it was; None as above."""


class Shelf(Struct, frozen=True, eq=False):
    """The heuristics of one domain.

    Compared by identity (`eq=False`): each change makes a new shelf, so memos of what is
    computed of one, such as its matrix, key on the object.
    """

    heuristics: Map[str, Taught] = field(default_factory=Map)
    """By id."""
