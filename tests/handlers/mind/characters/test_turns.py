"""Turns: a layer's model is asked once that is granted, and is told of things as they are."""

from typing import Any

import pytest

from handlers.mind.turn import Turn
from schemas.messages.asks import DeliveryAsked, ModelAsked, TurnAsked
from schemas.messages.decisions import Completed, Decided, Dropped
from schemas.messages.notes import ControlInferred, Handled
from schemas.messages.results import ModelAnswered, TurnFailed, TurnGranted
from tests.factories import plain_characters
from tests.handlers.mind.characters import planners
from tests.handlers.mind.characters.test_talker import ARIA, TALKER
from tests.handlers.mind.characters.worksite import MODEL, Worksite, pack, reply
from tests.scenario import Scenario, one, output, said

LAYERS = ["reflex", "queue", "talker", "executor"]
RULES = plain_characters(
    turns=True, call_gap_s=0.25, talker_per_minute=20, executor_per_minute=6
)


def waiting(**mind: Any) -> Worksite:
    """A villager who talks and plans, and waits for its turns."""
    planner = pack(
        **{
            "layers": LAYERS,
            "executor": planners.EXECUTOR,
            "synonyms": planners.SYNONYMS,
            "talker": TALKER,
            **mind,
        }
    )
    scenario = Scenario(planner, agent="aria", model=MODEL, characters=RULES)
    return Worksite(scenario, {"wood": 45})


def grant(site: Worksite, asked: Turn) -> Turn:
    """Grant the turn that a turn of the mind asks for."""
    return site.scenario.tell(TurnGranted(ask_id=output(asked, TurnAsked).id))


def test_its_prompt_is_built_when_its_turn_comes() -> None:
    """What changed since it was due is told; the decision is the one that was made then."""
    site = waiting()
    turn = site.report(**{**ARIA, "weather": "Sunny"})
    decided, asked = one(turn, Decided), one(turn, TurnAsked)
    assert not said(turn, ModelAsked)
    assert (decided.final, decided.timing, decided.prompt_digest) == (
        False,
        "queued",
        None,
    )
    assert (asked.layer, asked.reason, asked.gap_s, asked.per_minute) == (
        "talker",
        None,
        0.25,
        20,
    )
    site.scenario.wait(4)
    site.report(**{**ARIA, "weather": "A storm"})

    granted = grant(site, turn)
    ask = one(granted, ModelAsked)
    assert ask.decision_id == asked.decision_id == output(turn, Decided).id
    assert "A storm" in ask.prompt
    assert "Sunny" not in ask.prompt
    # As late as if it had been asked at once.
    assert (ask.expires_at, ask.ttl_s) == (asked.expires_at, asked.ttl_s - 4)
    turn = reply(site.scenario, granted, {"speaking": "What a storm!"})
    assert one(turn, DeliveryAsked).text == "What a storm!"
    assert not site.scenario.mind.character.asked


@pytest.mark.parametrize(
    ("fields", "priority"),
    [
        ({"in_conversation": True}, 8.0),
        ({"extraversion": 0.8}, 5.0),
        ({"extraversion": 0.5}, 3.0),
    ],
)
def test_a_talkers_turn_is_as_urgent_as_its_company(
    fields: dict[str, Any], priority: float
) -> None:
    """In a conversation most of all."""
    assert one(waiting().report(**fields), TurnAsked).priority == priority


def test_an_executors_turn_keeps_its_reason() -> None:
    """Though the cadence would not ask any more; a fight is most urgent."""
    site = waiting(talker={**TALKER, "enabled": False})
    site.report(in_combat=True)
    planners.aimed(site, "Build a bed")
    turn = site.tick()
    asked = one(turn, TurnAsked)
    assert (asked.layer, asked.reason, asked.priority, asked.per_minute) == (
        "executor",
        "goals_changed",
        10.0,
        6,
    )
    ask = one(grant(site, turn), ModelAsked)
    assert (ask.purpose, ask.reason) == ("executor", "goals_changed")


def test_one_model_for_both_waits_for_one_turn() -> None:
    """Its reason is that with which it was due."""
    site = waiting(mode="single")
    turn = site.report()
    assert one(turn, TurnAsked).layer == "single"
    granted = grant(site, turn)
    assert one(granted, ModelAsked).reason is None
    reply(site.scenario, granted, {"thinking": "Well."})
    planners.aimed(site, "Build a bed")
    turn = site.tick()
    assert one(turn, TurnAsked).reason == "goals_changed"
    assert one(grant(site, turn), ModelAsked).reason == "goals_changed"


