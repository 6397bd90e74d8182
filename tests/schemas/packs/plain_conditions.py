"""Conditions held on events by walking their tree: slow, and plain to read."""

import operator
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, assert_never

from schemas.packs.condition_parser import (
    Comparison,
    Every,
    Not,
    Operator,
    Part,
    Scalar,
    Some,
)
from schemas.packs.conditions import _shown, field_value
from schemas.values.exact_math import round6

_ORDER: Mapping[Operator, Callable[[Any, Any], bool]] = {
    "=": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}


@dataclass(frozen=True, slots=True)
class Event:
    type: str
    source: str
    fields: Mapping[str, object]


def is_true(part: Part, event: Event) -> bool:
    match part:
        case Comparison():
            found, value = _look_up(part.field, event)
            return found and _compares(value, part.operator, part.values)
        case Not():
            return not is_true(part.part, event)
        case Every():
            return all(is_true(each, event) for each in part.parts)
        case Some():
            return any(is_true(each, event) for each in part.parts)
        case _:
            assert_never(part)


def _look_up(name: str, event: Event) -> tuple[bool, object]:
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


def failure_of(part: Part, event: Event) -> str | None:
    """Say why a part is false; None if it is true. Most are `and`s of comparisons."""
    if isinstance(part, Every):
        failures = (failure_of(each, event) for each in part.parts)
        return next((failure for failure in failures if failure is not None), None)
    return None if is_true(part, event) else _failure(part, event)


def _failure(part: Part, event: Event) -> str:
    """Say why a part that is false is so."""
    match part:
        case Comparison():
            return f"{part.text} ({_found(part.field, event)})"
        case Not(Comparison() as inner):
            return f"{part.text} ({_found(inner.field, event)})"
        case Not():
            return part.text
        case Every():
            return failure_of(part, event) or ""
        case Some():
            return " or ".join(_failure(each, event) for each in part.parts)
        case _:
            assert_never(part)


def _found(name: str, event: Event) -> str:
    found, value = _look_up(name, event)
    return f"is {_shown(value)}" if found else "is missing"
