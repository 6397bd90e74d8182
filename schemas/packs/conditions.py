"""Conditions: the `when` of a heuristic, evaluated on an event's type and fields.

Similarity cannot tell "health 2 of 9" from "8 of 9"; a condition can. It is data and no
code, and evaluating it never raises. A comparison is true, false or unknown (Kleene's
logic): unknown where the field is missing, or is no number where one is compared, and of the
"unavailable" of a sensor that is away. What is unknown does not hold, nor does its `not`.
Absence is asked for with `= null`.

    type = "vital_changed" and vital in ["food", "drink"] and value <= 3
"""

import json
import operator
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from typing import Any, NamedTuple, assert_never

from schemas.packs.condition_parser import Comparison as Comparison
from schemas.packs.condition_parser import ConditionError as ConditionError
from schemas.packs.condition_parser import Every, Not, Operator, Part, Scalar, Some
from schemas.packs.condition_parser import ParsedWhen as ParsedWhen
from schemas.packs.condition_parser import parse as parse
from schemas.values.by_identity import by_identity
from schemas.values.exact_math import round6
from schemas.values.unicode_text import quoted

Fields = Mapping[str, object]
"""An event's, by name."""

EVENT_NAMES = ("source", "type")
"""Names that mean an attribute of the event and not one of its fields."""

AWAY = ("unavailable", "unknown")
"""What hubs send instead of a reading."""

LONGEST_EXPLANATION = 200
"""In characters; the explanation is recorded with the decision."""

_LONGEST_VALUE = 40
_MISSING = object()
"""The value of a field that the event lacks; None is a value of its own, `null`."""
_QUOTED = json.JSONEncoder(ensure_ascii=False)

_ORDER: Mapping[Operator, Callable[[Any, Any], bool]] = {
    "=": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}


# Parsing costs more than testing; the text alone is the key.
@lru_cache(maxsize=4096)
def read(when: str | None) -> ParsedWhen | None:
    """Return the condition of a text, kept for the next time; None if there is none."""
    return parse(when) if when else None


def holds(when: ParsedWhen, type_: str, source: str, fields: Fields) -> bool:
    """Tell whether the condition is true of an event, without ever raising."""
    return _compiled(when).truth(type_, source, fields) is True


def test(when: ParsedWhen) -> Callable[[Fields], bool]:
    """Return the condition as a function of fields alone, for whoever asks it often."""
    truth = _compiled(when).truth
    return lambda fields: truth("", "", fields) is True


def meaning(when: ParsedWhen | None) -> tuple[object, ...]:
    """Return a key that is equal for conditions of one meaning; () for no condition.

    Only spelling is evened out: `a and b` differs from `b and a`.
    """
    return () if when is None else _meaning(when.part)


def explain_failure(when: ParsedWhen, type_: str, source: str, fields: Fields) -> str:
    """Return the first part that is not true and what was there; empty if `when` holds.

    For example `health <= 3 (is 8)`, or `door = "open" (is missing)`.
    """
    failure = _compiled(when).failure(type_, source, fields)
    return "" if failure is None else _cut(failure, LONGEST_EXPLANATION)


def field_value(name: str, fields: Fields) -> tuple[bool, object]:
    """Return whether there is a field, and its value; dots lead into objects."""
    value = _inner(name, fields) if "." in name else fields.get(name, _MISSING)
    return (False, None) if value is _MISSING else (True, value)


def fields_named(when: ParsedWhen) -> tuple[str, ...]:
    """Return the fields that the condition names, sorted, without type and source."""
    names = {each.field for each in comparisons(when)}
    return tuple(sorted(names - set(EVENT_NAMES)))


def comparisons(when: ParsedWhen) -> tuple[Comparison, ...]:
    """Return every comparison in the condition, in order, negated ones included."""
    return tuple(_comparisons(when.part))


_Truth = bool | None
"""None is unknown."""


class _Compiled(NamedTuple):
    """A part of a condition as functions of an event's type, source and fields."""

    truth: Callable[[str, str, Fields], _Truth]
    failure: Callable[[str, str, Fields], str | None]
    """Says why it is not true; None if it is true."""


@by_identity(16_384)
def _compiled(when: ParsedWhen) -> _Compiled:
    """Compile a condition into closures; walking its tree takes three times as long."""
    return _compile(when.part)


def _compile(part: Part) -> _Compiled:
    match part:
        case Comparison():
            return _comparison(part)
        case Not():
            return _denial(part)
        case Every():
            return _every([_compile(each) for each in part.parts])
        case Some():
            return _some([_compile(each) for each in part.parts])
        case _:
            assert_never(part)


def _comparison(part: Comparison) -> _Compiled:
    away = () if part.field in EVENT_NAMES else AWAY
    read, meets = _reader(part.field), _test(part.operator, part.values, away)

    def truth(type_: str, source: str, fields: Fields) -> _Truth:
        return meets(read(type_, source, fields))

    def failure(type_: str, source: str, fields: Fields) -> str | None:
        value = read(type_, source, fields)
        return None if meets(value) else f"{part.text} ({_found(value)})"

    return _Compiled(truth, failure)


