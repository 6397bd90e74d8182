"""What a page says of a personality, and a decision of its own."""

from typing import Any

import orjson
import pytest

from echoic.client.personality import Character, character
from echoic.client.state import AgentSnapshot, as_fields
from echoic.packs.personalities import shipped
from echoic.terminal import personality as screens
from echoic.terminal.decisions import state
from echoic.terminal.screen import rendered
from handlers.mind.stages.personality import effective
from schemas.messages.decisions import Decided
from schemas.messages.executive import (
    ContextSwitched,
    PersonalitySelected,
    TraitAdjusted,
)
from tests.factories import heuristic, pack, plain_executive
from tests.scenario import Scenario, one


def living(**settings: Any) -> Scenario:
    """A scenario with the shipped personalities."""
    executive = plain_executive(templates=shipped(), **settings)
    garden = pack(heuristic("dusk", "dusk falls", "Go home.", confidence=0.9))
    return Scenario(garden, executive=executive, relevance=0.0)


def snapshot(scenario: Scenario) -> AgentSnapshot:
    """What is known of the agent."""
    return AgentSnapshot(scenario.mind, scenario.state.shared, scenario.state.position)


def now(scenario: Scenario, person: str | None = None) -> Character:
    """Its personality now."""
    return character(snapshot(scenario), (), scenario.at, person)


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
    assert "mood +0.30, arousal 0.30" in page
    assert "enthusiasm +0.03" in page
    assert "rapport 0.5" in page


def test_each_cause_says_what_it_moves_and_for_how_long() -> None:
    """Contexts, what somebody set and its time left, mood, a long session, rapport."""
    scenario = living(template="coach")
    scenario.sense("a fox")
    # A pause would begin another session.
    for _ in range(12):
        scenario.wait(900).sense("a fox")
    scenario.control(ContextSwitched(context="work", by="ann"))
    scenario.control(TraitAdjusted(trait="humor", by_amount=0.3, for_s=600.0))
    scenario.control(TraitAdjusted(trait="sarcasm", by_amount=-0.2, person="ann"))
    said = scenario.sense("dusk falls", salience={"threat": 0.9})
    scenario.feedback(said, "positive", actor="ann")
    scenario.wait(5)
    found = now(scenario, "ann")
    page = " ".join(rendered(screens.shown(found)).split())

    for line in (
        "in context work: switched by ann humor -0.20, sarcasm -0.20, verbosity -0.10",
        "sarcasm -0.40, proactive +0.30, helpfulness +0.20, verbosity -0.30",
        "set for everybody, 9 min 55 s left humor +0.30",
        "set for ann, until cleared sarcasm -0.20",
        "mood +0.30, arousal 0.30 enthusiasm +0.03",
        "the session has lasted 3 h proactive -0.10",
    ):
        assert line in page
    assert "rapport 0.5" in page
    assert "set for ann" not in rendered(screens.shown(now(scenario)))
    assert orjson.dumps(found.as_fields())


@pytest.mark.parametrize("person", [None, "ann"])
def test_the_causes_are_all_that_moves_the_traits(person: str | None) -> None:
    """Template and causes together are the traits in force, to six decimals."""
    scenario = living(template="jester")
    for step in range(12):
        scenario.wait(1500)
        scenario.control(ContextSwitched(context=("gaming", "work", "home")[step % 3]))
        scenario.control(TraitAdjusted(trait="humor", by_amount=step / 20, for_s=2000))
        scenario.control(TraitAdjusted(trait="formality", by_amount=0.1, person="ann"))
        hints: dict[str, Any] = {"threat": 0.9} if step % 2 else {"opportunity": 0.8}
        told = scenario.sense(
            "dusk falls", person=person, salience=hints, sentiment=-0.5
        )
        scenario.feedback(told, "positive" if step % 3 else "negative", actor="ann")
        found = now(scenario, person)
        moves = [each.moves for each in found.causes]
        assert effective(found.traits.template, moves) == found.traits.values
        assert len(moves) >= 4


def test_a_character_that_nothing_moves_says_so() -> None:
    """As its template has it."""
    assert "nothing moves them now" in rendered(screens.shown(now(living())))


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
