"""An autonomous character that looks back: when, by whom, and what it keeps of it."""

import json
from typing import Any

import pytest

from handlers.mind.characters.autonomous import reflecting
from handlers.mind.turn import Turn
from projections.folds.characters import retrospects
from schemas.codec import checkpoint
from schemas.messages.asks import ModelAsked
from schemas.messages.characters import ReflectionRequested
from schemas.messages.decisions import Decided
from schemas.messages.learning import InsightFormed
from schemas.messages.notes import ControlRefused, Handled
from schemas.messages.results import ClockTicked, ModelAnswered
from schemas.packs.autonomous import Autonomous, Reflections
from schemas.state.autonomy import Act, Autonomy
from tests import factories
from tests.handlers.mind.characters.autonomous.cafe import (
    ACTIONS,
    answer,
    body,
    cafe,
    clever,
    due,
    known,
    report,
)
from tests.scenario import Scenario, one, said

OBSERVED = "I tend to sit on benches after walking."


def thoughtful(**autonomous: Any) -> Scenario:
    """One whose model is asked, and that looks back after three actions."""
    fields = {"tier": 2, "reflection": {"every": 3, "importance": 100}, **autonomous}
    scenario = clever(**fields)
    body(scenario)
    return scenario


def alone(**autonomous: Any) -> Scenario:
    """The same without a model."""
    fields = {"tier": 2, "reflection": {"every": 3, "importance": 100}, **autonomous}
    scenario = Scenario(cafe(**fields), agent="golem")
    body(scenario)
    return scenario


def acts(scenario: Scenario, number: int, outcome: str = "succeeded") -> Turn:
    """So many actions, each of them reported; the last report's turn."""
    for place in range(number - 1):
        _acts(scenario, place, outcome)
    return _acts(scenario, number - 1, outcome)


def _acts(scenario: Scenario, place: int, outcome: str) -> Turn:
    turn = due(scenario)
    if not said(turn, ModelAsked):
        return report(scenario, turn, outcome, "The way is blocked.")
    answer(scenario, turn, ("Lean", "Wave", "TurnTo")[place % 3])
    return report(scenario, decision_of(turn), outcome, "The way is blocked.")


def decision_of(turn: Turn) -> str:
    """The decision that a turn asked the model about."""
    return next(e.decision_id for e in said(turn, ModelAsked) if e.purpose != "review")


def reflects(scenario: Scenario, asked: Turn, text: str) -> Turn:
    """The model's answer to a reflection."""
    ask = next(
        each
        for each in asked.outputs
        if isinstance(each.message, ModelAsked) and each.message.purpose == "reflection"
    )
    assert isinstance(ask.message, ModelAsked)
    hash_ = ask.message.request_hash
    return scenario.tell(
        ModelAnswered(ask_id=ask.id, request_hash=hash_, model="m", text=text)
    )


def episode(number: int, action: str = "Lean", **more: Any) -> Act:
    """An action that is over."""
    fields: dict[str, Any] = {
        "decision_id": f"d{number}",
        "at": factories.NOON,
        "action": action,
        "by": "model",
        "situation": "idle",
        "importance": 0.3,
        "outcome": "succeeded",
        **more,
    }
    return Act(**fields)


def test_after_so_many_actions_the_model_is_asked_what_it_notices() -> None:
    """Apart from any decision; what it says is an episode of importance 1, and is told."""
    scenario = thoughtful()
    assert said(acts(scenario, 2), ModelAsked) == []
    third = acts(scenario, 1)
    asked = one(third, ModelAsked)
    assert (asked.purpose, asked.reason, asked.priority) == (
        "reflection",
        "actions",
        -1.0,
    )
    assert asked.decision_id == known(scenario).acts[-1].decision_id
    assert asked.prompt.count("\n- ") == 3
    # Nothing waits for it: the character is due again, and decides.
    assert scenario.mind.character.due is not None

    turn = reflects(scenario, third, json.dumps({"observations": [OBSERVED, 3, " "]}))
    made = one(turn, InsightFormed)
    assert (made.of, made.by, made.cause, made.actions) == (
        "reflection",
        "model",
        "actions",
        3,
    )
    (insight,) = known(scenario).insights
    assert (insight.thought, insight.importance, insight.by) == (
        OBSERVED,
        1.0,
        "reflection",
    )
    assert insight.situation.startswith("idle + near_arcade")
    assert "reflection" not in scenario.mind.character.asked
    told = one(due(scenario), ModelAsked).prompt
    assert f'- you noticed: <data>"{OBSERVED}"</data>' in told


