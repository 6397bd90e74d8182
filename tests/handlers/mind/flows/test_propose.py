"""Proposals: other settings, in force from when somebody applies them until reverted."""

from typing import Any

import pytest

from handlers.mind.turn import Turn
from schemas.messages.controls import (
    ProposalApplied,
    ProposalReverted,
    ProposalSubmitted,
    StrategySelected,
)
from schemas.messages.decisions import Decided
from schemas.messages.learning import ProposalMade
from schemas.messages.notes import ControlRefused
from schemas.state import limits
from schemas.state.agent import AgentState
from schemas.values.base import Scalar
from schemas.values.subjects import SHARED_AGENT
from tests.factories import heuristic, mind_started, pack
from tests.scenario import Scenario, names, one, refused

THREAT = {"threat": 0.9}
GARDEN = pack(heuristic("h", "health low", "Rest.", confidence=0.65))


def submit(scenario: Scenario, id_: str = "p", **changes: Any) -> Turn:
    """A proposal; its names are written with `__` for a dot."""
    named = {name.replace("__", "."): value for name, value in changes.items()}
    return scenario.control(
        ProposalSubmitted(proposal_id=id_, changes=named, evidence="why", by="ana")
    )


def apply(scenario: Scenario, id_: str = "p") -> Turn:
    """A proposal put in force."""
    return scenario.control(ProposalApplied(proposal_id=id_))


def revert(scenario: Scenario, id_: str = "p") -> Turn:
    """A proposal taken back."""
    return scenario.control(ProposalReverted(proposal_id=id_))


def judged(scenario: Scenario, *votes: str) -> float:
    """The confidence of the garden's heuristic after a fire for each vote."""
    for vote in votes:
        scenario.wait(3_600)
        scenario.feedback(scenario.sense("health low", salience=THREAT), vote)
    return confidence(scenario)


def confidence(scenario: Scenario) -> float:
    """What is believed of the garden's heuristic."""
    return scenario.belief(GARDEN.ids[0], GARDEN.content_hashes[0]).confidence


def without_proposals(state: AgentState) -> dict[str, Any]:
    """What a state holds besides its proposals, its time, its chain and ids it has seen."""
    others = {"proposals", "now", "chain", "sources"}
    fields = type(state).__struct_fields__
    return {name: getattr(state, name) for name in fields if name not in others}


def test_a_proposal_says_what_would_change() -> None:
    """Each setting with its present value and the proposed one; nothing changes yet."""
    scenario = Scenario()
    turn = submit(
        scenario,
        strategy__threshold=0.6,
        learning__weights__explicit=1.0,
        strategy__odd=1,
    )
    assert refused(turn) == "unknown_strategy"
    turn = submit(scenario, strategy__threshold=0.6, learning__weights__explicit=1.0)

    assert names(turn) == ["ControlApplied", "ProposalMade"]
    made = one(turn, ProposalMade)
    assert [(each.name, each.before, each.after) for each in made.changes] == [
        ("learning.weights.explicit", 0.8, 1.0),
        ("strategy.threshold", 0.7, 0.6),
    ]
    assert (made.evidence, made.by) == ("why", "ana")
    assert (scenario.mind.strategy, scenario.mind.tuned) == (None, None)


def test_a_difference_names_what_the_strategy_holds() -> None:
    """Also what nobody has set."""
    turn = submit(Scenario(), learning__gamma=0.9, strategy__max_candidates=2)

    assert [each.before for each in one(turn, ProposalMade).changes] == [1.0, 3]


def test_an_applied_threshold_decides() -> None:
    """The agent decides by it from there, and as before once it is reverted."""
    scenario = Scenario(GARDEN)

    def path() -> str:
        return one(scenario.wait(9).sense("health low", salience=THREAT), Decided).path

    submit(scenario, strategy__threshold=0.6)
    assert path() == "rejected"
    assert names(apply(scenario)) == ["ControlApplied"]
    assert path() == "heuristic"
    assert names(revert(scenario)) == ["ControlApplied"]
    assert path() == "rejected"
    assert scenario.mind.strategy is None


def test_learning_settings_count_the_evidence_anew() -> None:
    """A thumbs-up weighs more at once, also one given before; reverting undoes it."""
    scenario = Scenario(GARDEN, threshold=0.3)
    before = judged(scenario, "positive", "positive")
    submit(scenario, learning__weights__explicit=2.0)
    held = without_proposals(scenario.mind)
    apply(scenario)
    heavier = confidence(scenario)

    assert (before, heavier) == (round(2.9 / 3.6, 6), round(5.3 / 6.0, 6))
    revert(scenario)
    assert without_proposals(scenario.mind) == held


def test_what_was_learnt_meanwhile_stays() -> None:
    """After a revert the evidence counts as if nothing had been proposed."""
    tried, plain = Scenario(GARDEN, threshold=0.3), Scenario(GARDEN, threshold=0.3)
    submit(tried, learning__gamma=0.9, learning__kappa=5.0)
    apply(tried)
    judged(tried, "positive", "negative", "positive")
    revert(tried)

    assert confidence(tried) == judged(plain, "positive", "negative", "positive")


def test_settings_of_the_mind_wait_behind_the_agents_own() -> None:
    """A restart with other settings changes nothing for an agent that was tuned."""
    scenario = Scenario(GARDEN, threshold=0.3)
    submit(scenario, learning__gamma=0.9)
    apply(scenario)
    scenario.control(mind_started(learning={"kappa": 9.0}), agent=SHARED_AGENT)

    assert scenario.mind.learning(scenario.settings).kappa == 2.0
    assert scenario.mind.learning(scenario.settings).gamma == 0.9


