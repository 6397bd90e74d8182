"""The clients for game engines, read as text: no Unity and no Godot are at hand to run them.

Every message that they build is a literal with `message` in it, and every field that they
read is looked up by a literal name; both are held against the bridge's schema.
"""

import re
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from echoic.doors.engines import messages, seat

CLIENTS = Path(__file__).parents[3] / "packs" / "golem" / "clients"
MOST_LINES = 149

LITERALS = {
    "EchoicClient.cs": re.compile(r"new JObject \{(.*?)\}", re.DOTALL),
    "echoic_client.gd": re.compile(r"_(?:keep|send)\(\{(.*?)\}\)", re.DOTALL),
}
"""The objects that a client builds."""
KEYS = {
    "EchoicClient.cs": re.compile(r'\["(\w+)"\] = ("\w+"|)'),
    "echoic_client.gd": re.compile(r'"(\w+)": ("\w+"|)'),
}
"""A key of such an object, and its value if that is a text."""
HEARD = {
    "EchoicClient.cs": re.compile(r'case "(\w+)":'),
    "echoic_client.gd": re.compile(r'^\t\t"(\w+)":$', re.MULTILINE),
}
"""The messages that a client knows."""
READ = re.compile(r'heard(?:\["|\.get\(")(\w+)"')
"""The fields that it reads of them."""

GIVEN: dict[str, Any] = {
    "id": "x-1",
    "type": "heard",
    "text": "Something happened.",
    "fields": {"hunger": 3},
    "in_reply_to": "a decision",
    "outcome": "succeeded",
    "reason": "",
}
"""What the arguments of a client's functions may be."""

NAMES = sorted(LITERALS)
SCHEMA = messages.schema()


def direction(name: str) -> jsonschema.Draft202012Validator:
    """A validator of the messages of one direction."""
    return jsonschema.Draft202012Validator(
        {**SCHEMA, "anyOf": [{"$ref": f"#/$defs/{name}"}]}
    )


def source(name: str) -> str:
    """A client's text."""
    return (CLIENTS / name).read_text()


def sent(name: str) -> list[dict[str, Any]]:
    """The messages that a client sends."""
    made = []
    for literal in LITERALS[name].findall(source(name)):
        pairs = KEYS[name].findall(literal)
        if pairs:
            made.append({k: v.strip('"') if v else GIVEN[k] for k, v in pairs})
    return made


def known(direction_: str) -> dict[str, set[str]]:
    """Each message of a direction with its fields."""
    mapping = SCHEMA["$defs"][direction_]["discriminator"]["mapping"]
    return {
        message: set(SCHEMA["$defs"][reference.rpartition("/")[2]]["properties"])
        for message, reference in mapping.items()
    }


@pytest.mark.parametrize("name", NAMES)
def test_a_client_is_short(name: str) -> None:
    """One sits down and reads it."""
    assert len(source(name).splitlines()) <= MOST_LINES


@pytest.mark.parametrize("name", NAMES)
def test_what_a_client_sends_fits_the_schema(name: str) -> None:
    """Reports, bodies, other events and what was taken: all that an engine may send."""
    made = sent(name)

    for message in made:
        direction("from_engine").validate(message)
    assert {each["message"] for each in made} == set(known("from_engine"))
    events = [each for each in made if each["message"] == "event"]
    assert [each["type"] for each in events] == ["completed", "body", "heard"]
    assert {"in_reply_to", "outcome", "reason"} <= set(events[0])
    assert all("fields" in each for each in events[1:])


@pytest.mark.parametrize("name", NAMES)
def test_a_client_knows_every_message_and_no_other(name: str) -> None:
    """And reads no field that none of them has."""
    text, heard = source(name), known("to_engine")

    assert set(HEARD[name].findall(text)) == set(heard)
    assert set(READ.findall(text)) - {"message"} <= set().union(*heard.values())
    assert str(seat.REPLACED) in text


@pytest.mark.parametrize("name", NAMES)
def test_the_outcomes_that_a_client_names_are_the_schemas(name: str) -> None:
    """Above the function that reports."""
    (line,) = re.findall(r"Tell how an action ended: (.*)\.", source(name))
    properties = SCHEMA["$defs"]["Event"]["properties"]
    allowed = properties["outcome"]["anyOf"][0]["enum"]

    assert re.findall(r'"(\w+)"', line) == allowed


@pytest.mark.parametrize(
    ("wrong", "right"), [("outcome", "result"), ("message", "op"), ("id", "uuid")]
)
def test_a_client_with_another_key_would_be_found(wrong: str, right: str) -> None:
    """The check is none that everything passes."""
    (report, *_) = sent("EchoicClient.cs")
    renamed = {right if key == wrong else key: value for key, value in report.items()}

    with pytest.raises(jsonschema.ValidationError):
        direction("from_engine").validate(renamed)
