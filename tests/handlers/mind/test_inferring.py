"""What a model takes a person to have told is proposed; it counts once that is accepted."""

from typing import Any

import orjson
import pytest

from handlers.mind.turn import Turn
from schemas.messages.asks import ModelAsked
from schemas.messages.controls import ProposalApplied, ProposalReverted
from schemas.messages.learning import ProposalMade
from tests.handlers.mind.test_memory import alive, known, says, states
from tests.scenario import Scenario, applied, names, one, refused, said

FACT = {"subject": "Ada", "relation": "likes", "object": "tea"}


def answered(scenario: Scenario, person: str | None = "ada", **told: Any) -> Turn:
    """A model's answer to a person's words, with what it takes these to tell."""
    asked = says(scenario, "I like tea, and want to sleep more", person)
    body = orjson.dumps({"response": "Noted.", **told}).decode()
    return scenario.answer_model(asked, body)


def test_a_fact_counts_once_it_is_accepted() -> None:
    """Until then nobody is told of it; it can be taken back."""
    scenario = alive(infers=True)
    turn = answered(scenario, fact=FACT)
    assert names(turn)[-1] == "ProposalMade"
    made = one(turn, ProposalMade)
    assert made.proposal_id.startswith("infer-")
    assert known(scenario) == []

    accept = ProposalApplied(proposal_id=made.proposal_id, by="ada")
    assert names(scenario.control(accept)) == ["ControlApplied", "ControlInferred"]
    assert known(scenario) == [("Ada", "likes", "tea")]
    (fact,) = scenario.mind.executive.memory.facts
    assert (fact.person, fact.by) == ("ada", "ada")
    assert refused(scenario.control(accept)) == "already_applied"
    # It is known by now.
    assert said(answered(scenario, fact=FACT), ProposalMade) == []

    back = ProposalReverted(proposal_id=made.proposal_id)
    assert names(scenario.control(back)) == ["ControlApplied", "ControlInferred"]
    assert known(scenario) == []


def test_a_goal_counts_once_it_is_accepted() -> None:
    """Beside those that there are, and with its vector, by which goals are chosen."""
    scenario = alive(infers=True)
    made = one(answered(scenario, goal="sleep more"), ProposalMade)
    before = scenario.mind.goals or scenario.settings.goals

    scenario.control(ProposalApplied(proposal_id=made.proposal_id))
    assert scenario.mind.goals == (*before, "sleep more")
    assert scenario.mind.goal_vectors["sleep more"]
    assert said(answered(scenario, goal="sleep more"), ProposalMade) == []
    scenario.control(ProposalReverted(proposal_id=made.proposal_id))
    assert scenario.mind.goals == before


def test_what_was_forgotten_since_is_no_obstacle() -> None:
    """Taking back is done, though nothing is there any more."""
    scenario = alive(infers=True)
    made = one(answered(scenario, fact=FACT), ProposalMade)
    scenario.control(ProposalApplied(proposal_id=made.proposal_id))
    states(scenario, "Ada", "likes", "", forget=True)
    back = scenario.control(ProposalReverted(proposal_id=made.proposal_id))
    assert applied(back).endswith("no fact any more")


@pytest.mark.parametrize(
    "told",
    [
        {"fact": "Ada likes tea"},
        {"fact": {"subject": "Ada", "relation": "", "object": "tea"}},
        {"fact": {"subject": ["Ada"], "relation": "likes", "object": "tea"}},
        {"goal": ["sleep"]},
        {"goal": "  "},
        {"heuristic": FACT},
    ],
)
def test_what_is_half_a_fact_is_none(told: dict[str, Any]) -> None:
    """Models write what they like."""
    assert said(answered(alive(infers=True), **told), ProposalMade) == []


def test_only_a_persons_words_tell_and_only_where_it_is_set() -> None:
    """An event of a sensor states nothing of anybody; a prompt asks only where it is on."""
    scenario = alive(infers=True)
    asked = scenario.sense("Ada likes tea")
    body = orjson.dumps({"response": "So?", "fact": FACT}).decode()
    assert said(scenario.answer_model(asked, body), ProposalMade) == []
    assert said(answered(alive(), fact=FACT), ProposalMade) == []

    systems = [
        one(says(alive(infers=each), "hello"), ModelAsked).system
        for each in (False, True)
    ]
    assert ['"fact"' in each for each in systems] == [False, True]