@pytest.mark.parametrize(
    ("changes", "reason", "said"),
    [
        ({"learning__gama": 0.9}, "invalid", "did you mean 'learning.gamma'"),
        ({"threshold": 0.9}, "invalid", ", strategy.PARAMETER"),
        ({"learning__gamma": 0.0}, "invalid", "a number from 0.01 to 1"),
        ({"learning__gamma": True}, "invalid", "a number from 0.01 to 1"),
        ({"learning__gamma": "much"}, "invalid", "'much'"),
        ({"learning__weights__outcome": 1e300}, "invalid", "a number from 0 to 100"),
        ({"strategy__genius": 0.1}, "unknown_strategy", "genius"),
        ({"strategy__threshold": 7}, "unknown_strategy", "confidence_threshold"),
    ],
)
def test_what_cannot_be_is_refused(
    changes: dict[str, Any], reason: str, said: str
) -> None:
    """With what is wrong, so that it can be put right."""
    turn = submit(Scenario(), **changes)

    assert refused(turn) == reason
    assert said in one(turn, ControlRefused).detail


def test_each_step_has_its_time() -> None:
    """Unknown, repeated, applied twice, and reverted without being in force."""
    scenario = Scenario()
    assert refused(apply(scenario)) == refused(revert(scenario)) == "unknown_proposal"
    submit(scenario, learning__gamma=0.9)
    assert refused(submit(scenario, learning__gamma=0.8)) == "proposal_exists"
    assert refused(revert(scenario)) == "not_applied"
    apply(scenario)
    assert refused(apply(scenario)) == "already_applied"
    revert(scenario)
    assert refused(revert(scenario)) == "not_applied"
    assert names(apply(scenario)) == ["ControlApplied"]


def test_only_what_was_applied_last_is_reverted() -> None:
    """What was built on top goes first, a selected strategy too."""
    scenario = Scenario()
    submit(scenario, "p", strategy__threshold=0.6)
    apply(scenario, "p")
    submit(scenario, "q", strategy__confidence_threshold=0.5)
    apply(scenario, "q")
    assert refused(revert(scenario, "p")) == "newer_applied"
    revert(scenario, "q")
    assert scenario.mind.strategy is not None
    assert scenario.mind.strategy.parameters == {"threshold": 0.6}
    scenario.control(StrategySelected(strategy="silent"))
    assert refused(revert(scenario, "p")) == "newer_applied"


def test_a_proposal_must_still_be_possible_when_it_is_applied() -> None:
    """Another strategy does not have the parameter."""
    scenario = Scenario()
    submit(scenario, strategy__threshold=0.6)
    scenario.control(StrategySelected(strategy="silent"))

    assert refused(apply(scenario)) == "unknown_strategy"


def test_a_proposal_names_its_agent() -> None:
    """There is nobody to tune behind the shared name."""
    control = ProposalSubmitted(proposal_id="p", changes={"learning.gamma": 0.9})

    assert refused(Scenario().control(control, agent=SHARED_AGENT)) == "invalid"


def test_proposals_are_bounded() -> None:
    """The oldest that is not in force is forgotten first."""
    scenario = Scenario()
    for number in range(limits.PROPOSALS):
        submit(scenario, f"p{number}", learning__gamma=0.9)
    apply(scenario, "p0")
    submit(scenario, "more", learning__gamma=0.8)
    kept = [each.id for each in scenario.mind.proposals]

    assert len(kept) == limits.PROPOSALS
    assert (kept[0], kept[1], kept[-1]) == ("p0", "p2", "more")


def test_a_full_book_of_applied_proposals_still_takes_one() -> None:
    """Then the oldest is forgotten, and can no longer be reverted."""
    scenario = Scenario()
    for number in range(limits.PROPOSALS):
        submit(scenario, f"p{number}", learning__kappa=number + 1)
        apply(scenario, f"p{number}")
    submit(scenario, "more", learning__gamma=0.8)

    assert scenario.mind.proposals[0].id == "p1"
    assert refused(revert(scenario, "p0")) == "unknown_proposal"


@pytest.mark.parametrize(
    ("baseline", "said"),
    [
        ({}, None),
        ({"strategy.threshold": 0.7}, None),
        (
            {"strategy.threshold": 0.8},
            "strategy.threshold is 0.7 here, and was measured",
        ),
    ],
)
def test_figures_of_another_baseline_are_refused(
    baseline: dict[str, Scalar], said: str | None
) -> None:
    """A gain of 0.6 over 0.8 says nothing of an agent that runs with 0.7."""
    scenario = Scenario()
    turn = scenario.control(
        ProposalSubmitted(
            proposal_id="p", changes={"strategy.threshold": 0.6}, baseline=baseline
        )
    )

    if said is None:
        assert names(turn) == ["ControlApplied", "ProposalMade"]
    else:
        assert refused(turn) == "outdated"
        assert said in one(turn, ControlRefused).detail
        assert scenario.mind.proposals == ()


def test_what_was_proposed_over_another_value_is_outdated() -> None:
    """Two over the same value: once one is in force, the other is of a past that is gone."""
    scenario = Scenario()
    submit(scenario, "p", strategy__threshold=0.6)
    submit(scenario, "q", strategy__confidence_threshold=0.5)
    apply(scenario, "p")
    turn = apply(scenario, "q")

    assert refused(turn) == "outdated"
    assert "is 0.6 by now, and was 0.7" in one(turn, ControlRefused).detail
    revert(scenario, "p")
    assert names(apply(scenario, "q")) == ["ControlApplied"]
