"""What the executive holds of an agent: restraints, people, context, what was said.

Empty, and the same object for every agent that uses none of it, so that it costs nothing
there. All of it is bounded by `schemas.state.limits`.
"""

from datetime import datetime

from immutables import Map
from msgspec import Struct, field

from schemas.values.reasons import ResponseType
from schemas.values.vectors import Vector

EVERYBODY = ""
"""The key of what concerns everybody, where maps are by person."""


class UserState(Struct, frozen=True, kw_only=True):
    """What a person is doing, as was last said of each."""

    at: datetime
    """When something of it last changed, in the agent's time."""
    busy: bool = False
    typing: bool = False
    in_menu: bool = False
    asleep: bool = False
    away: bool = False
    activity: str = ""
    focus: str = ""
    focus_vector: Vector = b""
    sentiment: float | None = None


class ActiveContext(Struct, frozen=True, kw_only=True):
    """What the companion takes part in."""

    name: str
    by: str
    at: datetime


class Saying(Struct, frozen=True, kw_only=True, gc=False):
    """A response that was given, for cooldowns and for what was already said."""

    decision_id: str
    at: datetime
    response_type: ResponseType
    domain: str
    heuristic_id: str | None = None
    person: str | None = None
    vector: Vector = b""
    """Of the event that it answered."""


class Executive(Struct, frozen=True, kw_only=True):
    """The executive's part of an agent's state."""

    people: Map[str, UserState] = field(default_factory=Map)
    """By person; `EVERYBODY` if nobody was named."""
    context: ActiveContext | None = None
    said: tuple[Saying, ...] = ()
    """The latest responses, oldest first."""


IDLE = Executive()
"""That of an agent which uses nothing of it."""
