"""Take a person's name out of what stays of a state, once that person was forgotten.

What others asked for, and what a vote taught, holds; whose it was is not known any more. The
fields that name people are known by their names here, wherever they stand.
"""

from collections.abc import Mapping
from typing import Any, TypeVar

from immutables import Map
from msgspec import Struct
from msgspec.structs import replace
from pydantic import BaseModel

from schemas.messages.sensing import SOMEBODY
from schemas.values.bounded_map import Bounded
from schemas.values.packed_texts import PackedTexts

_NAMES_ONE = frozenset({"person", "by", "speaker", "actor", "asked_by"})
"""The fields that hold one person's name."""

_NAMES_SEVERAL = frozenset({"persons", "entities", "hidden_from", "granted"})
"""The fields that hold names of several, be it by something else."""

_KEYED_BY_VOTER = frozenset({"votes", "bases", "ages"})
"""The maps of what each person voted."""


_T = TypeVar("_T")


def unnamed(state: _T, person: str) -> _T:
    """Return a part of the state without that name; the same object if it is not there."""
    part: _T = _unnamed(state, person)
    return part


def _unnamed(value: Any, person: str) -> Any:
    match value:
        case Bounded():
            younger, older = (
                _each(part, person) for part in (value.younger, value.older)
            )
            is_same = younger is value.younger and older is value.older
            return value if is_same else Bounded(value.limit, younger, older)
        case Struct():
            changes = _changes(
                {n: getattr(value, n) for n in value.__struct_fields__}, person
            )
            return replace(value, **changes) if changes else value
        case BaseModel():
            changes = _changes(dict(value), person)
            return value.model_copy(update=changes) if changes else value
        case tuple():
            items = tuple(_unnamed(each, person) for each in value)
            is_same = all(new is old for new, old in zip(items, value, strict=True))
            return value if is_same else items
        case Map():
            return _each(value, person)
        case _:
            return value


def _changes(fields: Mapping[str, Any], person: str) -> dict[str, Any]:
    """Return the fields that are others without that name."""
    found = {name: _field(name, fields[name], person) for name in fields}
    return {name: found[name] for name in found if found[name] is not fields[name]}


def _field(name: str, value: Any, person: str) -> Any:
    if name in _NAMES_ONE and value == person:
        return SOMEBODY
    if name in _NAMES_SEVERAL:
        return _without(value, person)
    if name in _KEYED_BY_VOTER and isinstance(value, Map):
        return _by_nobody(value, person)
    return _unnamed(value, person)


def _without(value: Any, person: str) -> Any:
    if isinstance(value, tuple) and person in value:
        return tuple(each for each in value if each != person)
    if not isinstance(value, Map):
        return _unnamed(value, person)
    for key in sorted(value):
        names = _without(value[key], person)
        value = value if names is value[key] else value.set(key, names)
    return value


def _by_nobody(votes: Map[str, Any], person: str) -> Map[str, Any]:
    """Return votes of which that person's counts on, as nobody's in particular."""
    if person not in votes:
        return votes
    # Each forgotten person's vote is one of its own.
    free, number = SOMEBODY, 2
    while free in votes:
        free, number = f"{SOMEBODY}-{number}", number + 1
    return votes.set(free, votes[person]).delete(person)


def _each(held: Any, person: str) -> Any:
    """Return a map with its values unnamed; ids packed as texts name nobody."""
    if isinstance(held, PackedTexts):
        return held
    for key in sorted(held):
        new = _unnamed(held[key], person)
        if new is not held[key]:
            held = held.set(key, new)
    return held
