"""What callers ask: one model for each request that is no message of the log."""

from collections.abc import Iterator, Mapping
from itertools import islice
from typing import Annotated, Any, TypeAlias, TypeVar, cast

from pydantic import Field, ValidationError, model_validator

from echoic.errors import plainly
from schemas.messages.sensing import PERSON, PERSONS_WORDS, TEXT_LIMIT, Fields, Sensed
from schemas.values import persons
from schemas.values.base import (
    MessagePart,
    Name,
    Part,
    Personal,
    PersonalName,
    Seconds,
    Signed,
    Unit,
    written,
)
from schemas.values.persons import PersonToken
from schemas.values.struct_models import validated

MOST_HEURISTICS = 1_000
"""Heuristics in one reply at most."""

MOST_FAULTS = 32
"""How many wrong fields a reply names."""

_INSIDE, _EDGE = r"[^\x00-\x1f\x7f-\x9f]", r"[^\x00-\x20\x7f-\x9f]"
EventId = Annotated[Name, Field(pattern=f"^{_EDGE}({_INSIDE}*{_EDGE})?$")]
"""A caller's own id of an event. It becomes a header at the broker, which brings back neither
control characters nor blanks at an end."""

Asked: TypeAlias = Part | MessagePart
_P = TypeVar("_P", bound=Asked)


class Nothing(Part):
    """A request without fields."""


class OfPersonAsked(Part):
    """A request that may be about one person."""

    person: PersonToken | None = None
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
    person: PersonToken | None = None
    """Who says it; None: nobody in particular."""
    called: PersonalName | None = None
    """The person's name, where a token was derived from it."""
    event_id: EventId | None = None
    """Of the caller's own, so that a repeated call is decided on once."""
    sentiment: Signed | None = None
    urgency: Unit | None = None
    immediate: bool = True
    ttl_s: Seconds | None = None
    microphone: bool = False
    """Whether a microphone heard it: it may be the companion's own voice."""

    @model_validator(mode="before")
    @classmethod
    def _tells_the_person(cls, fields: Any) -> Any:
        return persons.told(fields) if isinstance(fields, Mapping) else fields


class EventToDecide(Sensed, frozen=True, kw_only=True):
    """An event to decide on; a person's message, unless source and type say otherwise."""

    source: str = written(PERSON)
    type: str = written(PERSONS_WORDS)
    event_id: EventId | None = None


class EventToSense(Sensed, frozen=True, kw_only=True):
    """An event, as a sensor sends it."""

    source: Name
    type: Name
    event_id: EventId | None = None


class InvalidRequestError(Exception):
    """A request has wrong fields; `fields` names each, with what is wrong about it."""

    def __init__(self, faults: Mapping[str, str]) -> None:
        """Tell of the first of the faults, by their fields; "" is the whole body."""
        (place, problem), more = next(iter(faults.items())), len(faults) - 1
        others = f" (and {more} more)" if more else ""
        super().__init__(plainly(f"{place or 'the body'}: {problem}{others}"))
        self.fields = [
            {"field": field, "problem": fault}
            for field, fault in islice(faults.items(), MOST_FAULTS)
        ]


def read(model: type[_P], body: Mapping[str, Any]) -> _P:
    """Return a request's fields.

    Raises:
        InvalidRequestError: some are wrong.
    """
    try:
        made: Any = (
            validated(model, body, extra="forbid")
            if issubclass(model, MessagePart)
            else model.model_validate(body)
        )
    except ValidationError as error:
        raise InvalidRequestError(faults_of(error)) from error
    if unmeant := dict(_taken_for_numbers(body, made)):
        raise InvalidRequestError(unmeant)
    return cast(_P, made)


def check_meant(body: Mapping[str, Any], made: MessagePart) -> None:
    """Refuse a body of which its message keeps less than was said, or something else.

    The log ignores fields that it does not know, as newer versions may write them. A caller
    who misspells one must hear of it: `{"trait": "humor", "amount": 0.3}` would take back
    what was set.

    Raises:
        InvalidRequestError: a field is not known, or is a truth where a number is wanted.
    """
    known = made.__struct_fields__
    unmeant = {name: "There is no such field" for name in body if name not in known}
    unmeant |= _taken_for_numbers(body, made)
    if unmeant:
        raise InvalidRequestError(unmeant)


def faults_of(error: ValidationError) -> dict[str, str]:
    """Return what is wrong, by field."""
    # Without the input, which may be long or private.
    found = error.errors(include_url=False, include_input=False)
    return {".".join(map(str, each["loc"])): each["msg"] for each in found}


def _taken_for_numbers(
    given: Mapping[str, Any], made: object, place: str = ""
) -> Iterator[tuple[str, str]]:
    """Yield the places where true or false was read as a number, which nobody means."""
    for name, value in given.items():
        found = made.get(name) if isinstance(made, Mapping) else getattr(made, name, 0)
        if isinstance(value, bool) and not isinstance(found, bool):
            yield f"{place}{name}", "a number is wanted, not true or false"
        elif isinstance(value, Mapping):
            yield from _taken_for_numbers(value, found, f"{place}{name}.")
