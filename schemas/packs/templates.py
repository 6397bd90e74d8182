"""Templates that a pack supplies: of prompts, and of what a device's event says."""

from collections.abc import Mapping
from typing import Annotated

from pydantic import AfterValidator, Field
from pydantic_core import PydanticCustomError

from schemas.packs import conditions
from schemas.values.prompt_fencing import shown
from schemas.values.skills import PLACE, TEXT

ANSWER = "{answer}"
"""The placeholder for the model's answer in a prediction template."""


def _has_answer(template: str) -> str:
    if template and ANSWER not in template:
        raise PydanticCustomError(
            "no_answer", "a template for predictions needs {place}", {"place": ANSWER}
        )
    return template


SystemPrompt = Annotated[str, Field(max_length=8_000)]
"""The system prompt of a model call."""
PredictionTemplate = Annotated[
    str, Field(max_length=2_000), AfterValidator(_has_answer)
]
"""The prompt that asks a model what will come of its answer, which replaces `{answer}`."""

_LONGEST_VALUE = 200


def filled(template: str, text: str, fields: Mapping[str, object]) -> str | None:
    """Return a template with its places filled; None if the event lacks a field.

    `text` are the words up to here, for the place `{text}`.
    """
    parts, end = [], 0
    for place in PLACE.finditer(template):
        found = text if place[1] == TEXT else _value(place[1], fields)
        if found is None:
            return None
        parts += [template[end : place.start()], found]
        end = place.end()
    return "".join([*parts, template[end:]]).strip()


def _value(name: str, fields: Mapping[str, object]) -> str | None:
    is_there, value = conditions.field_value(name, fields)
    if not is_there or value is None or isinstance(value, dict | list):
        return None
    if isinstance(value, bool):
        return "yes" if value else "no"
    # 12.0 hearts are 12; what a sensor sends is one line that steers no terminal.
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    return shown(str(value)[:_LONGEST_VALUE], _LONGEST_VALUE)


def _has_whole_places(template: str) -> str:
    left = PLACE.sub("", template)
    if "{" in left or "}" in left:
        raise PydanticCustomError(
            "places",
            "a field stands in a text as {place}: one brace before and behind its name",
            {"place": "{name}"},
        )
    return template


EventText = Annotated[str, Field(max_length=500), AfterValidator(_has_whole_places)]
"""What an event says that its sensor sent without words, with `{field}` for a field's value."""
