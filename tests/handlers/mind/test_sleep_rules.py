"""What a sleep makes of what a model says each time: rules that a person may apply."""

import pytest

from schemas.messages.asks import ModelAsked
from schemas.messages.controls import HeuristicEdited, ProposalApplied, ProposalReverted
from schemas.messages.controls import SleepRequested as Sleep
from schemas.messages.learning import CandidateRefused, HeuristicFormed, ProposalMade
from schemas.messages.sleep import Reflected, SleepEnded
from tests import factories
from tests.handlers.mind.sleepers import (
    CONDITION,
    MESSAGE,
    SAID,
    answered_event,
    asleep,
    living,
    rule,
    state,
    taught,
    told,
)
from tests.scenario import names, one, refused, said


def test_what_a_model_says_each_time_may_become_a_heuristic() -> None:
    """It is asked for the rule, which passes the gate of formation and is proposed."""
    scenario = living()
    decided = answered_event(scenario)
    turn = told(scenario, scenario.wait(60).control(Sleep()), SAID)
    assert names(turn) == ["Handled", "Reflected", "ModelAsked"]
    ask = one(turn, ModelAsked)
    assert (ask.purpose, ask.decision_id) == ("reflection", decided)
    assert SAID in ask.prompt

    turn = told(scenario, turn, rule(when="health <= 3"))

    assert names(turn) == ["Handled", "ProposalMade", "SleepEnded"]
    made = one(turn, ProposalMade)
    change = made.repertoire
    assert change is not None
    assert change.formed is not None
    assert (change.kind, change.reason, change.before) == ("form", "said_again", ())
    assert (change.formed.condition, change.formed.when) == (CONDITION, "health <= 3")
    assert (change.formed.confidence, made.applied) == (0.3, None)
    assert "garden" not in scenario.mind.shelves
    assert one(turn, SleepEnded).proposals == (made.proposal_id,)


def test_a_proposed_heuristic_comes_when_it_is_applied_and_goes_when_reverted() -> None:
    """By hand both; what was known of heuristics before is then known again, exactly."""
    scenario = living()
    answered_event(scenario)
    turn = told(scenario, scenario.wait(60).control(Sleep()), SAID)
    made = one(told(scenario, turn, rule()), ProposalMade)
    before = state(scenario)

    turn = scenario.wait(60).control(ProposalApplied(proposal_id=made.proposal_id))
    assert names(turn) == ["ControlApplied", "HeuristicFormed"]
    formed = one(turn, HeuristicFormed)
    held = scenario.mind.shelves["garden"].heuristics[formed.heuristic_id]
    assert (held.vector, held.action_vector) == (
        factories.embed(CONDITION),
        factories.embed(MESSAGE),
    )
    assert made.repertoire is not None
    assert held.content_hash == made.repertoire.after[0].content_hash
    again = scenario.control(ProposalApplied(proposal_id=made.proposal_id))
    assert refused(again) == "already_applied"

    reverted = scenario.control(ProposalReverted(proposal_id=made.proposal_id))
    assert names(reverted) == ["ControlApplied"]
    assert state(scenario) == before
    twice = scenario.control(ProposalReverted(proposal_id=made.proposal_id))
    assert refused(twice) == "not_applied"
    scenario.control(ProposalApplied(proposal_id=made.proposal_id))
    assert formed.heuristic_id in scenario.mind.shelves["garden"].heuristics


def test_nobody_is_asked_twice_about_what_says_the_same() -> None:
    """Events alike get answers alike: one proposal, also after it was turned down."""
    scenario = living()
    answered_event(scenario)
    answered_event(scenario, "health is very low again")
    turn = told(scenario, scenario.wait(60).control(Sleep()), SAID)
    turn = told(scenario, turn, rule(message=f"{SAID} Then rest a bit."))
    made = one(turn, ProposalMade)

    turn = told(scenario, turn, SAID)

    assert names(turn) == ["Handled", "Reflected", "SleepEnded"]
    assert one(turn, SleepEnded).proposals == (made.proposal_id,)
    scenario.control(ProposalApplied(proposal_id=made.proposal_id))
    scenario.control(ProposalReverted(proposal_id=made.proposal_id))
    answered_event(scenario, "health is low once more")
    turn = told(scenario, scenario.wait(60).control(Sleep()), SAID)
    assert names(turn) == ["Handled", "Reflected", "SleepEnded"]


