"""What a device sends is said by the template of a pack."""

from collections.abc import Mapping
from typing import Any

import pytest
from pydantic import ValidationError

from schemas.codec import device_texts
from schemas.codec.decode import read_input
from schemas.messages.asks import ModelAsked
from schemas.messages.decisions import Decided
from schemas.messages.sensing import Sensed
from schemas.packs.compiled import CompiledPack
from schemas.packs.event_types import EventType
from tests.factories import heuristic, pack, sensor_record
from tests.scenario import Scenario, one

SAID = "The boiler is at 71.5 degrees"
HOT = heuristic("hot", SAID, "It is hot.", 0.9)
FILLED: Mapping[str, tuple[Mapping[str, Any], str | None]] = {
    "at {temp}": ({"temp": 71.5}, "at 71.5"),
    "at {temp}, {on}": ({"temp": 7, "on": True}, "at 7, yes"),
    "as sent: {temp}": ({"temp": "20.50"}, "as sent: 20.50"),
    "{a.b} {a.c}": ({"a": {"b": "x", "c": 2.0}}, "x 2"),
    "{text}!": ({"temp": 1}, "boiler reading: temp 1!"),
    "is {nothing}": ({"nothing": None}, None),
    "{list}": ({"list": [1, "two"]}, None),
    "{value} degrees": ({"value": 3}, "3 degrees"),
    "{temp} {braces}": ({"temp": 1, "braces": "{temp}"}, "1 {temp}"),
    "It rings": ({"state": "on"}, "It rings"),
    "{temp} and {away}": ({"temp": 1}, None),
    "{deep.b}": ({"deep": 3}, None),
    "": ({"temp": 1}, None),
}


def boiler(template: str = "The boiler is at {temp} degrees") -> CompiledPack:
    """A pack with one heuristic on what its template says."""
    event = {"type": "reading", "source": "boiler", "text": template}
    return pack(HOT, types=(), events=[event, {"type": "bare"}])


def sent(body: bytes | Mapping[str, Any], type_: str = "reading") -> Sensed:
    """What is read of a device's message."""
    read = read_input(sensor_record(body, source="boiler", type_=type_)).message
    assert isinstance(read, Sensed)
    return read


@pytest.mark.parametrize("template", FILLED)
def test_a_template_is_filled_from_the_fields(template: str) -> None:
    """A value stands in its place, in words; what cannot be filled is told plainly."""
    fields, said = FILLED[template]

    found = device_texts.texts(sent(fields), [boiler(template)])

    assert found == (() if said is None else (said,))


@pytest.mark.parametrize(
    ("body", "type_", "said"),
    [
        (b"71.5", "reading", ("The value is 71.5",)),
        (b"it is warm", "reading", ()),
        ({"text": "it is warm", "fields": {"value": 1}}, "reading", ()),
        ({"value": 1}, "bare", ()),
    ],
)
def test_words_of_its_own_are_kept(
    body: Any, type_: str, said: tuple[str, ...]
) -> None:
    """A template speaks for readings and objects of its own type alone."""
    assert (
        device_texts.texts(sent(body, type_), [boiler("The value is {value}")]) == said
    )


@pytest.mark.parametrize(
    "template", ["{", "a } b", "{}", "{a b}", "{{a}}", "{a", "x" * 501]
)
def test_a_template_that_cannot_be_read_is_refused(template: str) -> None:
    """Each brace belongs to the name of a field."""
    with pytest.raises(ValidationError):
        EventType.model_validate({"type": "reading", "text": template})


def test_its_words_are_what_is_matched_and_told() -> None:
    """A condition meets the template's words, and a model is told them."""
    scenario = Scenario(boiler())

    turn = scenario.published("boiler", "reading", {"temp": 71.5, "linkquality": 3})

    assert one(turn, Decided).text == "It is hot."
    asking = Scenario(boiler(), model={"name": "m"}, strategy={"name": "always_llm"})
    asked = one(
        asking.published("boiler", "reading", {"temp": 71.5, "linkquality": 3}),
        ModelAsked,
    )
    assert SAID in asked.prompt
    assert "linkquality" not in asked.prompt.partition(SAID)[0]
