"""The bases of all messages: frozen, validated when read, tolerant of newer fields.

Messages and their parts are `Struct`s. What our own code makes is not validated: whoever
makes one of what a person gave reads it `from_fields`. What people write (packs, settings)
and what doors are asked are pydantic models, `Part`s (docs/adr/0084).

A message knows its kind (which decides its subject), its token (its name in subjects and
headers) and its version. Numbers are finite; unknown fields are an
error in our own code and are ignored when an older program reads a newer log.
"""

from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from functools import cache
from typing import Annotated, Any, ClassVar, Literal, Self, TypeAlias, TypeVar

import msgspec
from msgspec import NODEFAULT, Meta, Struct, structs
from pydantic import AwareDatetime, BaseModel, ConfigDict, Field, ValidationError

InputKind = Literal["sensor", "feedback", "control", "clock", "result"]

OutputKind = Literal["decision", "fire", "ask", "outcome", "learning", "note"]

Kind = InputKind | OutputKind

# Limits stand twice: msgspec reads `Meta`, pydantic `Field`, and each ignores the other.
Unit = Annotated[float, Meta(ge=0.0, le=1.0), Field(ge=0.0, le=1.0)]
"""A number from 0 to 1."""

Signed = Annotated[float, Meta(ge=-1.0, le=1.0), Field(ge=-1.0, le=1.0)]
"""A number from -1 to 1."""

Seconds = Annotated[float, Meta(gt=0.0, le=1e9), Field(gt=0.0, le=1e9)]
"""A span of time, over 0 and up to thirty years: added to any time of the log it stays
within what `datetime` can hold."""

Moment = Annotated[datetime, Meta(tz=True), AwareDatetime]
"""A time with its zone."""

NAME_LIMIT = 200
Name = Annotated[
    str,
    Meta(min_length=1, max_length=NAME_LIMIT),
    Field(min_length=1, max_length=NAME_LIMIT),
]

TOKEN = r"^[A-Za-z0-9_-]{1,64}$"
Token = Annotated[str, Meta(pattern=TOKEN), Field(pattern=TOKEN)]
"""A name that can be a token of a subject."""

Personal = Annotated[str, Field(json_schema_extra={"x-personal": True})]
"""A text with a person's words, name or affairs, which that person may have forgotten."""

FORGOTTEN = "[forgotten]"
"""What a personal text reads as whose key was destroyed."""

PersonalName = Annotated[Name, Field(json_schema_extra={"x-personal": True})]
"""A name that a person goes by, or that a person gave."""

AS_A_WHOLE = Field(json_schema_extra={"x-personal": "whole"})
"""Marks a field that is personal whatever it holds, and that is left out when forgotten."""

PersonalCode = Annotated[str, AS_A_WHOLE]
"""A text of a person's that something has to parse, and so cannot read as forgotten."""

Scalar: TypeAlias = (
    bool
    | int
    | float
    | Annotated[str, Meta(max_length=NAME_LIMIT), Field(max_length=NAME_LIMIT)]
)
"""What a setting may be set to."""


class Part(BaseModel):
    """A frozen piece of a message."""

    model_config = ConfigDict(
        frozen=True,
        extra="forbid",
        allow_inf_nan=False,
        # A command makes a few of more than a hundred models, so each is built when first
        # used, and what its fields mean is read when it is described (`meanings`).
        defer_build=True,
    )


