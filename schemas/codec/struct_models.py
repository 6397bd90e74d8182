"""Pydantic models derived from structs: for JSON Schema, generated pages, and validation.

A struct is made without validation. Its model has the same fields, limits and docstrings,
and is derived on first use (docs/adr/0028).
"""

from functools import cache, reduce
from operator import or_
from types import UnionType
from typing import Any, get_args, get_origin, get_type_hints

import msgspec
from pydantic import Field, create_model

from schemas.values.base import Message, MessageType, Part, StructMessage, StructPart
from schemas.values.meanings import meanings_of


@cache
def message_model(kind: MessageType) -> type[Message]:
    """Return the pydantic model of a message."""
    if issubclass(kind, Message):
        return kind
    model: type[Message] = _model(kind, Message)
    # Class variables are no fields, so `create_model` does not carry them over.
    model.kind, model.token, model.version = kind.kind, kind.token, kind.version
    return model


@cache
def part_model(kind: type[StructPart]) -> type[Part]:
    """Return the pydantic model of a part."""
    if issubclass(kind, StructMessage):
        return message_model(kind)
    model: type[Part] = _model(kind, Part)
    return model


def _model(kind: type[StructPart], base: Any) -> Any:
    """Derive a model with a struct's fields from a base."""
    hints, explained = get_type_hints(kind, include_extras=True), meanings_of(kind)
    fields: dict[str, Any] = {
        field.name: (
            _of_models(hints[field.name]),
            Field(**_default(field), description=explained.get(field.name)),
        )
        for field in msgspec.structs.fields(kind)
    }
    return create_model(kind.__name__, __base__=base, __doc__=kind.__doc__, **fields)


def _of_models(hint: Any) -> Any:
    """Return a field's type with each struct replaced by its model."""
    if isinstance(hint, type) and issubclass(hint, StructPart):
        return part_model(hint)
    if isinstance(hint, UnionType):
        return reduce(or_, map(_of_models, get_args(hint)))
    if get_origin(hint) is tuple:
        return tuple[tuple(map(_of_models, get_args(hint)))]  # type: ignore[misc]
    return hint


def _default(field: msgspec.structs.FieldInfo) -> dict[str, Any]:
    if field.default_factory is not msgspec.NODEFAULT:
        return {"default": field.default_factory()}
    return {} if field.required else {"default": field.default}