def test_answers_are_kept_apart_by_layer() -> None:
    """Both wait; whichever is granted or answers first, each gets its own."""
    site = waiting()
    talks = site.report(company=1)
    planners.aimed(site, "Build a bed")
    plans = site.tick()
    assert sorted(site.scenario.mind.character.asked) == ["executor", "talker"]
    planning, talking = grant(site, plans), grant(site, talks)
    turn = reply(site.scenario, talking, {"speaking": "Hello!"})
    assert one(turn, Completed).decision_id == output(talks, Decided).id
    turn = reply(
        site.scenario, planning, {"action": {"type": "plan_build", "building": "bed"}}
    )
    assert one(turn, Completed).decision_id == output(plans, Decided).id
    assert one(turn, ControlInferred).by == "executor"


def test_a_turn_that_comes_twice_asks_once() -> None:
    """As after a kill; and a stranger's grant is nobody's."""
    site = waiting()
    turn = site.report()
    assert said(grant(site, turn), ModelAsked)
    again = grant(site, turn)
    assert not said(again, ModelAsked)
    assert one(again, Handled).reason == "second"
    unknown = site.scenario.tell(TurnGranted(ask_id="nobody's"))
    assert one(unknown, Handled).reason == "unknown"


def test_a_model_cannot_answer_what_waits_for_its_turn() -> None:
    """Such an answer is no answer, and the wait goes on."""
    site = waiting()
    turn = site.report()
    ask_id = output(turn, TurnAsked).id
    forged = ModelAnswered(ask_id=ask_id, request_hash="r", model="m", text="{}")
    assert one(site.scenario.tell(forged), Handled).reason == "unknown"
    assert said(grant(site, turn), ModelAsked)


def test_a_turn_that_does_not_come_ends_the_decision() -> None:
    """The log says so, and the character goes on."""
    site = waiting()
    turn = site.report()
    failed = TurnFailed(
        ask_id=output(turn, TurnAsked).id, reason="stale", detail="too late"
    )
    dropped = one(site.scenario.tell(failed), Dropped)
    assert (dropped.reason, "too late" in dropped.detail) == ("stale", True)
    # A minute after it was stale, if nobody says anything of it at all.
    site = waiting()
    site.report()
    dropped = one(site.tick(200), Dropped)
    assert dropped.reason == "llm_timeout"


@pytest.mark.parametrize(
    ("fields", "seconds", "reason", "why"),
    [({"health": 0}, 1, "cancelled", "it is dead"), ({}, 31, "stale", "stale since")],
)
def test_what_may_not_be_asked_any_more_is_not(
    fields: dict[str, Any], seconds: float, reason: str, why: str
) -> None:
    """The turn comes, and no model is asked."""
    site = waiting()
    turn = site.report()
    site.scenario.wait(seconds)
    if fields:
        site.report(**fields)
    granted = grant(site, turn)
    assert not said(granted, ModelAsked)
    dropped = one(granted, Dropped)
    assert (dropped.reason, why in dropped.detail) == (reason, True)


def test_a_log_of_before_asks_at_once() -> None:
    """Without the setting nobody waits."""
    site = planners.site(layers=LAYERS, talker=TALKER)
    assert said(site.report(), ModelAsked)


def test_a_layer_has_a_model_of_its_own() -> None:
    """The pack names it for one layer; the other asks the settings'."""
    own = {"name": "ollama/qwen2.5:3b", "temperature": 0.2, "max_tokens": 80}
    site = planners.site(layers=LAYERS, talker={**TALKER, "model": own})
    turn = site.report()
    ask = one(turn, ModelAsked)
    assert (ask.model, ask.temperature, ask.max_tokens) == (
        "ollama/qwen2.5:3b",
        0.2,
        80,
    )
    assert ask.deadline_s == MODEL.deadline_s
    assert one(turn, Decided).arm.startswith("talker:llm:ollama/qwen2.5:3b")
    planners.aimed(site, "Build a bed")
    assert one(site.tick(), ModelAsked).model == MODEL.name
