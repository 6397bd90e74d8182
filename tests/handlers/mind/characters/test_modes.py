"""Modes: one model for talker and executor, one each, or none, by the pack or by strategy."""

from typing import Any

import pytest
from pydantic import ValidationError

from schemas.messages.asks import DeliveryAsked, ModelAsked
from schemas.messages.characters import PlanTask
from schemas.messages.controls import StrategySelected
from schemas.messages.decisions import Completed, Decided, Dropped
from schemas.messages.notes import ControlInferred, ControlRefused
from tests import factories
from tests.handlers.mind.characters import planners
from tests.handlers.mind.characters.test_talker import TALKER
from tests.handlers.mind.characters.worksite import (
    MODEL,
    Worksite,
    pack,
    reply,
    verdict,
)
from tests.scenario import Scenario, one, said

LAYERS = ["reflex", "queue", "talker", "executor"]

ANSWER: dict[str, Any] = {
    "thinking": "A home needs a tent, and Luna could help.",
    "speaking": "Luna, I am going to build a tent!",
    "action": [
        {"type": "follow_agent", "target": "Luna"},
        {"type": "plan_build", "building": "tent", "priority": "high"},
        {"type": "craft", "recipe": "cloth", "amount": 10},
    ],
    "goal": {"type": "personal", "description": "Build a cozy home"},
    "priorities": {"building": 90},
}


def both(mode: str | None = "single", **mind: Any) -> Worksite:
    """A villager with a talker and an executor, in a mode of its pack."""
    chosen = {} if mode is None else {"mode": mode}
    parts = {"layers": LAYERS, "talker": TALKER, **chosen, **mind}
    return planners.site({"wood": 45, "plant_fiber": 15}, **parts)


def test_one_model_is_asked_for_both_and_does_both() -> None:
    """One question, of which it speaks, acts, sets aims and plans."""
    site = both()
    turn = site.report(company=1, sees=["Luna"])
    decided, ask = one(turn, Decided), one(turn, ModelAsked)
    assert (decided.layer, ask.purpose, ask.reason) == ("single", "single", None)
    assert decided.arm.startswith("single:llm:")
    assert [each.layer for each in decided.layers or ()] == [
        "reflex",
        "queue",
        "single",
    ]
    for told in ("Around you", "Luna", "Village stockpile", "Available buildings"):
        assert told in ask.prompt
    assert "Tools: talk, follow_agent, plan_build" in ask.prompt

    turn = reply(site.scenario, turn, ANSWER)
    assert one(turn, Completed).left_out is None
    spoken, done = said(turn, DeliveryAsked)[:2]
    assert (spoken.channel, spoken.text) == ("talk", ANSWER["speaking"])
    assert done.action is not None
    assert (done.action.type, done.action.target) == ("follow_agent", "Luna")
    assert {each.by for each in said(turn, ControlInferred)} == {"single"}
    character = site.scenario.mind.character
    assert [each.text for each in character.aims] == ["Build a cozy home"]
    assert dict(character.priorities) == {"building": 0.9}
    assert [each.building for each in site.plan.builds] == ["tent"]
    assert site.plan.tasks == (PlanTask(type="craft", target="cloth", amount=10),)


def test_its_own_aims_ask_it_nothing_and_its_questions_count_for_both() -> None:
    """The next question is the talker's, or after what is done, and not at the next tick."""
    site = both()
    reply(site.scenario, site.report(company=1), ANSWER)
    assert not said(site.tick(), ModelAsked)
    called = site.scenario.mind.character.called
    assert called["talker"] == called["executor"]


def test_it_is_asked_for_the_reason_that_the_executor_would_be() -> None:
    """What was changed by hand has it plan, at the priority of that reason."""
    site = both()
    reply(site.scenario, site.report(), {"thinking": "Well."})
    planners.aimed(site, "Build a bed")
    ask = one(site.tick(), ModelAsked)
    assert (ask.purpose, ask.reason, ask.priority) == ("single", "goals_changed", 3.0)
    assert "what you are after has changed" in ask.prompt


@pytest.mark.parametrize(
    ("answer", "why"),
    [
        ("no JSON", "there is no JSON"),
        ({"speaking": ""}, "says nothing"),
        ({"action": "fly"}, "'fly' was not offered"),
    ],
)
def test_what_cannot_be_read_is_refused_with_the_reason(answer: Any, why: str) -> None:
    """The character goes on, and the log says why."""
    site = both()
    turn = reply(site.scenario, site.report(), answer)
    dropped = one(turn, Dropped)
    is_read = answer != "no JSON"
    assert dropped.reason == ("llm_declined" if is_read else "llm_malformed")
    assert why in dropped.detail


def test_what_was_not_offered_is_left_out_and_the_rest_counts() -> None:
    """The second social action as well: one thing at a time."""
    site = both()
    turn = site.report(company=1)
    actions = ["talk", "follow_agent", "fly", {"type": "plan_build", "building": "bed"}]
    left_out = one(reply(site.scenario, turn, {"action": actions}), Completed).left_out
    assert left_out is not None
    assert len(left_out) == 2
    assert [each.building for each in site.plan.builds] == ["bed"]


def test_a_scripted_character_asks_nobody() -> None:
    """Its reflexes and its queue do all, and each decision says why no model was asked."""
    site = both("scripted")
    turn = site.report(hunger=0.2)
    assert site.deeds == ["seek_food"]
    decided = one(turn, Decided)
    assert verdict(decided, "talker") == ("not_asked", None)
    site = both("scripted")
    (*_, planner) = one(site.report(), Decided).layers or ()
    assert (planner.layer, planner.why) == (
        "executor",
        "it is scripted: no model is asked",
    )
    assert not said(site.tick(400), ModelAsked)


@pytest.mark.parametrize(
    ("mode", "asked"), [("split", ["talker"]), ("single", ["single"]), ("scripted", [])]
)
def test_a_strategy_sets_the_mode_of_a_character(mode: str, asked: list[str]) -> None:
    """So one recording is decided again under each; it goes before the pack's own."""
    site = both("split" if mode != "split" else "single")
    site.scenario.control(
        StrategySelected(strategy="layers", parameters={"mode": mode})
    )
    turn = site.report()
    assert [each.purpose for each in said(turn, ModelAsked)] == asked
    before = one(both("single").report(), Decided).config_hash
    assert (one(turn, Decided).config_hash == before) == (mode == "single")


def test_the_strategy_leaves_what_the_pack_says() -> None:
    """Without a mode nothing differs, and one model is one for who only talks."""
    site = both(None)
    site.scenario.control(StrategySelected(strategy="layers", parameters={}))
    assert one(site.report(), ModelAsked).purpose == "talker"
    single: dict[str, Any] = {
        "strategy": {"name": "layers", "parameters": {"mode": "single"}}
    }
    talks = pack(layers=["reflex", "queue", "talker"], talker=TALKER)
    alone = Worksite(Scenario(talks, agent="aria", model=MODEL, **single))
    assert one(alone.report(), ModelAsked).purpose == "talker"


def test_who_is_no_character_refuses_it() -> None:
    """It chooses among actions; an agent that has words alone is none of its business."""
    scenario = Scenario(factories.pack())
    turn = scenario.control(StrategySelected(strategy="layers", parameters={}))
    assert one(turn, ControlRefused).reason == "unfit"


def test_one_model_needs_both_parts() -> None:
    """A pack that says otherwise is a mistake."""
    with pytest.raises(ValidationError, match="a talker and an executor"):
        pack(layers=["reflex", "queue", "talker"], talker=TALKER, mode="single")
