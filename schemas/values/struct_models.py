"""Pydantic models derived from structs: for JSON Schema, generated pages, and refusals.

A struct is made without validation, and read strictly. Its model has the same fields, limits
and docstrings; it reads leniently, says what is wrong in words, and is derived on first use
(docs/adr/0084).
"""

from collections.abc import Callable, Mapping
from functools import cache, reduce
from operator import or_
from types import UnionType
from typing import (
    Annotated,
    Any,
    Literal,
    TypeVar,
    Union,
    get_args,
    get_origin,
    get_type_hints,
)

import msgspec
from pydantic import (
    Field,
    GetCoreSchemaHandler,
    JsonValue,
    SerializationInfo,
    create_model,
    model_validator,
)
from pydantic.fields import FieldInfo
from pydantic_core import CoreSchema, core_schema

from schemas.values.base import MessagePart, Part, part_of
from schemas.values.meanings import meanings_of

_P = TypeVar("_P", bound=MessagePart)

_LIMITS = ("gt", "ge", "lt", "le", "min_length", "max_length", "pattern")


def validated(
    kind: type[_P], fields: object, extra: Literal["ignore", "forbid"] = "ignore"
) -> _P:
    """Read fields leniently, as a text that is a number for example.

    Raises:
        pydantic.ValidationError: a field is missing or of the wrong type.
    """
    return _made(kind, part_model(kind).model_validate(fields, extra=extra))


def model_of(kind: type[Part] | type[MessagePart]) -> type[Part]:
    """Return the pydantic model of what a door is asked, which may be one itself."""
    return kind if issubclass(kind, Part) else part_model(kind)


@cache
def part_model(kind: type[MessagePart]) -> type[Part]:
    """Return the pydantic model of a message or a part."""
    hints, explained = get_type_hints(kind, include_extras=True), meanings_of(kind)
    fields: dict[str, Any] = {
        field.name: (
            _of_models(hints[field.name]),
            Field(**_default(field), description=explained.get(field.name)),
        )
        for field in msgspec.structs.fields(kind)
    }
    # What holds of several fields together only the struct itself knows.
    checks: dict[str, Any] = {
        "prepared": model_validator(mode="before")(_preparing(kind)),
        "whole": model_validator(mode="after")(_checking(kind)),
    }
    model: type[Part] = create_model(
        kind.__name__,
        __base__=Part,
        __doc__=kind.__doc__,
        __validators__=checks,
        **fields,
    )
    return model


def schema_of(kind: type[MessagePart], handler: GetCoreSchemaHandler) -> CoreSchema:
    """Return how a pydantic model validates and writes a struct that it holds."""

    def read(value: Any, validate: Callable[[Any], Part]) -> MessagePart:
        if isinstance(value, kind):
            return value
        return _made(kind, validate(value))

    def write(value: MessagePart, info: SerializationInfo) -> dict[str, Any]:
        if info.exclude_defaults:
            return value.changed()
        return value.as_fields(whole=not info.exclude_none)

    return core_schema.no_info_wrap_validator_function(
        read,
        handler.generate_schema(part_model(kind)),
        serialization=core_schema.plain_serializer_function_ser_schema(
            write, info_arg=True
        ),
    )


def _preparing(kind: type[MessagePart]) -> Callable[[Any], Any]:
    def prepared(fields: Any) -> Any:
        return kind.prepared(fields) if isinstance(fields, Mapping) else fields

    return prepared


def _checking(kind: type[MessagePart]) -> Callable[[Part], Part]:
    def whole(model: Part) -> Part:
        _made(kind, model)
        return model

    return whole


def _made(kind: type[_P], model: Part) -> _P:
    fields = model.model_dump(mode="json", exclude_none=True)
    return msgspec.convert(fields, kind, dec_hook=part_of).settled()


def _of_models(hint: Any) -> Any:
    """Return a field's type with each struct and its limits replaced by its model's."""
    if hint is Any:
        return JsonValue
    if isinstance(hint, type) and issubclass(hint, MessagePart):
        return part_model(hint)
    if get_origin(hint) in (Union, UnionType):
        return reduce(or_, map(_of_models, get_args(hint)))
    if get_origin(hint) is tuple:
        return tuple[tuple(map(_of_models, get_args(hint)))]  # type: ignore[misc]
    if get_origin(hint) is dict:
        return dict[tuple(map(_of_models, get_args(hint)))]  # type: ignore[misc]
    if get_origin(hint) is Annotated:
        inner, *marks = get_args(hint)
        return Annotated[(_of_models(inner), *map(_limit, marks))]
    return hint


def _limit(mark: object) -> object:
    """Return a limit of msgspec as one of pydantic."""
    if not isinstance(mark, msgspec.Meta):
        return mark
    limits = {name: getattr(mark, name) for name in _LIMITS}
    found: FieldInfo = Field(
        **{n: each for n, each in limits.items() if each is not None}
    )
    return found


def _default(field: msgspec.structs.FieldInfo) -> dict[str, Any]:
    if field.default_factory is not msgspec.NODEFAULT:
        return {"default": field.default_factory()}
    return {} if field.required else {"default": field.default}
