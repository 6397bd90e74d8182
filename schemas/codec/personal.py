"""Where a message holds a person's words: the personal fields, by kind and token.

The marks stand at the fields themselves (`schemas.values.base.Personal`); here they are
found in the JSON of a body, so that whoever seals or searches one need not know its type.
"""

from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Any

from msgspec import Struct

from schemas.codec.catalogue import message_type
from schemas.messages.notes import ControlInferred
from schemas.values import persons
from schemas.values.struct_models import part_model

_MARK = "x-personal"
_WHOLE = "whole"

_Seal = Callable[[str, Any, bool], str]
"""Returns what stands in a body for a personal value; called with its path, the value, and
whether it is left out when it is forgotten."""


class Places(Struct, frozen=True):
    """Where personal values stand in a JSON value."""

    is_personal: bool = False
    """Whether the value itself is one: a text, or each text in it."""
    is_whole: bool = False
    """Whether all of it is one, whatever it holds."""
    fields: Mapping[str, "Places"] = {}
    """By field, of an object."""
    each: "Places | None" = None
    """Of each item of a list, or each value of an object with fields of any name."""

    @property
    def is_none(self) -> bool:
        """Whether there can be none."""
        return not (self.is_personal or self.is_whole or self.fields or self.each)


_NOWHERE = Places()


@lru_cache(maxsize=256)
def places_of(kind: str, token: str) -> Places:
    """Return where the messages of this kind and token hold personal values."""
    model = message_type(kind, token)
    if model is None:
        return _NOWHERE
    schema = part_model(model).model_json_schema()
    return _places(schema, schema.get("$defs", {}), ())


def replaced(kind: str, token: str, fields: dict[str, Any], seal: _Seal) -> None:
    """Replace each personal value of a body's fields by what `seal` returns for it."""
    # A name that stands for a token is a person's words, too.
    fields.update(persons.told(fields))
    _replace(fields, places_of(kind, token), "", seal)
    # The body of another message, whose type only its own field tells.
    inner = fields.get("fields")
    if token == ControlInferred.token and isinstance(inner, dict):
        carried = places_of("control", str(fields.get("control")))
        _replace(inner, carried, "/fields", seal)


def _places(schema: Any, parts: Mapping[str, Any], within: tuple[str, ...]) -> Places:
    """Return the places of a JSON schema; `within` are the parts that it stands in."""
    if not isinstance(schema, dict):
        return _NOWHERE
    if schema.get(_MARK):
        is_whole = schema[_MARK] == _WHOLE
        return Places(is_personal=not is_whole, is_whole=is_whole)
    found = _NOWHERE
    name = str(schema.get("$ref", "")).rpartition("/")[2]
    # A part within itself has the places that are found for it already.
    if name and name not in within:
        found = _places(parts[name], parts, (*within, name))
    for inner in (*schema.get("anyOf", ()), *schema.get("allOf", ())):
        found = _joined(found, _places(inner, parts, within))
    fields = {
        field: places
        for field, inner in schema.get("properties", {}).items()
        if not (places := _places(inner, parts, within)).is_none
    }
    items = [schema.get("items"), schema.get("additionalProperties")]
    each = _NOWHERE
    for inner in (*items, *schema.get("prefixItems", ())):
        each = _joined(each, _places(inner, parts, within))
    own = Places(fields=fields, each=None if each.is_none else each)
    return _joined(found, own)


def _joined(one: Places, other: Places) -> Places:
    if one.is_none or other.is_none:
        return other if one.is_none else one
    fields = dict(one.fields)
    for name, places in other.fields.items():
        fields[name] = _joined(fields.get(name, _NOWHERE), places)
    each = _joined(one.each or _NOWHERE, other.each or _NOWHERE)
    return Places(
        is_personal=one.is_personal or other.is_personal,
        is_whole=one.is_whole or other.is_whole,
        fields=fields,
        each=None if each.is_none else each,
    )


def _replace(value: Any, places: Places, path: str, seal: _Seal) -> Any:
    """Return what stands for a value; containers are changed in place."""
    if value is None or places.is_none:
        return value
    if places.is_whole or (places.is_personal and isinstance(value, str)):
        return seal(path, value, places.is_whole)
    if isinstance(value, dict):
        for name in value:
            inner = places.fields.get(name) or places.each
            if inner is not None:
                value[name] = _replace(value[name], inner, f"{path}/{name}", seal)
    elif isinstance(value, list) and places.each is not None:
        value[:] = [
            _replace(each, places.each, f"{path}/{number}", seal)
            for number, each in enumerate(value)
        ]
    return value
