"""What a page says of a personality, and a decision of its own."""

from typing import Any

import orjson

from echoic.client.personality import Character, character
from echoic.client.state import AgentSnapshot, as_fields
from echoic.packs.personalities import shipped
from echoic.terminal import personality as screens
from echoic.terminal.decisions import state
from echoic.terminal.screen import rendered
from schemas.messages.decisions import Decided
from schemas.messages.executive import (
    ContextSwitched,
    PersonalitySelected,
    TraitAdjusted,
)
from schemas.values.executive_settings import ExecutiveSettings
from tests.factories import heuristic, pack
from tests.scenario import Scenario, one


def living(**settings: Any) -> Scenario:
    """A scenario with the shipped personalities."""
    executive = ExecutiveSettings(templates=shipped(), **settings)
    garden = pack(heuristic("dusk", "dusk falls", "Go home.", confidence=0.9))
    return Scenario(garden, executive=executive, edition=2, relevance=0.0)


def snapshot(scenario: Scenario) -> AgentSnapshot:
    """What is known of the agent."""
    return AgentSnapshot(scenario.mind, scenario.state.shared, scenario.state.position)


def now(scenario: Scenario) -> Character:
    """Its personality now."""
    return character(snapshot(scenario), (), scenario.at)


def test_a_page_says_what_moves_the_traits() -> None:
    """Template and now side by side, contexts with their causes, mood and rapport."""
    scenario = living(template="coach")
    scenario.control(ContextSwitched(context="gaming", by="ann"))
    said = scenario.sense("dusk falls", salience={"threat": 0.9})
    scenario.feedback(said, "positive")
    page = rendered(screens.shown(now(scenario)))

    assert page.startswith("coach")
    assert "in context gaming: switched by ann" in page
    assert "in context high_threat: threat 0.90, by" in page
    assert "mood +0.30" in page
    assert "rapport 0.5" in page


def test_without_a_personality_the_page_says_so() -> None:
    """And all traits are the usual ones."""
    scenario = living()
    assert rendered(screens.shown(now(scenario))).startswith("no personality")
    assert now(scenario).as_fields()["template"] is None


def test_a_decision_tells_as_whom_it_was_made() -> None:
    """The traits that are not the usual ones, and why they are in force."""
    scenario = living(template="jester")
    decided = one(scenario.sense("dusk falls", salience={"threat": 0.8}), Decided)
    assert decided.voice is not None
    lines = list(screens.of_decision(decided.voice))

    assert lines[0].startswith("as jester: humor 0.95, sarcasm 0.45")
    assert lines[1].startswith("in context high_threat: threat 0.80")


def test_the_state_shows_what_was_chosen_and_moved() -> None:
    """As JSON and on the page; an agent that uses none of it has no line of it."""
    scenario = living()
    before = rendered(state(snapshot(scenario), "ana", {}))
    scenario.control(PersonalitySelected(template="butler"))
    scenario.control(TraitAdjusted(trait="humor", by_amount=0.2, person="ann"))
    after = rendered(state(snapshot(scenario), "ana", {}))
    fields = as_fields(snapshot(scenario), "ana")

    assert "template" not in before
    assert "butler" in after
    assert "humor +0.2 (ann)" in after
    assert fields["personality"] == {
        "template": "butler",
        "context": None,
        "mood": None,
        "overrides": {"ann": {"humor": 0.2}},
    }
    assert orjson.dumps(fields)