def _denial(part: Not) -> _Compiled:
    denied, inner = _compile(part.part).truth, part.part
    # Of a negated comparison the explanation can show the value; of a group it cannot.
    read = _reader(inner.field) if isinstance(inner, Comparison) else None

    def truth(type_: str, source: str, fields: Fields) -> _Truth:
        found = denied(type_, source, fields)
        return None if found is None else not found

    def failure(type_: str, source: str, fields: Fields) -> str | None:
        if denied(type_, source, fields) is False:
            return None
        if read is None:
            return part.text
        return f"{part.text} ({_found(read(type_, source, fields))})"

    return _Compiled(truth, failure)


def _every(parts: Sequence[_Compiled]) -> _Compiled:
    tests, failures = [each.truth for each in parts], [each.failure for each in parts]

    def truth(type_: str, source: str, fields: Fields) -> _Truth:
        whole: _Truth = True
        for test in tests:
            found = test(type_, source, fields)
            if found is False:
                return False
            if found is None:
                whole = None
        return whole

    def failure(type_: str, source: str, fields: Fields) -> str | None:
        for each in failures:
            found = each(type_, source, fields)
            if found is not None:
                return found
        return None

    return _Compiled(truth, failure)


def _some(parts: Sequence[_Compiled]) -> _Compiled:
    tests, failures = [each.truth for each in parts], [each.failure for each in parts]

    def truth(type_: str, source: str, fields: Fields) -> _Truth:
        whole: _Truth = False
        for test in tests:
            found = test(type_, source, fields)
            if found is True:
                return True
            if found is None:
                whole = None
        return whole

    def failure(type_: str, source: str, fields: Fields) -> str | None:
        if truth(type_, source, fields):
            return None
        # All of them, since any one would have been enough.
        return " or ".join(each(type_, source, fields) or "" for each in failures)

    return _Compiled(truth, failure)


def _reader(name: str) -> Callable[[str, str, Fields], object]:
    """Return a function that reads a field of an event, `_MISSING` if there is none."""
    if name == "type":
        return lambda type_, source, fields: type_
    if name == "source":
        return lambda type_, source, fields: source
    # The common case has a function of its own, which splits nothing.
    if "." not in name:
        return lambda type_, source, fields: fields.get(name, _MISSING)
    return lambda type_, source, fields: _inner(name, fields)


def _inner(name: str, fields: Fields) -> object:
    value: object = fields
    for step in name.split("."):
        if not isinstance(value, Mapping) or step not in value:
            return _MISSING
        value = value[step]
    return value


def _test(
    operator_: Operator, values: tuple[Scalar, ...], away: tuple[str, ...]
) -> Callable[[object], _Truth]:
    """Return a test of one value; of another kind than is asked for it knows nothing."""
    if operator_ == "in":
        return _among(values, away)
    (wanted,) = values
    if wanted is None:
        # A field that is missing has no value, as one that is null.
        return lambda value: (value is None or value is _MISSING) == (operator_ == "=")
    compares = _ORDER[operator_]
    if isinstance(wanted, str):
        # Of a sensor that is away no state is known, unless it is asked whether it is.
        unread = () if wanted in away else away
        return lambda value: (
            compares(value, wanted)
            if isinstance(value, str) and value not in unread
            else None
        )
    if isinstance(wanted, bool):
        return lambda value: (
            compares(value, wanted) if isinstance(value, bool) else None
        )
    # The condition's side is prepared once, when it is compiled.
    limit = _rounded(wanted)

    def meets_number(value: object) -> _Truth:
        # A bool is an int in Python.
        if isinstance(value, bool) or not isinstance(value, (int, float)):
            return None
        return compares(_rounded(value), limit)

    return meets_number


def _among(
    values: tuple[Scalar, ...], away: tuple[str, ...]
) -> Callable[[object], _Truth]:
    """Return a test of one value against a list, of which its own kind decides."""
    tests = [_test("=", (each,), away) for each in values if each is not None]
    has_null = len(tests) < len(values)

    def truth(value: object) -> _Truth:
        if value is None or value is _MISSING:
            return True if has_null else None
        found = [test(value) for test in tests]
        if True in found:
            return True
        return False if False in found or not tests else None

    return truth


def _meaning(part: Part) -> tuple[object, ...]:
    match part:
        case Comparison():
            # With the kind, since True == 1 in Python and not in a condition.
            values = tuple((_kind(value), value) for value in part.values)
            return part.field, part.operator, values
        case Not():
            return "not", _meaning(part.part)
        case Every() | Some():
            return type(part).__name__, *(_meaning(each) for each in part.parts)
        case _:
            assert_never(part)


def _kind(value: object) -> str:
    """Return the kind of values that a value may be compared with."""
    # First, since a bool is an int in Python.
    if isinstance(value, bool):
        return "truth"
    if isinstance(value, int | float):
        return "number"
    return "text" if isinstance(value, str) else "other"


def _rounded(value: object) -> object:
    """Round a fraction to 6 decimals, so that a sensor's 0.30000000000000004 is 0.3."""
    return round6(value) if isinstance(value, float) else value


def _found(value: object) -> str:
    return "is missing" if value is _MISSING else f"is {_shown(value)}"


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
