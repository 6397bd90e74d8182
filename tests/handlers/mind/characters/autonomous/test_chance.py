"""An autonomous character without a model: when it decides, and what it draws."""

from collections import Counter
from datetime import timedelta
from typing import Any

import pytest
from pydantic import ValidationError

from schemas.messages.asks import DeliveryAsked, WakeupSet
from schemas.messages.decisions import Decided
from schemas.messages.results import ClockTicked
from schemas.packs.autonomous import Autonomous
from schemas.packs.characters import CharacterMind
from tests.handlers.mind.characters.autonomous.cafe import (
    ACTIONS,
    body,
    cafe,
    due,
    golem,
    known,
    report,
)
from tests.scenario import Scenario, decision_id, names, one, said


def test_it_waits_its_interval_and_then_acts() -> None:
    """30 to 120 s after it was done with anything, with exact odds and the draw."""
    scenario = golem()
    at = one(body(scenario), WakeupSet).due_at
    assert at is not None
    assert 30 <= (at - scenario.at).total_seconds() <= 121

    turn = due(scenario)
    decided, asked = one(turn, Decided), one(turn, DeliveryAsked)
    assert decided.arm.startswith("random:")
    assert (decided.path, decided.layer, decided.timer) == (
        "autonomous",
        "autonomous",
        "think",
    )
    assert decided.draw is not None
    assert asked.channel == "act"
    assert asked.action is not None
    assert decided.arm == f"random:{asked.action.type}"
    # Nothing begins while it goes on, though it is told when that would be over.
    assert scenario.mind.character.due is not None


def test_the_odds_are_the_weights_of_what_is_possible() -> None:
    """No claw machine is near: the arcade has all that games weigh."""
    scenario = golem()
    body(scenario)
    decided = one(due(scenario), Decided)
    odds = {each.arm: round(each.probability, 6) for each in decided.candidates}
    assert odds == {
        "random:MoveToLocation": 0.4,
        "random:SitAtChair": 0.15,
        "random:LookAt": 0.2,
        "random:PlayArcade": 0.1,
        "random:PlayClaw": 0.0,
        "random:Wave": 0.15,
    }
    (claw,) = (each for each in decided.candidates if each.arm == "random:PlayClaw")
    assert (claw.eligible, claw.reason) == (
        False,
        "there is nothing near to do it with",
    )


def test_the_weights_are_kept_over_many_draws() -> None:
    """A hundred decisions, each reported done at once; never thrice the same."""
    scenario = golem()
    turn = body(scenario)
    counts: Counter[str] = Counter()
    row: list[str] = []
    for _ in range(100):
        turn = due(scenario)
        row.append(one(turn, Decided).arm)
        counts[row[-1]] += 1
        report(scenario, turn)
    assert all(len(set(row[n : n + 3])) > 1 for n in range(len(row) - 2))
    # Less than .4: it is held back after two in a row.
    assert 0.25 < counts["random:MoveToLocation"] / 100 < 0.45
    assert 0.1 < counts["random:LookAt"] / 100 < 0.32
    assert known(scenario).count == 100
    assert len(known(scenario).acts) == 10


def test_the_interval_begins_when_the_action_is_over() -> None:
    """By the world's report, or by its time."""
    scenario = golem(interval={"least_s": 40, "most_s": 40})
    body(scenario)
    turn = due(scenario)
    # Not reported, it is over after 60 s.
    assert scenario.mind.character.due == scenario.at + timedelta(seconds=100)
    scenario.wait(7)
    report(scenario, turn)
    assert scenario.mind.character.due == scenario.at + timedelta(seconds=40)
    assert known(scenario).acts[-1].outcome == "succeeded"


def test_what_nobody_reported_proves_nothing() -> None:
    """Its outcome is unknown, and a late report changes that no more."""
    scenario = golem()
    body(scenario)
    first = due(scenario)
    due(scenario)
    assert [each.outcome for each in known(scenario).acts] == ["unknown", None]
    report(scenario, first)
    assert [each.outcome for each in known(scenario).acts] == ["unknown", None]


