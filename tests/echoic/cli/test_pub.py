"""`pub` beside a running instance: what is sent, and what is told of it."""

import json

import pytest

from echoic.client import admission
from tests.echoic.cli.conftest import Program

pytestmark = [pytest.mark.services, pytest.mark.timeout(240)]


def test_the_exit_status_tells_what_was_quarantined(
    live: Program, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also without waiting for the decisions, of what no door could have known."""
    monkeypatch.setattr(admission, "refused", lambda *_: None)
    lines = '{"text": "fine"}\n{"text": 3}\n'

    ran = live.here("pub", "-", "--agent", "kept", "--json", stdin=lines)

    assert ran.code == 1, ran.err
    *accepted, refused = map(json.loads, ran.out.splitlines())
    assert [each["accepted"] for each in accepted] == [True, True]
    assert refused["accepted"] is False
    assert refused["event_id"] == accepted[1]["event_id"]
    assert "quarantined (invalid): text" in refused["reason"]


def test_options_hold_for_what_stdin_says(live: Program) -> None:
    """`pub -` hears a person as `pub TEXT` does, and a JSON argument is an event."""
    said = live.here(
        "pub", "-", "--person", "bob", "--agent", "heard", "--wait", "--json",
        stdin="remind me at nine to call\n",
    )  # fmt: skip
    told = live.here(
        "pub", '{"text": "Ding", "source": "door", "type": "bell"}', "--agent", "heard",
        "--wait", "--json",
    )  # fmt: skip
    tail = live.here("log", "tail", "--agent", "heard", "--kind", "sensor", "--json")

    assert said.code == told.code == 0, said.err + told.err
    assert '"person":"bob"' in tail.out.replace(" ", "").replace("\\", "")
    assert "in.heard.sensor.door.bell" in tail.out
