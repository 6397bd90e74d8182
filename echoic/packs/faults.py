"""Translation of pydantic's errors into problems that a pack's author can act on."""

import re
from collections.abc import Mapping, Sequence
from typing import Any, get_args

from pydantic import BaseModel
from pydantic_core import ErrorDetails

from echoic.errors import plainly
from echoic.packs.problems import Code, Problem, did_you_mean
from echoic.packs.yaml_positions import Place, Source, Steps
from schemas.messages.sensing import Dimension
from schemas.packs.conditions import ConditionError
from schemas.packs.manifest import SCHEMA, Pack

# Characters of a value that a message quotes at most.
_LONGEST_VALUE = 60
_TRUTHS = {
    **dict.fromkeys(("yes", "y", "on", "true"), "true"),
    **dict.fromkeys(("no", "n", "off", "false"), "false"),
}
"""Booleans of YAML 1.1, or in quotes, which YAML 1.2 reads as text."""


def problem_of(fault: ErrorDetails, source: Source) -> Problem | None:
    """Return a pydantic error as a problem; None if one of `checks` reports it better."""
    steps: Steps = fault["loc"]
    kind = fault["type"]
    if kind in ("duplicate", "bounds"):
        return None
    if kind == "missing":
        message = f'missing key "{steps[-1]}"'
        return make(source, source.place_of(steps[:-1]), "E-PACK-005", message)
    if kind == "extra_forbidden":
        advice = did_you_mean(steps[-1], _known_keys(steps[:-1]))
        message = f'unknown key "{steps[-1]}"'
        place = source.place_of_key(steps)
        return make(source, place, "E-PACK-003", message, advice)
    # pydantic marks an error in a mapping's key, and not its value, with this step.
    if steps[-1:] == ("[key]",):
        return _unknown_dimension(steps[:-1], source)
    error = fault.get("ctx", {}).get("error")
    if isinstance(error, ConditionError):
        return _bad_condition(error, steps, source)
    return _bad_value(fault, source)


def make(
    source: Source, place: Place, code: Code, message: str, suggestion: str = ""
) -> Problem:
    """Make a problem with the line of source that it is on."""
    lines = source.lines
    return Problem(
        file=source.file,
        line=place.line,
        column=place.column,
        code=code,
        message=message,
        suggestion=suggestion,
        excerpt=lines[place.line - 1] if place.line <= len(lines) else "",
    )


def _unknown_dimension(steps: Steps, source: Source) -> Problem:
    return make(
        source,
        source.place_of_key(steps),
        "E-PACK-004",
        f'unknown salience dimension "{steps[-1]}"',
        did_you_mean(steps[-1], get_args(Dimension)),
    )


def _bad_condition(error: ConditionError, steps: Steps, source: Source) -> Problem:
    place = source.place_within(steps, error.column - 1)
    message = f"when: {error.message}"
    return make(source, place, "E-PACK-007", message, error.suggestion)


def _bad_value(fault: ErrorDetails, source: Source) -> Problem:
    steps: Steps = fault["loc"]
    place = source.place_of(steps)
    name = next((step for step in reversed(steps) if isinstance(step, str)), "manifest")
    value = _shown(fault["input"])
    if name == "schema":
        message = f"schema {value} is not known"
        return make(source, place, "E-PACK-010", message, f"write schema: {SCHEMA}")
    if fault["type"] == "literal_error":
        # pydantic gives the allowed literals only within its text: `'a', 'b' or 'c'`, `0 or 1`.
        expected = fault["ctx"]["expected"]
        known = re.findall(r"'([^']+)'", expected) or re.findall(r"\d+", expected)
        message = f"{name} cannot be {value}"
        advice = did_you_mean(fault["input"], known)
        return make(source, place, "E-PACK-006", message, advice)
    text = plainly(fault["msg"])
    message = f"{name} {value}: {text[0].lower()}{text[1:]}"
    advice = _advice(fault["type"], fault["input"], _written(place, source))
    return make(source, place, "E-PACK-006", message, advice)


def _advice(kind: str, value: object, written: str) -> str:
    """Return what to write instead of a value that YAML read as another type."""
    if kind == "string_type" and isinstance(value, int | float):
        return f'quote it: "{written}"'
    if kind == "bool_type" and isinstance(value, str):
        truth = _TRUTHS.get(value.casefold())
        return f"write {truth}" if truth else "write true or false"
    return ""


def _known_keys(steps: Steps) -> Sequence[str]:
    """Return the keys that the mapping at these steps may have."""
    model: type[BaseModel] | None = Pack
    for step in steps:
        if isinstance(step, str) and model is not None:
            model = _model_within(_fields(model).get(step))
    return list(_fields(model)) if model is not None else ()


def _fields(model: type[BaseModel]) -> Mapping[str, Any]:
    """Return a model's annotations by the names that a manifest uses."""
    return {
        field.alias or name: field.annotation
        for name, field in model.model_fields.items()
    }


def _model_within(annotation: Any) -> type[BaseModel] | None:
    """Return the model in an annotation, such as `tuple[Model, ...]`; None without one."""
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return annotation
    inner = (_model_within(each) for each in get_args(annotation))
    return next((model for model in inner if model is not None), None)


def _written(place: Place, source: Source) -> str:
    """Return a plain value as its author wrote it."""
    # From the line, since the value that YAML read no longer shows
    # how it was typed: 1.0 for 1.00.
    rest = source.lines[place.line - 1][place.column - 1 :]
    return re.split(r"[,}\]#]|\s", rest, maxsplit=1)[0]


def _shown(value: object) -> str:
    if isinstance(value, Mapping):
        return "(a mapping)"
    if isinstance(value, list | tuple):
        return "(a list)"
    text = f'"{value}"' if isinstance(value, str) else str(value)
    return text if len(text) <= _LONGEST_VALUE else text[: _LONGEST_VALUE - 1] + "…"
