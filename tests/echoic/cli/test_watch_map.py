"""`echoic watch --map`, of a recording: it needs no instance."""

import re

import pytest

from tests.echoic.cli.conftest import Program
from tests.echoic.cli.terminal import Terminal

pytestmark = [pytest.mark.services, pytest.mark.timeout(240)]

RECORDING = "packs/village/recording/emil.echoic"


def test_a_pipe_gets_one_look(echoic: Program) -> None:
    """At a time of the recording's day; programs get the same as JSON."""
    ran = echoic.here("watch", "--map", RECORDING, "--at", "12:00")
    found = echoic.here("watch", "--map", RECORDING, "--at", "12:00", "--json").json

    assert "12:00:00 · day" in ran.out
    assert "emil: wander reflex" in ran.out
    (emil,) = found["characters"]
    assert (emil["agent"], emil["doing"], emil["layer"]) == ("emil", "wander", "reflex")
    assert "\x1b" not in ran.out


def test_only_a_map_is_of_recordings(echoic: Program) -> None:
    """What is decided live has no file, and an empty folder has no recording."""
    without, empty = echoic.here("watch", RECORDING), echoic.here("watch", "--map", ".")

    assert (without.code, empty.code) == (2, 2)
    assert "echoic watch --map" in without.err
    assert "no recording" in empty.err


def test_it_plays_in_a_terminal_until_q(echoic: Program) -> None:
    """And leaves the terminal as it was."""
    terminal = Terminal(echoic, "watch", "--map", RECORDING, "--speed", "600")
    try:
        terminal.until("emil: ")
        terminal.write(b"+ q")
        assert terminal.end() == 0
    finally:
        terminal.stop()
    assert "\x1b[?1049l" in terminal.text  # the alternate screen was left


def test_a_recording_is_filmed_and_counted(echoic: Program) -> None:
    """One page, and how many decisions needed a model."""
    ran = echoic.here(
        "session", "film", RECORDING, "-o", "day.html", "--title", "A <day>"
    )
    counted = echoic.here("session", "shares", RECORDING, "--json").json["agents"][
        "emil"
    ]
    page = (echoic.folder / "day.html").read_text(encoding="utf-8")

    assert ran.out.strip() == "day.html"
    assert "1 character" in ran.err
    assert len(page.encode()) < 2_000_000
    assert "<title>A &lt;day&gt;</title>" in page
    assert not re.search(r"(src|href)=\"https?:", page)
    assert counted["layers"] == {"reflex": 345, "talker": 745}
    assert counted["without_model"] == pytest.approx(345 / 1_090, abs=1e-6)
    assert counted["model_calls"] == 745
    assert counted["calls_an_hour"] == pytest.approx(745 / 24, abs=0.1)