class MessagePart(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A frozen piece of a message, unvalidated when made.

    None is left out of its JSON, and so is any other default but one that is `written`.
    """

    @classmethod
    def prepared(cls, fields: Mapping[str, Any]) -> Mapping[str, Any]:
        """Return the fields of a body as they are to be read, for example with a token for
        a person's name.
        """
        return fields

    def settled(self) -> Self:
        """Return it as it is kept, after its fields are read: a time in UTC, for example.

        Raises:
            ValueError: its fields do not go together.
        """
        return self

    @classmethod
    def from_fields(cls, fields: object) -> Self:
        """Read the fields of a body, ignoring those that this version does not know.

        Raises:
            pydantic.ValidationError: a field is missing or of the wrong type.
        """
        try:
            given = cls.prepared(fields) if isinstance(fields, Mapping) else fields
            return msgspec.convert(given, cls, dec_hook=part_of).settled()
        # What is not quite of its type is read leniently, or refused in words, by the model
        # that is derived for it.
        except ValueError:
            from schemas.values.struct_models import validated

            return validated(cls, fields)

    def checked(self) -> Self:
        """Return it as it will be read, for one that is made of what a person gave.

        Raises:
            pydantic.ValidationError: a field is of the wrong type, or beyond its limits.
        """
        # Not by its JSON, in which a number that is not finite is null.
        return self.from_fields(msgspec.to_builtins(self, enc_hook=fields_of))

    @classmethod
    def taken(cls, whole: "MessagePart") -> dict[str, Any]:
        """Return the fields of this part of what has all of them, to make another such."""
        return {name: getattr(whole, name) for name in cls.__struct_fields__}

    def as_fields(self, *, whole: bool = False) -> dict[str, Any]:
        """Return its fields as in its JSON; if `whole`, with those that are not set."""
        fields: dict[str, Any] = msgspec.json.decode(_ENCODER.encode(self))
        if not whole:
            return fields
        names = self.__struct_fields__
        return {n: fields[n] if n in fields else getattr(self, n) for n in names}

    def changed(self, without: Iterable[str] = ()) -> dict[str, Any]:
        """Return those of its fields that differ from their defaults."""
        fields, usual = self.as_fields(), structs.fields(type(self))
        for each in usual:
            made = each.default_factory
            is_usual = made is not NODEFAULT and getattr(self, each.name) == made()
            if is_usual or each.name in without:
                fields.pop(each.name, None)
        return fields

    @classmethod
    def __get_pydantic_core_schema__(cls, source: Any, handler: Any) -> Any:
        """Let a pydantic model hold one, validated by its derived model."""
        from schemas.values.struct_models import schema_of

        return schema_of(cls, handler)


class Message(MessagePart, frozen=True, kw_only=True):
    """A fact or an ask that the log holds."""

    kind: ClassVar[Kind]
    token: ClassVar[str]
    """The message's name in subjects and headers, for example `heuristic_fired`.

    It is the format of the log: it stays, whatever becomes of the class."""
    version: ClassVar[int] = 1

    def to_bytes(self) -> bytes:
        """Return the body of the message: JSON without what is not set."""
        return _ENCODER.encode(self)

    @classmethod
    def from_bytes(cls, body: bytes) -> Self:
        """Read a body, ignoring the fields that this version does not know.

        Raises:
            msgspec.DecodeError: it is no JSON, or a field is missing or of the wrong type.
        """
        message: Self = _decoder(cls).decode(body)
        return message


MessageType: TypeAlias = type[Message]

_T = TypeVar("_T")


def written(default: _T) -> _T:
    """Return a field whose default is encoded.

    `omit_defaults` leaves out a field that has its default, as None must be. msgspec cannot
    compare a value with what a factory would make, so a default from one is always written.
    """
    made: _T = msgspec.field(default_factory=lambda: default)
    return made


def first_fault(error: ValidationError, whole: str) -> str:
    """Return the first fault of a validation, at its place; `whole` names all of it."""
    # Without the input, which may be long or private.
    fault = error.errors(include_url=False, include_input=False)[0]
    place = ".".join(map(str, fault["loc"])) or whole
    return f"{place}: {fault['msg']}"


@cache
def _decoder(kind: type[Struct]) -> msgspec.json.Decoder[Any]:
    return msgspec.json.Decoder(kind, dec_hook=part_of)


def part_of(kind: type, value: object) -> object:
    """Decode a part that is a pydantic model."""
    if issubclass(kind, Part):
        return kind.model_validate(value, extra="ignore")
    raise NotImplementedError(f"{kind} is no part of a message")


def fields_of(part: object) -> object:
    """Return a part that is a pydantic model as its fields: it is encoded as these are."""
    if isinstance(part, Part):
        return part.model_dump(mode="json", exclude_none=True)
    raise NotImplementedError(
        f"{type(part).__name__} is no part of a state or a message"
    )


_ENCODER = msgspec.json.Encoder(enc_hook=fields_of)


def rfc3339(at: datetime) -> str:
    """Return a time in UTC as `2026-11-21T07:35:49.123456Z`, always with microseconds."""
    utc = at if at.tzinfo is UTC else at.astimezone(UTC)
    # Seven times as fast as `isoformat`, and the same but for microseconds that are zero,
    # which both drop unless told not to.
    if utc.microsecond:
        return _ENCODER.encode(utc)[1:-1].decode()
    return utc.isoformat(timespec="microseconds")[:-6] + "Z"
