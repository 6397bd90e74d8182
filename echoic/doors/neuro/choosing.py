"""Data that fits an action's JSON Schema: checked, found in an answer, or made by chance."""

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from random import Random
from typing import Any

from jsonschema import Draft202012Validator
from jsonschema.exceptions import SchemaError
from referencing.exceptions import Unresolvable
from referencing.jsonschema import EMPTY_REGISTRY

from echoic.doors.neuro.messages import GameAction

_TRIES = 30
_UNREAD = ("pattern", "patternProperties", "$schema", "$id", "format")
"""What of a schema is left to the game: a pattern of a stranger's can take for ever."""


@dataclass(frozen=True, slots=True)
class Choice:
    """An action, and the JSON of its data; None if it has none."""

    name: str
    data: str | None = None


def fits(action: GameAction, data: Any) -> bool:
    """Say whether data is what an action takes."""
    if not action.form:
        return data in (None, {})
    form = _readable(action.form)
    try:
        Draft202012Validator.check_schema(form)
        # An empty registry: nothing is fetched, whatever the schema refers to.
        valid: bool = Draft202012Validator(form, registry=EMPTY_REGISTRY).is_valid(data)
    except (SchemaError, Unresolvable, RecursionError, TypeError):
        return False
    return valid


def _choice_of(action: GameAction, data: Any) -> Choice | None:
    """Return the choice of an action with this data; None if it does not fit."""
    if not fits(action, data):
        return None
    return Choice(action.name, json.dumps(data) if action.form else None)


def by_answer(
    said: Mapping[str, Any], actions: Mapping[str, GameAction]
) -> Choice | None:
    """Return what an answer of the mind chooses; None if nothing that can be done.

    Its action has the name as `type` and the data as `params`; a text may be JSON with
    `name` and `data`, as a model is asked for, or the name alone.
    """
    done = said.get("action")
    if isinstance(done, dict) and done.get("type") in actions:
        action = actions[done["type"]]
        return _choice_of(action, done.get("params") or ({} if action.form else None))
    text = str(said.get("text", "")).strip()
    if text in actions:
        return _choice_of(actions[text], {} if actions[text].form else None)
    begin, end = text.find("{"), text.rfind("}")
    with suppress(ValueError, RecursionError):
        told = json.loads(text[begin : end + 1])
        if isinstance(told, dict) and told.get("name") in actions:
            return _choice_of(actions[told["name"]], told.get("data"))
    return None


def by_chance(
    actions: Iterable[GameAction], refused: Sequence[Choice], rng: Random
) -> Choice | None:
    """Return a choice that fits and was not refused; None if none is found."""
    left = list(actions)
    rng.shuffle(left)
    for _ in range(_TRIES):
        for action in left:
            found = None
            # A schema may be any nonsense.
            with suppress(TypeError, ValueError, OverflowError, ArithmeticError):
                found = _choice_of(
                    action, made(action.form, rng) if action.form else None
                )
            if found is not None and found not in refused:
                return found
    return None


def made(form: Any, rng: Random, levels: int = 20) -> Any:
    """Return a value that a simple schema may describe; whether it does is to be checked."""
    if not isinstance(form, dict) or not levels:
        return None
    if "const" in form:
        return form["const"]
    if isinstance(form.get("enum"), list) and form["enum"]:
        return rng.choice(form["enum"])
    for several in ("anyOf", "oneOf"):
        if isinstance(form.get(several), list) and form[several]:
            return made(rng.choice(form[several]), rng, levels - 1)
    kind = form.get("type", "object" if "properties" in form else "string")
    if isinstance(kind, list):
        kind = rng.choice(kind) if kind else "null"
    make = _KINDS.get(kind)
    return make(form, rng, levels - 1) if make is not None else None


def _object(form: Mapping[str, Any], rng: Random, levels: int) -> Any:
    parts = form.get("properties")
    if not isinstance(parts, dict):
        return {}
    needed = form.get("required") or ()
    return {
        name: made(part, rng, levels)
        for name, part in parts.items()
        if name in needed or rng.random() < 0.5
    }


def _array(form: Mapping[str, Any], rng: Random, levels: int) -> Any:
    least = min(int(form.get("minItems", 0)), 100)
    most = max(least, min(int(form.get("maxItems", least + 1)), least + 3))
    return [
        made(form.get("items", {}), rng, levels)
        for _ in range(rng.randint(least, most))
    ]


def _string(form: Mapping[str, Any], rng: Random, levels: int) -> Any:
    length = min(int(form.get("minLength", 1)), 1_000)
    return "".join(rng.choices("abcdefghij", k=max(length, 1)))


def _integer(form: Mapping[str, Any], rng: Random, levels: int) -> Any:
    least, most = _range(form)
    return rng.randint(least, max(least, most))


def _number(form: Mapping[str, Any], rng: Random, levels: int) -> Any:
    # A whole one fits, too, and is the only one that steps of a whole number allow.
    if rng.random() < 0.5:
        return _integer(form, rng, levels)
    least = float(form.get("minimum", form.get("exclusiveMinimum", 0)))
    most = float(form.get("maximum", form.get("exclusiveMaximum", least + 1)))
    return round(rng.uniform(least, most), 6)


def _range(form: Mapping[str, Any]) -> tuple[int, int]:
    step = form.get("multipleOf", 1)
    least = form.get("minimum", form.get("exclusiveMinimum", -1) + 1)
    most = form.get("maximum", form.get("exclusiveMaximum", least + 11) - 1)
    if isinstance(step, int) and step > 1:
        return -(-int(least) // step) * step, -(-int(least) // step) * step
    return -int(-least // 1), int(most // 1)


_KINDS: Mapping[str, Callable[[Mapping[str, Any], Random, int], Any]] = {
    "object": _object,
    "array": _array,
    "string": _string,
    "integer": _integer,
    "number": _number,
    "boolean": lambda form, rng, levels: rng.random() < 0.5,
}


def _readable(form: Any) -> Any:
    if isinstance(form, list):
        return [_readable(each) for each in form]
    if not isinstance(form, dict):
        return form
    return {
        name: value if name in ("const", "enum") else _readable(value)
        for name, value in form.items()
        if name not in _UNREAD or isinstance(value, dict)
    }
