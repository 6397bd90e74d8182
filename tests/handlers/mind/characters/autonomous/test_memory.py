"""An autonomous character with memory: episodes, routines, and what it does about failures."""

from datetime import timedelta
from typing import Any

import pytest
from immutables import Map

from handlers.mind.characters.autonomous import asking
from projections.folds.characters import episodes, situations
from schemas.messages.asks import DeliveryAsked, ModelAsked
from schemas.messages.decisions import Completed, Decided
from schemas.packs.autonomous import Routines
from schemas.state import limits
from schemas.state.autonomy import Act, Routine
from tests import factories
from tests.handlers.mind.characters.autonomous.cafe import (
    answer,
    body,
    clever,
    due,
    known,
    report,
)
from tests.scenario import Scenario, one, said

HERE = "idle + near_arcade + near_bench"


def wise(**autonomous: Any) -> Scenario:
    """One with memory, whose model is asked only where no routine fits."""
    scenario = clever(tier=2, **autonomous)
    body(scenario)
    return scenario


def learns_to_lean(scenario: Scenario) -> None:
    """Let it lean three times with success, never twice in a row."""
    for action in ("Lean", "Wave", "Lean", "Wave", "Lean"):
        does(scenario, action)
    assert known(scenario).routines[HERE].uses == 3


def act(action: str = "SitAtChair", **more: Any) -> Act:
    """An episode."""
    fields: dict[str, Any] = {
        "decision_id": "d",
        "at": factories.NOON,
        "action": action,
        "by": "model",
        "situation": HERE,
        "importance": 0.3,
        "outcome": "succeeded",
        **more,
    }
    return Act(**fields)


def does(scenario: Scenario, action: str, outcome: str = "succeeded") -> Any:
    """Let the model choose an action once it is due, and the world report its end."""
    asked = due(scenario)
    answer(scenario, asked, action)
    return report(scenario, one(asked, ModelAsked).decision_id, outcome, "No way.")


def test_the_source_designs_routine() -> None:
    """Idle, near a bench, having walked: it sits, and soon without asking a model."""
    scenario = wise(routines={"explored": 0})
    body(scenario, nearby_objects=["bench_01"])
    situation = "idle + near_bench + walked_recently"
    for _ in range(3):
        does(scenario, "MoveToLocation")
        does(scenario, "SitAtChair")
    # Lean and Wave change nothing of the situation: walking is what counts.
    routine = known(scenario).routines[situation]
    assert (routine.action, routine.rate) == ("SitAtChair", 1.0)
    assert routine.uses >= 3
    does_not = 0
    while True:
        turn = due(scenario)
        decided = one(turn, Decided)
        if decided.arm.startswith("routine:"):
            break
        does_not += 1
        assert does_not < 4
        answer(scenario, turn, "MoveToLocation" if does_not % 2 else "Wave")
        report(scenario, one(turn, ModelAsked).decision_id)
    assert decided.action is not None
    assert (decided.action.type, decided.action.target) == ("SitAtChair", "bench_01")
    assert (decided.path, decided.final, decided.probability) == (
        "autonomous",
        True,
        1.0,
    )
    assert decided.layers is not None
    assert decided.layers[0].rule == situation
    assert said(turn, ModelAsked) == []
    assert len(said(turn, DeliveryAsked)) == 1


def test_a_routine_is_explored_with_its_probability() -> None:
    """One in five times the model is asked; both odds are recorded, and the draw."""
    counts = {"routine": 0, "autonomous": 0}
    scenario = wise()
    learns_to_lean(scenario)
    for number in range(40):
        turn = due(scenario)
        decided = one(turn, Decided)
        odds = [each.probability for each in decided.candidates]
        if len(odds) == 2:
            assert odds == [0.8, 0.2]
            assert decided.draw is not None
            kind = decided.arm.partition(":")[0]
            counts[kind] += 1
            assert (decided.draw.value < 0.2) == (kind == "autonomous")
            assert decided.probability == (0.2 if kind == "autonomous" else 0.8)
        if said(turn, ModelAsked):
            answer(scenario, turn, ("Wave", "TurnTo")[number % 2])
            report(scenario, one(turn, ModelAsked).decision_id)
        else:
            report(scenario, turn)
    assert counts["routine"] > counts["autonomous"]


def test_what_proves_nothing_trains_nothing() -> None:
    """Standing still, an end that nobody reported, chance, a command."""
    scenario = wise()
    does(scenario, "Idle")
    does(scenario, "StandUp")
    assert [each.outcome for each in known(scenario).acts] == ["unknown", "unknown"]
    answer(scenario, due(scenario), "Lean")
    # It is over by its time alone, then chance chooses as the model fails.
    asked = due(scenario)
    scenario.fail_model(asked)
    report(scenario, one(asked, ModelAsked).decision_id)
    assert known(scenario).acts[-1].by == "random"
    assert known(scenario).acts[-1].outcome == "succeeded"
    answer(scenario, due(scenario), "Lean")
    scenario.sense("Come.", source="world", type_="ordered")
    assert known(scenario).acts[-1].outcome == "cancelled"
    assert dict(known(scenario).routines) == {}


