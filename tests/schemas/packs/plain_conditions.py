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
    return truth(part, event) is True


def truth(part: Part, event: Event) -> bool | None:
    """Return whether a part is true of an event; None where that is unknown."""
    match part:
        case Comparison():
            is_there, value = _look_up(part.field, event)
            is_own = part.field in ("type", "source")
            return _compares(
                is_there,
                _away(value) if not is_own else value,
                part.operator,
                part.values,
            )
        case Not():
            denied = truth(part.part, event)
            return None if denied is None else not denied
        case Every():
            found = [truth(each, event) for each in part.parts]
            return False if False in found else (None if None in found else True)
        case Some():
            found = [truth(each, event) for each in part.parts]
            return True if True in found else (None if None in found else False)
        case _:
            assert_never(part)


def _look_up(name: str, event: Event) -> tuple[bool, object]:
    """Return whether the event has the field, and its value."""
    if name == "type":
        return True, event.type
    if name == "source":
        return True, event.source
    return field_value(name, event.fields)


@dataclass(frozen=True, slots=True)
class _Away:
    """What a hub sends instead of a reading: known only to who asks for it."""

    told: str


def _away(value: object) -> object:
    is_away = isinstance(value, str) and value in ("unavailable", "unknown")
    return _Away(str(value)) if is_away else value


def _compares(
    is_there: bool, value: object, operator_: Operator, values: tuple[Scalar, ...]
) -> bool | None:
    """Compare like with like; of what is missing or differs in kind nothing is known."""
    if operator_ == "in":
        own = [each for each in values if each is not None]
        if value is None:
            return True if len(own) < len(values) else None
        found = [_compares(is_there, value, "=", (each,)) for each in own]
        return (
            True if True in found else (None if own and False not in found else False)
        )
    (wanted,) = values
    if wanted is None:
        return (not is_there or value is None) == (operator_ == "=")
    if isinstance(value, _Away) and wanted in ("unavailable", "unknown"):
        value = value.told
    if not is_there or _kind(value) != _kind(wanted):
        return None
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
