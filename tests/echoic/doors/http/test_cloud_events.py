"""CloudEvents, structured and binary, as the events that they are."""

import base64
from typing import Any

import pytest

from echoic.doors.http import cloud_events
from echoic.doors.http.problems import ProblemError

NAMED = {
    "specversion": "1.0",
    "id": "1",
    "source": "/home/kitchen",
    "type": "org.example.oven",
}
PLAIN = {"event_id": "1", "source": "kitchen", "type": "oven"}


def encoded(data: bytes) -> str:
    return base64.b64encode(data).decode()


@pytest.mark.parametrize(
    ("event", "expected"),
    [
        ({"data": "done"}, {"text": "done"}),
        ({"data": {"text": "done", "urgency": 1}}, {"text": "done", "urgency": 1}),
        (
            {"data": {"celsius": 21}},
            {"text": "kitchen oven: celsius 21", "fields": {"celsius": 21}},
        ),
        ({"data": 21.5}, {"text": "kitchen oven: 21.5", "fields": {"value": 21.5}}),
        ({"data_base64": encoded(b"done")}, {"text": "done"}),
        ({"data_base64": encoded(b'{"text": "done"}')}, {"text": "done"}),
    ],
)
def test_data_is_text_fields_or_a_devices_own(
    event: dict[str, Any], expected: dict[str, Any]
) -> None:
    """Also in base 64, as libraries send bytes."""
    assert cloud_events.plain({**NAMED, **event}) == {**expected, **PLAIN}


@pytest.mark.parametrize("data", ["%%%", encoded(b"\xff\xfe")])
def test_data_that_is_no_text_is_named(data: str) -> None:
    """It is not in base 64, or no UTF-8."""
    with pytest.raises(ProblemError):
        cloud_events.plain({**NAMED, "data_base64": data})


def test_in_binary_mode_the_headers_say_what_it_is() -> None:
    """Percent-encoded, as the HTTP binding has it."""
    headers = {f"ce-{name}": value for name, value in NAMED.items()}
    headers["ce-subject"] = "K%C3%BCche"

    assert cloud_events.is_binary(headers)
    assert not cloud_events.is_binary({"ce-id": "1"})
    assert cloud_events.attributes(headers) == {**NAMED, "subject": "Küche"}


@pytest.mark.parametrize(
    ("named", "read"),
    [
        ({"type": "org.example.oven.v2"}, {"type": "oven"}),
        ({"type": "oven.V10"}, {"type": "oven"}),
        ({"type": "org.example.v2x"}, {"type": "v2x"}),
        ({"type": "v2"}, {"type": "v2"}),
        ({"source": "https://example.org/kitchen/"}, {"source": "kitchen"}),
        ({"source": "kitchen"}, {"source": "kitchen"}),
    ],
)
def test_a_name_is_the_last_that_says_what_it_is(
    named: dict[str, str], read: dict[str, str]
) -> None:
    """Neither a version of its type nor nothing behind a slash."""
    told = cloud_events.plain({**NAMED, "data": "done", **named})

    assert told == {**PLAIN, "text": "done", **read}