@pytest.mark.parametrize(
    ("before", "done", "succeeded", "after"),
    [
        (None, "Wave", False, None),
        (None, "Wave", True, ("Wave", 1, 1)),
        (("Wave", 3, 3), "Wave", False, ("Wave", 4, 3)),
        (("Wave", 4, 2), "Lean", True, ("Wave", 4, 2)),
        (("Wave", 5, 2), "Lean", False, ("Wave", 5, 2)),
        (("Wave", 5, 2), "Lean", True, ("Lean", 1, 1)),
        (("Wave", 3, 1), "Wave", False, ("Wave", 4, 1)),
        (("Wave", 4, 1), "Wave", False, None),
        (("Wave", 9, 3), "Wave", False, ("Wave", 10, 3)),
    ],
)
def test_how_routines_change(
    before: tuple[str, int, int] | None,
    done: str,
    succeeded: bool,
    after: tuple[str, int, int] | None,
) -> None:
    """Stored by success, replaced under .5 with counts of its own, dropped under .3 of 5."""
    routines: Map[str, Routine] = Map()
    if before is not None:
        action, uses, successes = before
        routines = routines.set(
            HERE, Routine(action=action, uses=uses, successes=successes)
        )
    found = episodes.learned(routines, Routines(), act(done), succeeded=succeeded)
    routine = found.get(HERE)
    counts = None
    if routine is not None:
        counts = (routine.action, routine.uses, routine.successes)
    assert counts == after


def test_of_fifty_routines_the_worst_goes() -> None:
    """The first by name of those with the least rate."""
    routines: Map[str, Routine] = Map()
    for number in range(limits.ROUTINES):
        worked = 1 if number in (7, 9) else 2
        routines = routines.set(
            f"s{number:02}", Routine(action="Wave", uses=2, successes=worked)
        )
    found = episodes.learned(routines, Routines(), act(), succeeded=True)
    assert len(found) == limits.ROUTINES
    assert "s07" not in found
    assert "s09" in found


def test_importance_is_of_what_is_unusual_and_of_what_failed() -> None:
    """.3, and .2 more if it is not among the last ten, and .3 more if it failed."""
    scenario = wise()
    does(scenario, "Lean", "succeeded")
    does(scenario, "Lean", "overridden")
    does(scenario, "Wave", "failed")
    assert [each.importance for each in known(scenario).acts] == [0.5, 0.3, 0.8]


def test_recall_weighs_age_importance_and_likeness() -> None:
    """.4 by a half-life of ten minutes, .3 and .3."""
    now = factories.NOON + timedelta(seconds=600)
    assert asking.worth(act(), HERE, now) == 0.59
    assert asking.worth(act(importance=1.0, at=now), HERE, now) == 1.0
    # The same state, one of two tags: half by the state, a quarter by the tags.
    assert situations.relevance(HERE, "idle + near_bench") == 0.75
    assert asking.worth(act(), "idle + near_bench", now) == 0.515
    assert situations.relevance("idle", "sitting + near_bench") == 0.0


def test_the_best_five_are_recalled_of_equal_ones_the_newest() -> None:
    """What still goes on is none."""
    acts = [act(decision_id=str(number)) for number in range(7)]
    going_on = act(decision_id="now", outcome=None)
    found = asking.recalled((*acts, going_on), HERE, factories.NOON)
    assert [each.decision_id for each in found] == ["6", "5", "4", "3", "2"]


def test_episodes_are_bounded_and_told() -> None:
    """Two hundred are kept; the prompt has five."""
    scenario = wise()
    learns_to_lean(scenario)
    character = scenario.mind.character
    how = clever(tier=2).blobs.popitem()[1].pack.mind
    assert how is not None
    assert how.autonomous is not None
    for _ in range(limits.EPISODES):
        character = episodes.begun(character, how.autonomous, act(), scenario.at)
    assert len(character.autonomy.acts) == limits.EPISODES
    body(scenario, nearby_objects=["claw_1"])
    memories = one(due(scenario), ModelAsked).prompt.split("## Memories\n")[1]
    assert len(memories.split("\n\n")[0].split("\n")) == asking.TOP


def test_a_failure_is_decided_on_anew_once_then_by_chance() -> None:
    """With the world's own words; the second failure leads to chance, the third to a pause."""
    scenario = wise()
    first = does(scenario, "SitAtChair", "failed")
    decided, asked = one(first, Decided), one(first, ModelAsked)
    assert decided.event_id == first.input.id
    assert "## What just failed" in asked.prompt
    assert 'SitAtChair <data>"bench_01"</data>: failed' in asked.prompt
    assert "No way." in asked.prompt
    # What is broken is asked once more, still about the failure.
    again = scenario.answer_model(first, "Hm.")
    assert "No way." in one(again, ModelAsked).prompt
    answer(scenario, again, "Lean")
    second = report(scenario, asked.decision_id, "failed", "Broken.")
    assert said(second, ModelAsked) == []
    chance = one(second, Decided)
    assert chance.arm.startswith("random:")
    assert chance.layers is not None
    assert chance.layers[0].why == "it failed again, so something random"
    third = report(scenario, second, "failed", "Broken, too.")
    assert one(third, Decided).silence == "nothing_due"
    assert known(scenario).retries == 2
    # The next decision is about no failure any more.
    assert "What just failed" not in one(due(scenario), ModelAsked).prompt
    assert known(scenario).retries == 0


def test_without_memory_a_failure_only_ends_the_action() -> None:
    """The first tier waits for its next time."""
    scenario = clever()
    body(scenario)
    assert said(does(scenario, "Lean", "failed"), ModelAsked) == []


def test_a_routine_is_not_done_a_third_time_in_a_row() -> None:
    """The model is asked instead."""
    scenario = wise(routines={"explored": 0})
    learns_to_lean(scenario)
    done = []
    for _ in range(8):
        turn = due(scenario)
        decided = one(turn, Decided)
        if said(turn, ModelAsked):
            ended = one(answer(scenario, turn, "TurnTo"), Completed)
            assert ended.action is not None
            done.append(ended.action.type)
            report(scenario, ended.decision_id)
        else:
            assert decided.action is not None
            done.append(decided.action.type)
            report(scenario, turn)
    assert all(len(set(done[n : n + 3])) > 1 for n in range(len(done) - 2))
    assert set(done) == {"Lean", "TurnTo"}
