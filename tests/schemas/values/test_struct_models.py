"""Structs and their pydantic models: the same fields, the same bytes, the same limits."""

import math
from collections.abc import Iterable, Mapping
from datetime import datetime, timedelta
from random import Random
from typing import Annotated, Any, Literal, get_args, get_origin, get_type_hints

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as some
from msgspec import structs
from pydantic import ValidationError

from schemas.codec import catalogue
from schemas.messages.controls import MindStarted
from schemas.messages.decisions import Decided, Gate
from schemas.values.base import Message, MessagePart, Part
from schemas.values.struct_models import part_model
from tests.checked_messages import faults
from tests.factories import NOON

# What holds of several fields together is not in their types, nor are settings' limits.
KINDS = [
    kind
    for kind in (*catalogue.INPUTS, *catalogue.OUTPUTS)
    if kind.settled is Message.settled and kind is not MindStarted
]
GATE = Gate(name="relevance", passed=True, value=0.5)

LETTERS = 'aZ09 ."\\/\n\t\x00\x1f\x7f\u00e4\u2028\U0001f600'
LARGEST = 1e15
"""From 1e16 on pydantic writes 1e+16 and msgspec 1e16; nothing that is weighed or timed
comes near."""


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.token)
@given(seed=some.integers(0, 2**32))
def test_a_struct_is_written_and_read_as_its_model(
    kind: type[Message], seed: int
) -> None:
    """Whatever its fields may be, bytes and meaning are those of pydantic."""
    message = made(kind, Random(seed))

    assert not list(faults(message, message.to_bytes()))


@pytest.mark.parametrize(
    "changes",
    [{"name": ""}, {"passed": "perhaps"}, {"value": math.nan}, {"note": 7}],
    ids=repr,
)
def test_a_model_refuses_what_a_struct_does_not_look_at(
    changes: dict[str, Any],
) -> None:
    """So are gates checked that somebody else's strategy made."""
    gate = structs.replace(GATE, **changes)

    with pytest.raises(ValidationError):
        part_model(Gate).model_validate(structs.asdict(gate))


def test_a_model_explains_its_fields() -> None:
    """By the strings below them, those of what the struct extends included."""
    fields = part_model(Decided).model_fields

    assert fields["arm"].description == "The arm chosen."
    assert fields["chain"].is_required()
    assert fields["exploration"].get_default() == "none"


def test_a_body_of_another_shape_is_refused() -> None:
    """An output that lacks a field, or has one of another type, is damage."""
    for body in (b"{}", b"[]", b'{"event_id":7}', b"{"):
        with pytest.raises(msgspec.DecodeError):
            Decided.from_bytes(body)


def made(kind: type[Any], chance: Random) -> Any:
    """A struct, or a model, with whatever its fields may be."""
    hints = get_type_hints(kind, include_extras=True)
    names = kind.model_fields if issubclass(kind, Part) else kind.__struct_fields__
    return kind(**{name: value(hints[name], chance) for name in names})


def value(hint: Any, chance: Random, limits: Mapping[str, Any] = {}) -> Any:
    """A value of a field's type, within its limits."""
    origin, arguments = get_origin(hint), get_args(hint)
    if origin is Annotated:
        return value(arguments[0], chance, {**limits, **limits_of(arguments[1:])})
    if origin is Literal:
        return chance.choice(arguments)
    if origin is tuple and arguments[-1] is not ...:
        return tuple(value(each, chance) for each in arguments)
    if origin is tuple:
        return tuple(value(arguments[0], chance) for _ in range(chance.randrange(3)))
    if origin is dict:
        key, item = arguments
        return {value(key, chance): value(item, chance)}
    if hint is Any:
        return chance.choice((LARGEST, "a", {"b": [1, None]}))
    if arguments:
        return value(chance.choice(arguments), chance)
    if not isinstance(hint, type):
        # A value of any JSON, as a strategy's parameter is one.
        return LARGEST
    if issubclass(hint, MessagePart | Part):
        return made(hint, chance)
    return plain(hint, limits, chance)


def plain(kind: type[Any], limits: Mapping[str, Any], chance: Random) -> Any:
    """A value without parts."""
    low, high = limits.get("ge", -LARGEST), limits.get("le", LARGEST)
    if kind is float:
        return chance.choice((high, chance.uniform(limits.get("gt", low), high)))
    if kind is int:
        return chance.randint(int(low), int(high))
    if kind is str:
        letters = "aZ09_-" if "pattern" in limits else LETTERS
        return "".join(chance.choices(letters, k=chance.randint(1, 9)))
    if kind is datetime:
        return NOON + timedelta(microseconds=chance.randrange(10**15))
    return chance.choice((False, True)) if kind is bool else None


def limits_of(marks: Iterable[Any]) -> dict[str, Any]:
    """The limits that a field declares, by name, as msgspec or pydantic has them."""
    return {
        name: limit
        for mark in marks
        for limits in (mark, *getattr(mark, "metadata", ()))
        for name in ("ge", "gt", "le", "pattern")
        if (limit := getattr(limits, name, None)) is not None
    }
