"""What callers ask: one model for each request that is no message of the log."""

from collections.abc import Mapping
from typing import Any, TypeVar

from pydantic import Field, ValidationError

from echoic.errors import plainly
from schemas.messages.sensing import PERSON, PERSONS_WORDS, TEXT_LIMIT, Fields, Sensed
from schemas.values.base import (
    Name,
    Part,
    Personal,
    Seconds,
    Signed,
    Token,
    Unit,
    first_fault,
)

MOST_HEURISTICS = 1_000
"""Heuristics in one reply at most."""

MOST_FAULTS = 32
"""How many wrong fields a reply names."""

P = TypeVar("P", bound=Part)


class Nothing(Part):
    """A request without fields."""


class OfPersonAsked(Part):
    """A request that may be about one person."""

    person: Token | None = None
    """None: everybody."""


class FactsAsked(OfPersonAsked):
    """A request for what was stated."""

    about: str | None = Field(default=None, min_length=1, max_length=TEXT_LIMIT)
    """Only facts with these words."""


class HeuristicAsked(Part):
    """A request for one heuristic."""

    heuristic_id: Name


class HeuristicsAsked(Part):
    """A request for heuristics: one, those that match an event, or all of a domain."""

    heuristic_id: Name | None = None
    text: str | None = Field(default=None, min_length=1, max_length=TEXT_LIMIT)
    """An event's text: only heuristics that match it are wanted, nearest first."""
    source: Name = PERSON
    type: Name = PERSONS_WORDS
    fields: Fields = Field(default_factory=dict)
    domain: str | None = None
    min_confidence: Unit = 0.0
    limit: int = Field(default=100, ge=1, le=MOST_HEURISTICS)


class UserMessage(Part):
    """What a person says to the companion."""

    text: Personal = Field(min_length=1, max_length=TEXT_LIMIT)
    person: Token | None = None
    """Who says it; None: nobody in particular."""
    event_id: Name | None = None
    """Of the caller's own, so that a repeated call is decided on once."""
    sentiment: Signed | None = None
    urgency: Unit | None = None
    immediate: bool = True
    ttl_s: Seconds | None = None


class EventToDecide(Sensed):
    """An event to decide on; a person's message, unless source and type say otherwise."""

    source: str = PERSON
    type: str = PERSONS_WORDS
    event_id: Name | None = None


class EventToSense(Sensed):
    """An event, as a sensor sends it."""

    source: Name
    type: Name
    event_id: Name | None = None


class InvalidRequestError(Exception):
    """A request has wrong fields; `fields` names each, with what is wrong about it."""

    def __init__(self, error: ValidationError) -> None:
        found = error.errors(include_url=False, include_input=False)
        more = f" (and {len(found) - 1} more)" if len(found) > 1 else ""
        super().__init__(plainly(first_fault(error, "the body") + more))
        self.fields = [
            {"field": ".".join(map(str, each["loc"])), "problem": each["msg"]}
            for each in found[:MOST_FAULTS]
        ]


def read(model: type[P], body: Mapping[str, Any]) -> P:
    """Return a request's fields.

    Raises:
        InvalidRequestError: some are wrong.
    """
    try:
        return model.model_validate(body)
    except ValidationError as error:
        raise InvalidRequestError(error) from error