def test_a_safe_candidate_comes_at_once() -> None:
    """With so little trust it answers nothing yet; it can be taken back all the same."""
    scenario = living(sleep={"apply": "safe"})
    answered_event(scenario)
    before = state(scenario)
    turn = told(scenario, scenario.wait(60).control(Sleep()), SAID)

    turn = told(scenario, turn, rule())

    assert names(turn) == ["Handled", "ProposalMade", "HeuristicFormed", "SleepEnded"]
    made, formed = one(turn, ProposalMade), one(turn, HeuristicFormed)
    assert (made.applied, formed.proposal_id) == (True, made.proposal_id)
    held = scenario.mind.shelves["garden"].heuristics[formed.heuristic_id]
    assert held.vector == factories.embed(CONDITION)
    scenario.control(ProposalReverted(proposal_id=made.proposal_id))
    assert state(scenario) == before


def test_a_heuristic_of_the_same_id_stands_in_the_way_and_one_that_was_edited() -> None:
    """What somebody did since is not undone by a proposal."""
    scenario = living()
    answered_event(scenario)
    taught(scenario, "other", "Another thing.", condition="another kind")
    turn = told(scenario, scenario.wait(60).control(Sleep()), SAID)
    made = one(told(scenario, turn, rule()), ProposalMade)
    assert made.repertoire is not None
    id_ = made.repertoire.after[0].heuristic_id
    apply = ProposalApplied(proposal_id=made.proposal_id)
    revert = ProposalReverted(proposal_id=made.proposal_id)

    scenario.control(apply)
    scenario.control(revert)
    assert sorted(scenario.mind.shelves["garden"].heuristics) == ["other"]
    scenario.control(apply)
    scenario.control(HeuristicEdited(heuristic_id=id_, text="Run away at once."))
    assert refused(scenario.control(revert)) == "outdated"

    blocked = living()
    answered_event(blocked)
    turn = told(blocked, blocked.wait(60).control(Sleep()), SAID)
    made = one(told(blocked, turn, rule()), ProposalMade)
    assert made.repertoire is not None
    taught(blocked, made.repertoire.after[0].heuristic_id)
    apply = ProposalApplied(proposal_id=made.proposal_id)
    assert refused(blocked.control(apply)) == "outdated"


@pytest.mark.parametrize(
    ("sent", "reason"),
    [
        ("no rule", "unreadable"),
        (rule(type="shout"), "type"),
        (rule(when="health > 3"), "when_false"),
    ],
)
def test_a_candidate_passes_the_same_gate_as_after_a_vote(
    sent: str, reason: str
) -> None:
    """What falls short is refused with the reason, and the sleep goes on."""
    scenario = living()
    answered_event(scenario)
    answered_event(scenario, "the rain is over", "Go out.")
    turn = told(scenario, scenario.wait(60).control(Sleep()), SAID)

    turn = told(scenario, turn, sent)

    assert names(turn) == ["Handled", "CandidateRefused", "ModelAsked"]
    assert one(turn, CandidateRefused).reason == reason
    assert asleep(scenario).refused == 1


def test_a_candidate_that_is_known_or_has_no_vectors_is_none() -> None:
    """Nobody is asked to judge twice, nor what nothing could match."""
    known = living()
    taught(known, "old", MESSAGE, condition=CONDITION)
    answered_event(known, answer="Something else.")
    turn = told(known, known.wait(60).control(Sleep()), "Something else.")
    turn = told(known, turn, rule())
    assert one(turn, CandidateRefused).reason == "known"

    blind = living()
    answered_event(blind)
    turn = told(blind, blind.wait(60).control(Sleep()), SAID)
    blind.vectorless = True
    assert one(told(blind, turn, rule()), CandidateRefused).reason == "not_embedded"


@pytest.mark.parametrize("why", ["off", "disliked", "asked"])
def test_no_rule_is_asked_for_of_what_should_not_become_one(why: str) -> None:
    """Not where nothing is formed, of what somebody disliked, or what was liked already."""
    scenario = living(formation=why != "off")
    decided = answered_event(scenario)
    if why == "disliked":
        scenario.feedback(decided, "negative")
    if why == "asked":
        scenario.fail_model(scenario.feedback(decided, "positive"))

    turn = told(scenario, scenario.wait(60).control(Sleep()), SAID)

    assert one(turn, Reflected).agrees is True
    assert said(turn, ModelAsked) == []
