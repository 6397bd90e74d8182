"""Lessons: model answers, kept until a heuristic is formed of them or refused."""

from msgspec import Struct

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
