"""Data for an action of a game: it fits, or there is none."""

import json
from random import Random
from typing import Any

import pytest

pytest.importorskip("websockets", reason="the extra `engine` is not installed")

from echoic.doors.neuro import choosing, messages
from echoic.doors.neuro.choosing import Choice
from echoic.doors.neuro.messages import GameAction

CARD = {
    "type": "object",
    "properties": {
        "card": {"type": "string", "enum": ["ace", "king"]},
        "count": {"type": "integer", "minimum": 1, "maximum": 3},
    },
    "required": ["card", "count"],
}


def action(form: Any = None, name: str = "play") -> GameAction:
    """An action with this schema."""
    return GameAction.model_validate({"name": name, "schema": form})


@pytest.mark.parametrize(
    "form",
    [
        CARD,
        {"type": "object", "properties": {"x": {"type": "number"}}},
        {"type": "object", "required": ["x"], "properties": {"x": {"const": [1]}}},
        {
            "type": "object",
            "required": ["x", "y", "z", "a", "b"],
            "properties": {
                "x": {"type": "number", "exclusiveMinimum": 2.5, "maximum": 3},
                "y": {"type": "array", "items": {"type": "boolean"}, "minItems": 3},
                "z": {"anyOf": [{"type": "null"}, {"type": "string", "minLength": 4}]},
                "a": {"type": ["integer", "string"]},
                "b": {"type": "integer", "multipleOf": 5, "minimum": 7},
            },
        },
        {"type": "object"},
    ],
)
def test_what_chance_makes_fits(form: Any) -> None:
    """For every seed, and it is JSON of an object."""
    for seed in range(20):
        made = choosing.by_chance([action(form)], [], Random(seed))
        assert made is not None
        assert made.data is not None
        assert choosing.fits(action(form), json.loads(made.data))


@pytest.mark.parametrize(
    "form",
    [
        {"type": "nonsense"},
        {"type": "object", "required": ["x"]},
        {"type": "object", "properties": {"x": False}, "required": ["x"]},
        {"type": "object", "not": {}},
        {"$ref": "http://127.0.0.1:1/evil"},
        {"$ref": "#"},
        {"type": "object", "minProperties": "many"},
        {"type": "array", "minItems": "x"},
        {"type": "array", "items": {"type": "array", "minItems": 10**9}, "minItems": 1},
        {"enum": []},
        {"type": []},
    ],
)
def test_of_what_cannot_be_there_is_no_choice(form: Any) -> None:
    """Neither an error, nor a fetch, nor work without an end."""
    assert choosing.by_chance([action(form)], [], Random(1)) is None


def test_a_pattern_of_the_games_is_left_to_the_game() -> None:
    """One made to take for ever would stop everybody."""
    form = {
        "type": "object",
        "properties": {"x": {"type": "string", "pattern": "(a+)+$"}},
        "required": ["x"],
    }

    assert choosing.fits(action(form), {"x": "a" * 50 + "b"})


def test_what_was_refused_is_not_tried_again() -> None:
    """Of three that there are each comes once."""
    form = {
        "type": "object",
        "properties": {"n": {"enum": [1, 2, 3]}},
        "required": ["n"],
    }
    refused: list[Choice] = []
    for seed in range(3):
        made = choosing.by_chance([action(form)], refused, Random(seed))
        assert made is not None
        refused.append(made)

    assert {each.data for each in refused} == {'{"n": 1}', '{"n": 2}', '{"n": 3}'}
    assert choosing.by_chance([action(form)], refused, Random(9)) is None


@pytest.mark.parametrize(
    ("said", "chosen"),
    [
        ({"action": {"type": "play", "params": {"card": "ace", "count": 2}}}, True),
        ({"action": {"type": "play", "params": {"card": "two", "count": 2}}}, False),
        ({"action": {"type": "other", "params": {}}, "text": "play"}, False),
        (
            {"text": 'I choose {"name": "play", "data": {"card": "ace", "count": 2}}'},
            True,
        ),
        ({"text": '{"name": "play", "data": {"card": "ace"}}'}, False),
        ({"text": '{"name": "pass"}'}, True),
        ({"text": "pass"}, True),
        ({"text": "}{"}, False),
        ({"text": "{" * 5_000}, False),
        ({}, False),
    ],
)
def test_an_answer_is_read(said: dict[str, Any], chosen: bool) -> None:
    """By its action, or by JSON in its text; and only if it can be done."""
    actions = {"play": action(CARD), "pass": action(name="pass")}

    assert (choosing.by_answer(said, actions) is not None) == chosen


@pytest.mark.parametrize(
    "text",
    [
        b'{"command": "startup", "game": "G"}',
        "[]",
        "{",
        '{"command": "startup"}',
        '{"command": "speak", "game": "G"}',
        '{"command": "context", "game": "G"}',
        '{"command": "context", "game": "G", "data": {"message": 5}}',
        '{"command": "actions/force", "game": "G", "data": {"query": "x", "action_names": []}}',
        '{"command": "actions/register", "game": "G", "data": {"actions": [{"name": ""}]}}',
        '{"command": "startup", "game": ' + "[" * 500 + "]" * 500 + "}",
        '{"command": "startup", "game": NaN}',
    ],
)
def test_what_is_no_message_is_refused(text: str | bytes) -> None:
    """As an error that the seat passes over."""
    with pytest.raises(ValueError, match=r"."):
        messages.read(text)
