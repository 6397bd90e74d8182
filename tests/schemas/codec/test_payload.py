"""What devices send that know nothing of events, and what becomes of it."""

import orjson
import pytest
import typer

from echoic.cli.feedback import _reported
from schemas.codec.decode import read_input
from schemas.codec.envelope import Unreadable
from schemas.messages.sensing import Sensed
from tests.factories import record


def read(
    body: object, source: str = "lamp", type_: str = "state"
) -> Sensed | Unreadable:
    data = body.encode() if isinstance(body, str) else orjson.dumps(body)
    message = read_input(record(f"ev.3.in.ada.sensor.{source}.{type_}", data)).message
    assert isinstance(message, Sensed | Unreadable)
    return message


@pytest.mark.parametrize(
    ("body", "fields"),
    [
        ('{"Temperature": nan, "Humidity": 40}', {"Temperature": None, "Humidity": 40}),
        ('{"DHT11":{"Temperature":NaN},"Unit":"C"}',
         {"DHT11": {"Temperature": None}, "Unit": "C"}),
        ('{"a": [-inf, Infinity,1], "b": "x: nan, y"}',
         {"a": [None, None, 1], "b": "x: nan, y"}),
        ('{"text": "x", "fields": {"n": nan}}', None),
        ('{"a": nano}', None),
        ('{"a": nan', None),
        ('{"a": 1,}', None),
    ],
)  # fmt: skip
def test_what_a_device_writes_for_no_number_is_none(
    body: str, fields: dict[str, object] | None
) -> None:
    """Its other readings arrive; whoever writes events is held to JSON."""
    event = read(body)

    assert (event.fields if isinstance(event, Sensed) else None) == fields


@pytest.mark.parametrize(
    ("payload", "text"),
    [
        (
            {"state": "on", "brightness": 120, "linkquality": 87},
            "lamp state: state on, brightness 120, linkquality 87",
        ),
        ({"occupancy": True, "tamper": False}, "lamp state: occupancy yes, tamper no"),
        (
            {"temperature": 21.5, "unit_of_measurement": "°C"},
            "lamp state: temperature 21.5 °C",
        ),
        ({"power": None}, "lamp state: power unknown"),
        ({"value": "unavailable"}, "lamp state: value unavailable"),
        (
            {"ENERGY": {"Power": 5, "Total": [1, 2]}, "Time": "2026-11-26T07:00:00"},
            "lamp state: ENERGY Power 5, ENERGY Total 1, 2, Time 2026-11-26T07:00:00",
        ),
        (
            {"source": "init", "type": "x", "output": False},
            "lamp state: source init, type x, output no",
        ),
    ],
)
def test_a_devices_object_is_an_event(payload: dict[str, object], text: str) -> None:
    """Its values are the fields, and the text names them."""
    event = read(payload)

    assert isinstance(event, Sensed)
    assert (event.text, event.fields) == (text, payload)


@pytest.mark.parametrize(
    ("body", "text", "value"),
    [
        ("21.5", "lamp state: 21.5", 21.5),
        (" -3 °C\n", "lamp state: -3 °C", -3),
        ("87%", "lamp state: 87%", 87),
        ("true", "lamp state: yes", True),
        ("unavailable", "lamp state: unavailable", "unavailable"),
    ],
)
def test_a_bare_reading_is_a_value(body: str, text: str, value: object) -> None:
    """With its unit in the text alone."""
    event = read(body)

    assert isinstance(event, Sensed)
    assert (event.text, event.fields) == (text, {"value": value})


@pytest.mark.parametrize(
    "body",
    [
        "The oven is on",
        "12 o'clock",
        "7 eggs are left",
        "007",
        "5 6",
        "1\u0665",
        "0.\u0665",
    ],
)
def test_words_stay_words(body: str) -> None:
    """And whatever a person says does."""
    for event in (
        read(body),
        read(body, "user", "message"),
        read("5", "user", "message"),
    ):
        assert isinstance(event, Sensed)
        assert event.text in (body, "5")
        assert event.fields == {}


@pytest.mark.parametrize(
    "body",
    [{}, {"outcome": "succeeded"}, {"fields": {"a": 1}}, {"salience": {"threat": 1}}],
)
def test_an_event_without_its_text_is_still_refused(body: dict[str, object]) -> None:
    """Whoever writes an event hears that something is missing."""
    assert isinstance(read(body), Unreadable)


def test_the_text_of_a_large_object_is_short() -> None:
    """It stays within what a text may have; the fields have a limit of their own."""
    event = read({f"{'k' * 400}{number}": "x" * 100 for number in range(60)})

    assert isinstance(event, Sensed)
    assert len(event.text) < 2_100


def test_a_mapped_topic_is_said_in_its_own_words() -> None:
    """As the device knows it."""
    event = read({"state": "on"}, "lamp", "Living_x0020_Room")

    assert isinstance(event, Sensed)
    assert event.text == "lamp Living Room: state on"


@pytest.mark.parametrize(
    ("told", "known"),
    [
        ("succeeded", "succeeded"),
        ("success", "succeeded"),
        ("fail", "failed"),
        ("failure", "failed"),
        ("cancelled", "cancelled"),
        ("overridden", "overridden"),
    ],
)
def test_an_outcome_has_one_name_at_every_door(told: str, known: str) -> None:
    """Of a sensor's event, whatever carries it, and of the command; others are taken."""
    event = read({"text": "It ended.", "outcome": told})

    assert isinstance(event, Sensed)
    assert event.outcome == known
    assert _reported(told) == known
    with pytest.raises(typer.BadParameter, match="succeeded, failed, overridden, canc"):
        _reported(f"{told}!")
    odd = read({"text": "It ended.", "outcome": f"{told}!"})
    assert isinstance(odd, Unreadable)