def test_a_command_ends_what_it_does_and_nothing_overlaps() -> None:
    """The action is cancelled, its outcome with it; it goes on once the command is done."""
    scenario = golem(interval={"least_s": 40, "most_s": 40})
    body(scenario)
    acting = due(scenario)
    ordered = scenario.sense(
        "Greet the guest.", source="world", type_="ordered", fields={"action": "Greet"}
    )
    assert "DeliveryAsked" not in names(ordered)
    assert known(scenario).acts[-1].outcome == "cancelled"
    assert scenario.mind.character.due == scenario.at + timedelta(seconds=50)
    # The world's word on what was cancelled is no success of it.
    report(scenario, acting)
    assert known(scenario).acts[-1].outcome == "cancelled"
    scenario.wait(3)
    report(scenario, decision_id(ordered))
    assert scenario.mind.character.due == scenario.at + timedelta(seconds=40)


def test_an_action_by_command_is_never_drawn() -> None:
    """`Greet` is a gesture, and only `Wave` is drawn."""
    scenario = golem(weights={"gesture": 1.0})
    body(scenario)
    decided = one(due(scenario), Decided)
    assert decided.arm == "random:Wave"
    assert (decided.probability, decided.draw) == (1.0, None)


@pytest.mark.parametrize("weights", [{}, {"wander": 0, "look": 0}])
def test_without_any_weight_it_wanders(weights: dict[str, float]) -> None:
    """As the source design's code does."""
    scenario = golem(weights=weights)
    body(scenario)
    assert one(due(scenario), Decided).arm == "random:MoveToLocation"


def test_weights_in_another_scale_are_normalised() -> None:
    """Two to one, whatever they add up to."""
    how = Autonomous.model_validate(
        {"actions": ACTIONS, "weights": {"wander": 4, "sit": 2}}
    )
    assert (how.share("wander"), round(how.share("sit"), 6)) == (4 / 6, 0.333333)


def test_who_sleeps_decides_nothing_until_woken() -> None:
    """A time that was told before passes without a word."""
    scenario = golem()
    body(scenario)
    body(scenario, fsm_state="Sleeping")
    assert scenario.mind.character.due is None
    scenario.wait(600)
    assert names(scenario.tell(ClockTicked(due_at=scenario.at))) == ["Handled"]
    body(scenario)
    assert one(due(scenario), Decided).arm.startswith("random:")


def test_where_nothing_is_possible_it_waits_again() -> None:
    """With the reason, and no busy loop."""
    scenario = Scenario(
        cafe(actions=[{"id": "Swim", "kind": "wander", "states": ["Water"]}]),
        agent="golem",
    )
    body(scenario)
    turn = due(scenario)
    decided = one(turn, Decided)
    assert (decided.silence, said(turn, DeliveryAsked)) == ("no_candidate", [])
    assert decided.candidates[0].reason == "not possible in the state Idle"
    at = scenario.mind.character.due
    assert at is not None
    assert at >= scenario.at + timedelta(seconds=30)


def test_a_body_of_nonsense_stops_nobody() -> None:
    """Numbers as names, deep lists, no position."""
    scenario = golem()
    odd: dict[str, Any] = {
        "fsm_state": 7,
        "position": "here",
        "nearby_objects": [
            None,
            3,
            {"tag": "bench"},
            {"name": "x" * 500, "tag": 5},
            "",
        ],
    }
    body(scenario, **odd)
    assert one(due(scenario), Decided).arm.startswith("random:")
    assert known(scenario).acts[-1].position == ()


@pytest.mark.parametrize(
    "mind",
    [
        {"layers": ["reflex"]},
        {"autonomous": {"actions": [{"id": "a"}, {"id": "A"}]}},
        {"autonomous": {"actions": [{"id": "a", "by_command": True}]}},
        {"autonomous": {"actions": []}},
        {"autonomous": {"actions": [{"id": "a"}], "tier": 4}},
        {
            "autonomous": {
                "actions": [{"id": "a"}],
                "interval": {"least_s": 9, "most_s": 3},
            }
        },
    ],
)
def test_a_mind_that_does_not_fit_is_refused(mind: dict[str, Any]) -> None:
    """Both layers and autonomy, two of one id, nothing to choose, a span the wrong way."""
    with pytest.raises(ValidationError):
        CharacterMind.model_validate({"autonomous": {"actions": [{"id": "a"}]}, **mind})
