"""How hints name the program, and what a moment may be called."""

import shutil
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from echoic.cli.moments import moment
from echoic.errors import EchoicError
from echoic.terminal.called import as_typed, program
from echoic.terminal.output import plain

NOON = datetime(2026, 11, 21, 12, 0, tzinfo=UTC)


@pytest.fixture(autouse=True)
def _asked_anew() -> None:
    program.cache_clear()


def test_a_hint_can_be_typed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where the program is not on the path, its script is named; else its name does."""
    script = Path(sys.executable).with_name("echoic")
    monkeypatch.setattr(shutil, "which", lambda _: None)
    monkeypatch.chdir(script.parents[1])
    apart = as_typed("no instance runs: echoic up --detach, see `echoic doctor`")

    program.cache_clear()
    monkeypatch.setattr(shutil, "which", lambda _: str(script))

    assert apart == "no instance runs: bin/echoic up --detach, see `bin/echoic doctor`"
    assert as_typed("echoic doctor") == "echoic doctor"


def test_only_commands_are_written_out(monkeypatch: pytest.MonkeyPatch) -> None:
    """Names of folders, versions and other programs stay what they are."""
    monkeypatch.setattr(shutil, "which", lambda _: None)

    for text in (
        "echoic 0.1.0 is up",
        "~/echoic up",
        "pip install echoic",
        "my-echoic up",
    ):
        assert as_typed(text) == text


@pytest.mark.parametrize(
    ("text", "back"),
    [
        ("now", timedelta()),
        ("5 minutes ago", timedelta(minutes=5)),
        ("8h", timedelta(hours=8)),
        ("1.5 hours ago", timedelta(hours=1.5)),
        ("90s", timedelta(seconds=90)),
        ("2026-11-21T11:00:00Z", timedelta(hours=1)),
    ],
)
def test_a_moment_may_be_said_in_many_ways(text: str, back: timedelta) -> None:
    """So long ago, a time in full, or now."""
    assert moment(text, "--at", NOON) == NOON - back


def test_a_time_of_day_is_the_last_one() -> None:
    """Ten o'clock is today's, or yesterday's where today's is still to come."""
    here = NOON.astimezone()
    earlier, later = here - timedelta(hours=2), here + timedelta(hours=2)

    assert moment(f"{earlier:%H:%M}", "--at", NOON) == earlier
    assert moment(f"{later:%H:%M}", "--at", NOON) == later - timedelta(days=1)


@pytest.mark.parametrize("text", ["noon", "25:00", "-3", "1e99d", "", "2099-01-01"])
def test_what_is_no_moment_is_told(text: str) -> None:
    """The error names the flag."""
    with pytest.raises(EchoicError, match="--at"):
        moment(text, "--at", NOON)


def test_json_has_times_and_numbers_without_noise() -> None:
    """ISO 8601 in UTC, six decimals, and nothing that is no JSON."""
    assert plain({"at": NOON, "n": (0.1 + 0.2, 3, 1.23456789e-8, float("nan"))}) == {
        "at": "2026-11-21T12:00:00.000000Z",
        "n": [0.3, 3, 1.23457e-8, None],
    }