def test_without_a_model_it_reflects_by_rules_at_once() -> None:
    """The same episode, by three rules."""
    scenario = alone()
    turn = acts(scenario, 3)
    made = one(turn, InsightFormed)
    assert (made.by, made.ask_id, made.fault) == ("rules", None, None)
    assert known(scenario).insights[0].thought == made.text
    assert "went well" in made.text
    # The next three lead to the next.
    assert said(acts(scenario, 2), InsightFormed) == []
    assert len(said(acts(scenario, 1), InsightFormed)) == 1


def test_a_failed_step_counts_as_well() -> None:
    """Upstream decides anew on a failure, and forgets to look whether it is time."""
    scenario = alone()
    acts(scenario, 2)
    failed = report(scenario, due(scenario), "failed", "The way is blocked.")
    made = one(failed, InsightFormed)
    assert made.actions == 3
    assert "failed 1 of 3 times (The way is blocked.)" in made.text
    # And it is decided on anew in the same turn.
    assert one(failed, Decided).path == "autonomous"


def test_importance_leads_to_it_earlier() -> None:
    """Three unusual failures weigh .8 each."""
    scenario = alone(reflection={"every": 100, "importance": 1.0})
    assert said(acts(scenario, 1), InsightFormed) == []
    assert one(acts(scenario, 1), InsightFormed).cause == "importance"


@pytest.mark.parametrize(
    ("number", "importance", "cause"),
    [
        (19, 0.39, None),
        (20, 0.3, "actions"),
        (15, 0.5, "importance"),
        (9, 0.8, None),
        (10, 0.75, "importance"),
    ],
)
def test_twenty_actions_or_seven_and_a_half(
    number: int, importance: float, cause: str | None
) -> None:
    """The sum does not come first always: nineteen usual ones weigh 5.7."""
    episodes = tuple(episode(each, importance=importance) for each in range(number))
    assert retrospects.due(Autonomy(acts=episodes), Reflections()) == cause
    # What goes on does not count yet.
    going = (*episodes[:-1], episode(99, outcome=None))
    if cause == "actions":
        assert retrospects.due(Autonomy(acts=going), Reflections()) is None


def test_reflections_do_not_feed_reflections() -> None:
    """Neither do they count, nor is the model told of them."""
    scenario = thoughtful()
    first = acts(scenario, 3)
    reflects(scenario, first, json.dumps({"observations": OBSERVED}))
    second = one(acts(scenario, 3), ModelAsked)
    assert second.purpose == "reflection"
    assert OBSERVED not in second.prompt
    assert second.prompt.count("\n- ") == 3


def test_what_is_done_meanwhile_is_the_next_reflections() -> None:
    """It asks once at a time."""
    scenario = thoughtful()
    first = acts(scenario, 3)
    assert said(acts(scenario, 2), ModelAsked) == []
    made = one(reflects(scenario, first, '{"observations": ["So."]}'), InsightFormed)
    assert made.actions == 3
    assert len(retrospects.unreflected(known(scenario))) == 2


@pytest.mark.parametrize(
    "text",
    ["I sit a lot.", "{}", '{"observations": []}', '{"observations": 3}', "[]", ""],
)
def test_a_reply_of_no_use_is_made_good_by_rules(text: str) -> None:
    """With the reason in the log."""
    scenario = thoughtful()
    made = one(reflects(scenario, acts(scenario, 3), text), InsightFormed)
    assert made.by == "rules"
    assert made.fault
    assert made.text == "What I did lately went well."


