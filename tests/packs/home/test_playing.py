"""A day of the home: the same each time, and it reacts to what is said."""

import json
import subprocess
import sys
from itertools import pairwise
from pathlib import Path
from uuid import UUID

import pytest

from packs.home.sensor.main import main
from packs.home.sensor.situation import PEOPLE, Situation
from schemas.messages.sensing import Sensed
from tests.packs.home.days import BASE, SEEDS, advice, event_of, events, lived

SENSOR = Path(__file__).parents[3] / "packs" / "home" / "sensor"


def of_type(sent: tuple[Sensed, ...], *types: str) -> list[Sensed]:
    """The events of some types."""
    return [each for each in sent if each.type in types]


def reports(seed: int, *said: str) -> list[tuple[str, str | None]]:
    """Type and outcome of what was reported when something was said."""
    sent, _ = lived(seed, advice(*said))
    events = map(event_of, (each for each in sent if "feedback" not in each.subject))
    return [(each.type, each.outcome) for each in events if each.in_reply_to]


@pytest.mark.parametrize("seed", SEEDS)
def test_the_same_seed_is_the_same_day(seed: int) -> None:
    """Byte for byte, ids and all; another seed is another day."""
    first, again, other = lived(seed)[0], lived(seed)[0], lived(seed + 1)[0]

    assert first == again
    assert [each.body for each in first] != [each.body for each in other]


@pytest.mark.parametrize("seed", SEEDS)
def test_a_day_tells_events_that_echoic_can_read(seed: int) -> None:
    """Each has a UUIDv7, words that end, and a time of this day in order."""
    sent, played = lived(seed)
    told = events(seed)
    times = [each.occurred_at for each in told if each.occurred_at]
    ids = {each.headers["ce-id"] for each in sent}

    assert len(ids) == len(sent) == played.events
    assert all(UUID(id_).version == 7 for id_ in ids)
    assert {each.source for each in told} == {"home", "user"}
    assert all(each.text[-1] in ".!?" for each in told)
    assert times == sorted(times)
    assert times[0] == BASE
    assert (times[-1] - BASE).total_seconds() == 24 * 3600 - 1
    # A session lapses after half an hour without an event.
    assert max((b - a).total_seconds() for a, b in pairwise(times)) <= 1200


@pytest.mark.parametrize("seed", SEEDS)
def test_people_are_somewhere(seed: int) -> None:
    """All wake up, somebody is out at noon, and the guest is gone by night."""
    now, seen = Situation(), []
    for each in events(seed):
        assert each.occurred_at is not None
        now = now.after(each, (each.occurred_at - BASE).total_seconds())
        seen.append(now)

    assert any(not each.home() for each in seen)
    assert any(set(each.awake()) == set(PEOPLE) for each in seen)
    assert now.home() == ("ada", "ben")
    assert now.awake() == ()
    assert now.unwanted == {"weather"}


def test_advice_has_an_effect() -> None:
    """The oven is switched off, once, as the outcome of the advice; nobody does it later."""
    sent, played = lived(7, advice("oven_still_on", "turn-off", "oven"))
    off = [
        each
        for each in (event_of(one) for one in sent if "feedback" not in one.subject)
        if each.type == "oven_changed" and each.fields["on"] is False
    ]
    alone = of_type(events(7), "oven_changed")

    assert played.outcomes.count("succeeded") == 1
    assert [each.outcome for each in off] == [None, "succeeded"]
    assert sum(each.fields["on"] is False for each in alone) == 2


def test_several_windows_are_one_report() -> None:
    """All are closed one after another, the last closes the report; no rain comes in."""
    assert reports(7, "weather_warning", "close", "window") == [
        ("window_changed", "succeeded")
    ]
    sent, _ = lived(7, advice("window_at_risk", "close", "window"))
    types = [each.subject.split(".")[3] for each in sent]
    assert types.count("rain_came_in") == 1  # at lunch


def test_advice_in_vain_is_reported() -> None:
    """Nobody is there to hear it, or it is done already."""
    rain = reports(4, "rain_began", "close", "window")
    oven = reports(7, "dishwasher_finished", "turn-off", "oven")

    assert ("action_reported", "failed") in rain
    assert oven == [("action_reported", "cancelled")]


def test_who_does_not_follow_changes_nothing() -> None:
    """The day goes by its plan."""
    sent, played = lived(7, advice("oven_still_on", "turn-off", "oven"), follow=0.0)

    assert played.outcomes == ()
    assert [event_of(each) for each in sent] == list(events(7))


def test_a_leak_gets_somebody_up() -> None:
    """Whoever is told at night gets up, turns the water off, and sleeps again."""
    sent, _ = lived(4, advice("leak_detected", "stop", "leak"))
    told = [event_of(each) for each in sent if "feedback" not in each.subject]
    leak = next(i for i, each in enumerate(told) if each.type == "leak_detected")
    after = [
        (each.type, each.fields.get("asleep"))
        for each in told[leak + 1 : leak + 8]
        if each.type in ("user_state", "leak_stopped")
    ]

    assert after[:3] == [
        ("user_state", False),
        ("leak_stopped", None),
        ("user_state", True),
    ]


def test_who_is_woken_votes_against_it() -> None:
    """Votes are on the decision, and on its timing."""
    sent, played = lived(1, advice("rain_began", "", "", kind="suggestion"))
    votes = [json.loads(each.body) for each in sent if "feedback" in each.subject]

    assert played.votes == len(votes) > 0
    assert votes[0]["rating"] == "negative"
    assert votes[0]["aspect"] == "timing"
    assert votes[0]["decision_id"].startswith("decision-")


def test_the_same_decision_twice_is_heard_once() -> None:
    """Delivery is at-least-once."""

    def again(event: Sensed, id_: str) -> bytes | None:
        action = {"type": "turn-off", "target": "oven"}
        return json.dumps({"decision_id": "d", "action": action}).encode()

    _, played = lived(7, again)

    assert played.heard > 1
    assert played.outcomes == ()  # at midnight no oven was on


def test_garbage_on_a_channel_is_no_advice() -> None:
    """What is none of the companion's changes nothing."""
    _, played = lived(7, lambda event, id_: b'["x"]')

    assert played.heard == 0


def test_it_runs_by_path(tmp_path: Path) -> None:
    """From any folder the sensor writes a day as lines of JSON, the same each time."""
    for name in ("a", "b"):
        subprocess.run(
            [sys.executable, SENSOR, "--agent", "anna", "--out", name, "--pace", "0",
             "--day", "2026-11-20", "--run", "r"],
            cwd=tmp_path,
            capture_output=True,
            check=True,
        )  # fmt: skip
    lines = (tmp_path / "a").read_text().splitlines()

    assert json.loads(lines[0])["subject"] == "in.anna.home.day_began"
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()


def test_a_broker_that_is_away_is_named(capsys: pytest.CaptureFixture[str]) -> None:
    """The error says where it looked and what to do, without a traceback."""
    assert main(["--agent", "anna", "--url", "nats://127.0.0.1:1"]) == 1
    assert "nats://127.0.0.1:1" in capsys.readouterr().err
