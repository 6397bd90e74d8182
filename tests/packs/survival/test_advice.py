"""How the player takes advice, and what it reports."""

import json
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from packs.survival.sensor import advice
from packs.survival.sensor.advice import Advice, Follower
from packs.survival.sensor.ends import End
from tests.packs.survival.scenes import scene

NOW = datetime(2026, 1, 1, tzinfo=UTC)


def said(decision_id: str = "d1", **changes: Any) -> Advice:
    """Advice as it arrives; `changes` are those of the message."""
    message = {
        "decision_id": decision_id,
        "event_id": "e1",
        "text": "Drink.",
        "type": "suggestion",
        "urgency": 0.5,
        "path": "heuristic",
        "action": {"type": "seek", "target": "water", "params": {}},
        "expires_at": "2026-01-01T00:00:10.000000Z",
    }
    heard = advice.parse(json.dumps(message | changes).encode())
    assert heard is not None
    return heard


@pytest.mark.parametrize(
    "payload",
    [b"", b"hello", b"[]", b"{}", b"\xff", b'{"decision_id": "d", "action": null}'],
)
def test_what_is_no_advice_is_not_read(payload: bytes) -> None:
    """Words without an action, and noise, are no advice; nothing is raised."""
    assert advice.parse(payload) is None


def test_advice_is_followed_as_often_as_the_probability_says() -> None:
    """The draw is keyed: about the given share, and the same ones each time."""
    see = scene("~.@", vitals={"drink": 2})

    def followed() -> list[bool]:
        takes = []
        for number in range(400):
            follower = Follower("7", 0.7)
            follower.hear(said(f"d{number}"), see, NOW)
            takes.append(follower.action is not None)
        return takes

    first = followed()
    assert 0.6 < sum(first) / len(first) < 0.8
    assert first == followed()


def test_a_reached_goal_is_reported_once_as_succeeded() -> None:
    """The report names the decision and its outcome."""
    follower = Follower("7", 1.0)
    follower.hear(said(), scene("~@", vitals={"drink": 8}, facing=(-1, 0)), NOW)
    assert follower.action == "do"

    reports = follower.watch(scene("~@", vitals={"drink": 9}, facing=(-1, 0)))
    reports += follower.watch(scene())

    (report,) = reports
    assert (report.in_reply_to, report.outcome) == ("d1", "succeeded")
    assert report.type == "action_reported"


def test_what_cannot_be_done_is_reported_at_once() -> None:
    """Advice followed in vain gets its report too."""
    island = "###\n#@#\n###"
    (report,) = Follower("7", 1.0).hear(said(), scene(island, vitals={"drink": 1}), NOW)

    assert report.outcome == "failed"


def test_sleep_overrides_advice() -> None:
    """The game replaces every action of a sleeper: neither success nor failure."""
    follower = Follower("7", 1.0)
    (report,) = follower.hear(
        said(), scene("~.@", vitals={"drink": 2}, sleeping=True), NOW
    )

    assert (report.outcome, report.reason) == ("overridden", "the player is asleep")


def test_more_urgent_advice_cancels_what_is_being_tried() -> None:
    """An alert goes before a suggestion; a second suggestion waits in vain."""
    see = scene("~.....@", vitals={"drink": 2}, creatures={"zombie": (2, 0)})
    flight = {"type": "retreat", "target": "zombie"}
    follower = Follower("7", 1.0)
    follower.hear(said("d1"), see, NOW)

    assert follower.hear(said("d2"), see, NOW) == ()
    (report,) = follower.hear(said("d3", type="alert", action=flight), see, NOW)
    assert (report.in_reply_to, report.outcome) == ("d1", "cancelled")


def test_advice_is_given_up_after_a_while() -> None:
    """No goal is tried for ever."""
    follower = Follower("7", 1.0)
    see = scene("~......@", vitals={"drink": 2})
    reports = follower.hear(said(), see, NOW)
    for _ in range(advice.LIMIT):
        reports += follower.watch(see)

    assert [report.reason for report in reports] == ["it took too long"]


def test_stale_and_repeated_advice_is_not_taken() -> None:
    """After its expiry, and a second time, the same decision changes nothing."""
    see = scene("~.@", vitals={"drink": 2})
    follower = Follower("7", 1.0)
    follower.hear(said("late"), see, NOW + timedelta(seconds=11))
    assert follower.action is None

    follower.hear(said("d1"), see, NOW)
    follower.end(End("cancelled", "the session is over"))
    follower.hear(said("d1"), see, NOW)
    assert follower.action is None
