"""Lessons: what models say of events, at once or in a sleep, to form heuristics of."""

from datetime import datetime

from msgspec import Struct, field

from schemas.messages.sleep import SleepCause, SleepEnd
from schemas.values.settings import ApplyPolicy
from schemas.values.vectors import Vector


class Reinforced(Struct, frozen=True, kw_only=True):
    """A heuristic that says what a model had said, in the same situation."""

    heuristic_id: str
    content_hash: str


class Lesson(Struct, frozen=True, kw_only=True):
    """An event and what a model said about it, of which a heuristic may be formed."""

    domain: str
    source: str
    type: str
    text: str
    fields: str
    """The event's fields, as JSON."""
    said: str = ""
    vector: Vector = b""
    """The embedding of the event's text; empty if none was made."""


class Forming(Struct, frozen=True, kw_only=True):
    """A lesson that a model was asked to make a heuristic of."""

    ask_id: str
    decision_id: str
    actor: str
    """Who liked the answer."""
    value: float
    """That person's latest vote on it."""
    lesson: Lesson


class PastDecision(Lesson, frozen=True, kw_only=True):
    """A decision that may be made again; what a model says then may be a lesson of it."""

    decision_id: str
    event_id: str
    at: datetime
    path: str
    # States call the two so.
    vector: Vector = field(default=b"", name="event_vector")
    said_vector: Vector = field(default=b"", name="vector")
    """Of what was said; empty if that is not known."""


class Reflection(Struct, frozen=True, kw_only=True):
    """One event that a sleep decided again."""

    decision_id: str
    text: str
    """The event's."""
    done: str
    said: str
    agrees: bool | None


class Sleeping(Struct, frozen=True, kw_only=True):
    """A sleep, under way or over."""

    id: str
    cause: SleepCause
    apply: ApplyPolicy
    begun_at: datetime
    left: tuple[str, ...]
    """The decisions that are still to be made again."""
    ask_id: str = ""
    """What a model was asked."""
    about: PastDecision | None = None
    """Of which event."""
    for_rule: bool = False
    """Whether it is to make a heuristic of what was said."""
    reflections: tuple[Reflection, ...] = ()
    proposals: tuple[str, ...] = ()
    applied: tuple[str, ...] = ()
    refused: int = 0
    ended_at: datetime | None = None
    reason: SleepEnd | None = None
