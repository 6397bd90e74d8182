"""What an engine and the bridge say to each other: one model each, and their JSON Schema."""

from typing import Annotated, Any, Literal

from pydantic import ConfigDict, Field, TypeAdapter, ValidationError, field_validator
from pydantic_core import PydanticCustomError, from_json

from echoic.doors.requests import MOST_FAULTS
from schemas.messages.arms import Action
from schemas.messages.sensing import Sensed
from schemas.values.base import Moment, Name, Part, Seconds, Token, Unit
from schemas.values.meanings import describe
from schemas.values.reasons import Path, ResponseType
from schemas.values.struct_models import part_model
from streams.jetstream.accounts import RESERVED_TYPES

Id = Annotated[str, Field(pattern=r"^[!-~]{1,200}$")]
"""Becomes a header at the broker, so it has no blanks and no line ends."""


class Event(part_model(Sensed)):  # type: ignore[misc]
    """Something happened: a report on an action, on the body, or anything else.

    A report on an action has its `decision_id` as `in_reply_to`, and an `outcome`.
    """

    message: Literal["event"]
    id: Id
    """The engine's own, new for each event: `kept` and `refused` name it, and what is sent
    again counts once."""
    source: str = Field(default="", exclude=True)
    type: Token = Field(json_schema_extra={"not": {"enum": list(RESERVED_TYPES)}})
    """What sort of event it is, as the pack declares it: `body` in most packs reports the
    body."""

    @field_validator("type")
    @classmethod
    def _is_no_command(cls, type_: str) -> str:
        # The broker would answer nothing, and the event would be sent again for ever.
        if type_ in RESERVED_TYPES:
            message = "{type} is reserved: an engine has a sensor's rights"
            raise PydanticCustomError("reserved", message, {"type": type_})
        return type_

    @field_validator("source")
    @classmethod
    def _is_the_bridges(cls, source: str) -> str:
        message = "the bridge fills it: an engine speaks as one source"
        raise PydanticCustomError("source", message)


class Taken(Part):
    """An action was begun, or something said: it is not sent again, and does not expire."""

    message: Literal["taken"]
    id: Id
    """That of the `action` or `speech`."""


class Said(Part):
    """What is published below `out.<agent>`, for whoever speaks or acts."""

    decision_id: Name
    """What a report on it names as `in_reply_to`."""
    event_id: Name
    text: str
    type: ResponseType
    urgency: Unit
    path: Path
    action: Action | None = None
    expires_at: Moment
    """When it is stale, by the agent's clock; a world with a clock of its own goes by
    that."""
    ttl_s: Seconds
    """The same as seconds since it was asked for."""


class ActionAsked(Said):
    """Something for the character to do."""

    message: Literal["action"]
    id: Id
    """The same each time it is sent: an engine begins it once."""
    channel: Token
    action: Action


class Speech(Said):
    """Something that the character says."""

    message: Literal["speech"]
    id: Id
    """The same each time it is sent: it is said once."""
    channel: Token
    action: None = None


class Expired(Part):
    """An action or a speech was not taken in time, or made room: it is not to be begun."""

    message: Literal["expired"]
    id: Id


class Kept(Part):
    """An event is in the log, or was before."""

    message: Literal["kept"]
    id: Id


class Wrong(Part):
    """A field of a message, and what is wrong about it."""

    field: str
    """Its path, such as `event.fields`; empty: the message as a whole."""
    problem: str


class Refused(Part):
    """A message is not taken, and would not be if it were sent again."""

    message: Literal["refused"]
    id: str | None = None
    """Its id, if one could be read."""
    reason: Literal["invalid", "too_large", "not_stored"]
    detail: str
    fields: tuple[Wrong, ...] = ()


_FromEngine = Annotated[Event | Taken, Field(discriminator="message")]
_ToEngine = Annotated[
    ActionAsked | Speech | Expired | Kept | Refused, Field(discriminator="message")
]

# What models share, as any JSON, is validated by this and not by their own.
_FINITE = ConfigDict(allow_inf_nan=False)
_FROM: TypeAdapter[Event | Taken] = TypeAdapter(_FromEngine, config=_FINITE)
_TO: TypeAdapter[Any] = TypeAdapter(_ToEngine)


def read(text: str | bytes) -> Event | Taken:
    """Read what an engine sent.

    Raises:
        ValidationError: it is no such message.
        ValueError: it is no JSON.
    """
    # The log's JSON has no number that is not finite, which Python's own reader takes.
    return _FROM.validate_python(from_json(text, allow_inf_nan=False))


def wrong_fields(error: ValueError) -> tuple[Wrong, ...]:
    """Return what is wrong with a message, without its values, which may be private."""
    if not isinstance(error, ValidationError):
        return (Wrong(field="", problem=f"no JSON: {error}"),)
    found = error.errors(include_url=False, include_input=False)[:MOST_FAULTS]
    return tuple(
        Wrong(field=".".join(map(str, each["loc"])), problem=each["msg"])
        for each in found
    )


def schema() -> dict[str, Any]:
    """Return the JSON Schema of both directions, under `from_engine` and `to_engine`."""
    describe()
    for adapter in (_FROM, _TO):
        adapter.rebuild(force=True)
    reference = "#/$defs/{model}"
    given = _FROM.json_schema(ref_template=reference)
    heard = _TO.json_schema(ref_template=reference)
    parts = given.pop("$defs") | heard.pop("$defs")
    # The subject says who sends; an engine that said so itself is refused.
    del parts["Event"]["properties"]["source"]
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "What a game engine and the bridge say to each other",
        "anyOf": [{"$ref": "#/$defs/from_engine"}, {"$ref": "#/$defs/to_engine"}],
        "$defs": dict(
            sorted((parts | {"from_engine": given, "to_engine": heard}).items())
        ),
    }