def test_a_model_that_fails_or_hangs_is_made_good_by_rules() -> None:
    """It is given up, and its answer is late; the character goes on all the while."""
    scenario = thoughtful()
    made = one(scenario.fail_model(acts(scenario, 3), "timeout"), InsightFormed)
    assert made.fault == "the model failed (timeout): why"

    scenario = thoughtful()
    third = acts(scenario, 3)
    scenario.wait(700)
    given_up = one(scenario.tell(ClockTicked(due_at=scenario.at)), InsightFormed)
    assert given_up.fault == "the model never answered"
    late = reflects(scenario, third, json.dumps({"observations": [OBSERVED]}))
    assert one(late, Handled).reason == "late"
    assert len(known(scenario).insights) == 1


def test_it_survives_a_restart() -> None:
    """What it waits for, and how much it did since, is in the checkpoint."""
    scenario = thoughtful()
    acts(scenario, 2)
    again = Scenario(
        agent="golem", state=checkpoint.load(checkpoint.dump(scenario.state))
    )
    again.blobs, again.at = scenario.blobs, scenario.at
    again._sequence, again._ids = 1_000, 1_000
    third = acts(again, 1)
    assert one(third, ModelAsked).purpose == "reflection"


def test_without_the_setting_nobody_reflects_below_the_third_tier() -> None:
    """The second tier of before it could is as it was; the third reflects by itself."""
    assert Autonomous.model_validate({"actions": ACTIONS, "tier": 2}).reflects is None
    third = Autonomous.model_validate({"actions": ACTIONS, "tier": 3})
    assert third.reflects == Reflections(every=20, importance=7.5)
    first = {"actions": ACTIONS, "tier": 1, "reflection": {"every": 3}}
    assert Autonomous.model_validate(first).reflects is None


def test_the_rules_name_the_habit_and_the_worst() -> None:
    """Of the last ten only."""
    old = [episode(each, "Wave", outcome="failed") for each in range(5)]
    lately = [
        episode(each + 5, ("Lean", "TurnTo", "LookAt")[each % 3]) for each in range(10)
    ]
    assert reflecting.by_rules((*old, *lately)) == (
        "I tend to do Lean: 4 of 10 times. What I did lately went well."
    )
    failing = [episode(20, "Lean", outcome="failed", error="Too far."), episode(21)]
    assert reflecting.by_rules(failing) == "Lean failed 1 of 2 times (Too far.)."
    assert reflecting.by_rules(()) == "What I did lately went well."


def test_somebody_can_have_it_look_back() -> None:
    """At once, by its model; refused with the reason if there is nothing to look at."""
    scenario = thoughtful()
    wanted = ReflectionRequested()
    assert "nothing was done" in one(scenario.control(wanted), ControlRefused).detail
    acts(scenario, 1)
    asked = scenario.control(wanted)
    assert one(asked, ModelAsked).reason == "asked"
    again = one(scenario.control(wanted), ControlRefused)
    assert (again.reason, again.detail) == ("unfit", "its model has not answered yet")
    made = one(reflects(scenario, asked, '{"observations": ["So."]}'), InsightFormed)
    assert (made.cause, made.text) == ("asked", "So.")

    review = scenario.control(ReflectionRequested(of="review"))
    assert one(review, ModelAsked).purpose == "review"


def test_who_cannot_look_back_says_so() -> None:
    """Without memory, without a model for a review, or being none."""
    scenario = alone()
    acts(scenario, 1)
    review = one(scenario.control(ReflectionRequested(of="review")), ControlRefused)
    assert "without a model" in review.detail
    assert one(scenario.control(ReflectionRequested()), InsightFormed).cause == "asked"
    first = Scenario(cafe(tier=1), agent="golem")
    assert (
        "no memory" in one(first.control(ReflectionRequested()), ControlRefused).detail
    )
    companion = Scenario(agent="ada")
    refused = one(companion.control(ReflectionRequested()), ControlRefused)
    assert "no autonomous character" in refused.detail
