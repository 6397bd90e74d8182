"""`pub` beside a running instance: what is sent, and what is told of it."""

import json
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest

from echoic.client import admission
from echoic.config.load import defaults
from tests.echoic.cli.conftest import DAY_BYTES, Program

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


def test_what_no_event_has_is_kept_and_told(live: Program) -> None:
    """A key that is misspelt would be missed by nobody."""
    ran = live.here("pub", '{"text": "Ding", "saliense": {"threat": 1}}', "--json")
    tail = live.here("log", "tail", "--kind", "sensor", "--json")

    assert ran.code == 0, ran.err
    assert "no event has 'saliense': it is kept, and nothing reads it" in ran.err
    assert "saliense" in tail.out


def test_a_name_with_a_line_break_is_refused(live: Program) -> None:
    """Two names that somebody joined are not a third one."""
    ran = live.here("pub", "hello", "--person", "a\nb")

    assert ran.code == 2
    assert "control characters" in ran.err


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


def test_a_source_that_has_sent_its_day_is_refused(live: Program) -> None:
    """What fitted is sent; the exit status and the words tell what was not."""
    live.spend("full.cam", DAY_BYTES - 1_000)
    lines = "".join(f'{{"text": "{"x" * 600}"}}\n' for _ in range(3))
    full = ("--agent", "full", "--source", "cam")

    ran = live.here("pub", "-", *full, stdin=lines)
    other = live.here("pub", "hello", "--agent", "full")

    assert ran.code == 1
    assert "1 published, not the one that follows" in ran.err
    assert "full.cam is refused: 8,192.0 MB today, intake.day_mb allows" in ran.err
    assert other.code == 0, other.err


def test_the_bytes_of_a_day_are_of_one_day(tmp_path: Path) -> None:
    """Over all who count in one folder; a torn note, and a day's end, forget."""
    settings = replace(defaults(), data=tmp_path, intake_day_mb=1)
    noon = datetime(2026, 11, 27, 12, tzinfo=UTC).timestamp()
    folder = admission.noted_in(settings)
    folder.mkdir()

    admission.take_of_day(settings, "ada.cam", 600_000, noon)
    admission.take_of_day(settings, "ada.mic", 600_000, noon)
    admission.take_of_day(settings, "ada.cam", 400_000, noon)
    with pytest.raises(admission.OverDayError, match=r"1\.0 MB today") as refused:
        admission.take_of_day(settings, "ada.cam", 1, noon)
    admission.take_of_day(settings, "ada.cam", 1_000_000, noon + 43_200)
    (folder / "intake.json").write_bytes(b"{torn")
    admission.take_of_day(settings, "ada.cam", 1_000_000, noon + 43_200)

    assert refused.value.wait_s == 43_200
    gone = replace(settings, data=tmp_path / "away")
    admission.take_of_day(gone, "ada.cam", 2_000_000, noon)
