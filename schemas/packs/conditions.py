"""Conditions: the `when` of a heuristic, held against an event's type and fields.

Similarity cannot tell "health 2 of 9" from "8 of 9"; a condition can. It is no code,
and it never raises on an event: a comparison with a missing field, or of a number with
a text, is false.

    type = "vital_changed" and vital in ["food", "drink"] and not value > 3
"""

import json
import operator
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, assert_never

from schemas.packs.condition_parser import (
    Comparison,
    ConditionError,
    Every,
    Not,
    Operator,
    Part,
    Scalar,
    Some,
    When,
    parse,
)
from schemas.values.exact_math import round6
from schemas.values.unicode_text import quoted

__all__ = [
    "Comparison",
    "ConditionError",
    "When",
    "comparisons",
    "explain_failure",
    "field_value",
    "fields_named",
    "holds",
    "meaning",
    "parse",
]

EVENT_NAMES = ("source", "type")
"""Names that mean the event itself and not one of its fields."""

LONGEST_EXPLANATION = 200
"""Characters."""

_LONGEST_VALUE = 40
_QUOTED = json.JSONEncoder(ensure_ascii=False)

_ORDER: Mapping[Operator, Callable[[Any, Any], bool]] = {
    "=": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}


def holds(when: When, type_: str, source: str, fields: Mapping[str, object]) -> bool:
    """Whether the condition is true of an event; never raises."""
    return _is_true(when.part, _Event(type_, source, fields))


def meaning(when: When | None) -> tuple[object, ...]:
    """What two conditions are equal by, however they are written; none is empty."""
    return () if when is None else _meaning(when.part)


def explain_failure(
    when: When, type_: str, source: str, fields: Mapping[str, object]
) -> str:
    """Return the first part that is false and what was there; empty if `when` holds.

    For example `health <= 3 (is 8)`, or `door = "open" (is missing)`.
    """
    failure = _failure_of(when.part, _Event(type_, source, fields))
    return "" if failure is None else _cut(failure, LONGEST_EXPLANATION)


def field_value(name: str, fields: Mapping[str, object]) -> tuple[bool, object]:
    """Return whether there is a field, and its value; dots lead into objects."""
    if "." not in name:
        return name in fields, fields.get(name)
    value: object = fields
    for step in name.split("."):
        if not isinstance(value, Mapping) or step not in value:
            return False, None
        value = value[step]
    return True, value


def fields_named(when: When) -> tuple[str, ...]:
    """Return the fields that the condition names, sorted, without type and source."""
    names = {each.field for each in comparisons(when)}
    return tuple(sorted(names - set(EVENT_NAMES)))


def comparisons(when: When) -> tuple[Comparison, ...]:
    """Return every comparison in the condition, in order, denied ones included."""
    return tuple(_comparisons(when.part))


@dataclass(frozen=True, slots=True)
class _Event:
    type: str
    source: str
    fields: Mapping[str, object]


def _is_true(part: Part, event: _Event) -> bool:
    match part:
        case Comparison():
            found, value = _look_up(part.field, event)
            return found and _compares(value, part.operator, part.values)
        case Not():
            return not _is_true(part.part, event)
        case Every():
            return all(_is_true(each, event) for each in part.parts)
        case Some():
            return any(_is_true(each, event) for each in part.parts)
        case _:
            assert_never(part)


def _meaning(part: Part) -> tuple[object, ...]:
    match part:
        case Comparison():
            # True is no 1 here, though it is in Python.
            values = tuple((_kind(value), value) for value in part.values)
            return part.field, part.operator, values
        case Not():
            return "not", _meaning(part.part)
        case Every() | Some():
            return type(part).__name__, *(_meaning(each) for each in part.parts)
        case _:
            assert_never(part)


def _look_up(name: str, event: _Event) -> tuple[bool, object]:
    """Return whether the event has the field, and its value."""
    if name == "type":
        return True, event.type
    if name == "source":
        return True, event.source
    return field_value(name, event.fields)


def _compares(value: object, operator_: Operator, values: tuple[Scalar, ...]) -> bool:
    """Compare like with like; what differs in kind is neither equal nor unequal."""
    if operator_ == "in":
        return any(_compares(value, "=", (each,)) for each in values)
    (wanted,) = values
    if wanted is None:
        return (value is None) == (operator_ == "=")
    if _kind(value) != _kind(wanted):
        return False
    return _ORDER[operator_](_rounded(value), _rounded(wanted))


def _kind(value: object) -> str:
    """Return what a value may be compared with; a truth value is no number."""
    match value:
        case bool():
            return "truth"
        case int() | float():
            return "number"
        case str():
            return "text"
        case _:
            return "other"


def _rounded(value: object) -> object:
    """Round fractions, so that a sensor's 0.30000000000000004 is 0.3."""
    return round6(value) if isinstance(value, float) else value


def _failure_of(part: Part, event: _Event) -> str | None:
    """Say why a part is false; None if it is true. Most are `and`s of comparisons."""
    if isinstance(part, Every):
        failures = (_failure_of(each, event) for each in part.parts)
        return next((failure for failure in failures if failure is not None), None)
    return None if _is_true(part, event) else _failure(part, event)


def _failure(part: Part, event: _Event) -> str:
    """Say why a part that is false is so."""
    match part:
        case Comparison():
            return f"{part.text} ({_found(part.field, event)})"
        case Not(Comparison() as inner):
            return f"{part.text} ({_found(inner.field, event)})"
        case Not():
            return part.text
        case Every():
            return _failure_of(part, event) or ""
        case Some():
            return " or ".join(_failure(each, event) for each in part.parts)
        case _:
            assert_never(part)


def _found(name: str, event: _Event) -> str:
    found, value = _look_up(name, event)
    return f"is {_shown(value)}" if found else "is missing"


def _shown(value: object) -> str:
    """Write a value as a condition would."""
    match value:
        case None:
            return "null"
        case bool():
            return "true" if value else "false"
        case int():
            # Beyond 64 bits str() is slow, and beyond 4,300 digits it raises.
            return str(value) if value.bit_length() <= 64 else "a huge number"
        case float():
            return quoted(value)
        case str():
            return _QUOTED.encode(_cut(value, _LONGEST_VALUE))
        case Mapping():
            return "an object"
        case _:
            return "a list"


def _cut(text: str, longest: int) -> str:
    return text if len(text) <= longest else text[: longest - 1] + "…"


def _comparisons(part: Part) -> list[Comparison]:
    match part:
        case Comparison():
            return [part]
        case Not():
            return _comparisons(part.part)
        case Every() | Some():
            return [found for each in part.parts for found in _comparisons(each)]
        case _:
            assert_never(part)
