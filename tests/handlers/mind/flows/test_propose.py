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
from schemas.values.subjects import SHARED_AGENT
from tests.factories import heuristic, mind_started, pack
from tests.life import Life, names, one, refused

THREAT = {"threat": 0.9}
GARDEN = pack(heuristic("h", "health low", "Rest.", confidence=0.65))


def submit(life: Life, id_: str = "p", **changes: Any) -> Turn:
    """A proposal; its names are written with `__` for a dot."""
    named = {name.replace("__", "."): value for name, value in changes.items()}
    return life.control(
        ProposalSubmitted(proposal_id=id_, changes=named, evidence="why", by="ana")
    )


def apply(life: Life, id_: str = "p") -> Turn:
    """A proposal put in force."""
    return life.control(ProposalApplied(proposal_id=id_))


def revert(life: Life, id_: str = "p") -> Turn:
    """A proposal taken back."""
    return life.control(ProposalReverted(proposal_id=id_))


def judged(life: Life, *votes: str) -> float:
    """The confidence of the garden's heuristic after a fire for each vote."""
    for vote in votes:
        life.wait(3_600)
        life.feedback(life.sense("health low", salience=THREAT), vote)
    return confidence(life)


def confidence(life: Life) -> float:
    """What is believed of the garden's heuristic."""
    return life.belief(GARDEN.ids[0], GARDEN.content_hashes[0]).confidence


def without_proposals(state: AgentState) -> dict[str, Any]:
    """What a state holds besides its proposals, its time and its chain."""
    others = {"proposals", "now", "chain"}
    fields = type(state).__struct_fields__
    return {name: getattr(state, name) for name in fields if name not in others}


def test_a_proposal_says_what_would_change() -> None:
    """Each setting with its present value and the proposed one; nothing changes yet."""
    life = Life()
    turn = submit(
        life, strategy__threshold=0.6, learning__weights__explicit=1.0, strategy__odd=1
    )
    assert refused(turn) == "unknown_strategy"
    turn = submit(life, strategy__threshold=0.6, learning__weights__explicit=1.0)

    assert names(turn) == ["ControlApplied", "ProposalMade"]
    made = one(turn, ProposalMade)
    assert [(each.name, each.before, each.after) for each in made.changes] == [
        ("learning.weights.explicit", 0.8, 1.0),
        ("strategy.threshold", 0.7, 0.6),
    ]
    assert (made.evidence, made.by) == ("why", "ana")
    assert (life.mind.strategy, life.mind.tuned) == (None, None)


def test_a_difference_names_what_the_strategy_holds() -> None:
    """Also what nobody has set."""
    turn = submit(Life(), learning__gamma=0.9, strategy__max_candidates=2)

    assert [each.before for each in one(turn, ProposalMade).changes] == [1.0, 3]


def test_an_applied_threshold_decides() -> None:
    """The agent decides by it from there, and as before once it is reverted."""
    life = Life(GARDEN)

    def path() -> str:
        return one(life.wait(9).sense("health low", salience=THREAT), Decided).path

    submit(life, strategy__threshold=0.6)
    assert path() == "rejected"
    assert names(apply(life)) == ["ControlApplied"]
    assert path() == "heuristic"
    assert names(revert(life)) == ["ControlApplied"]
    assert path() == "rejected"
    assert life.mind.strategy is None


def test_learning_settings_count_the_evidence_anew() -> None:
    """A thumbs-up weighs more at once, also one given before; reverting undoes it."""
    life = Life(GARDEN, threshold=0.3)
    before = judged(life, "positive", "positive")
    submit(life, learning__weights__explicit=2.0)
    held = without_proposals(life.mind)
    apply(life)
    heavier = confidence(life)

    assert (before, heavier) == (round(2.9 / 3.6, 6), round(5.3 / 6.0, 6))
    revert(life)
    assert without_proposals(life.mind) == held


def test_what_was_learnt_meanwhile_stays() -> None:
    """After a revert the evidence counts as if nothing had been proposed."""
    tried, plain = Life(GARDEN, threshold=0.3), Life(GARDEN, threshold=0.3)
    submit(tried, learning__gamma=0.9, learning__kappa=5.0)
    apply(tried)
    judged(tried, "positive", "negative", "positive")
    revert(tried)

    assert confidence(tried) == judged(plain, "positive", "negative", "positive")


def test_settings_of_the_mind_wait_behind_the_agents_own() -> None:
    """A restart with other settings changes nothing for an agent that was tuned."""
    life = Life(GARDEN, threshold=0.3)
    submit(life, learning__gamma=0.9)
    apply(life)
    life.control(mind_started(learning={"kappa": 9.0}), agent=SHARED_AGENT)

    assert life.mind.learning(life.settings).kappa == 2.0
    assert life.mind.learning(life.settings).gamma == 0.9


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
    turn = submit(Life(), **changes)

    assert refused(turn) == reason
    assert said in one(turn, ControlRefused).detail


def test_each_step_has_its_time() -> None:
    """Unknown, repeated, applied twice, and reverted without being in force."""
    life = Life()
    assert refused(apply(life)) == refused(revert(life)) == "unknown_proposal"
    submit(life, learning__gamma=0.9)
    assert refused(submit(life, learning__gamma=0.8)) == "proposal_exists"
    assert refused(revert(life)) == "not_applied"
    apply(life)
    assert refused(apply(life)) == "already_applied"
    revert(life)
    assert refused(revert(life)) == "not_applied"
    assert names(apply(life)) == ["ControlApplied"]


def test_only_what_was_applied_last_is_reverted() -> None:
    """What was built on top goes first, a selected strategy too."""
    life = Life()
    submit(life, "p", strategy__threshold=0.6)
    submit(life, "q", strategy__confidence_threshold=0.5)
    apply(life, "p")
    apply(life, "q")
    assert refused(revert(life, "p")) == "newer_applied"
    revert(life, "q")
    assert life.mind.strategy is not None
    assert life.mind.strategy.parameters == {"threshold": 0.6}
    life.control(StrategySelected(strategy="silent"))
    assert refused(revert(life, "p")) == "newer_applied"


def test_a_proposal_must_still_be_possible_when_it_is_applied() -> None:
    """Another strategy does not have the parameter."""
    life = Life()
    submit(life, strategy__threshold=0.6)
    life.control(StrategySelected(strategy="silent"))

    assert refused(apply(life)) == "unknown_strategy"


def test_a_proposal_names_its_agent() -> None:
    """There is nobody to tune behind the shared name."""
    control = ProposalSubmitted(proposal_id="p", changes={"learning.gamma": 0.9})

    assert refused(Life().control(control, agent=SHARED_AGENT)) == "invalid"


def test_proposals_are_bounded() -> None:
    """The oldest that is not in force is forgotten first."""
    life = Life()
    for number in range(limits.PROPOSALS):
        submit(life, f"p{number}", learning__gamma=0.9)
    apply(life, "p0")
    submit(life, "more", learning__gamma=0.8)
    kept = [each.id for each in life.mind.proposals]

    assert len(kept) == limits.PROPOSALS
    assert (kept[0], kept[1], kept[-1]) == ("p0", "p2", "more")


def test_a_full_book_of_applied_proposals_still_takes_one() -> None:
    """Then the oldest is forgotten, and can no longer be reverted."""
    life = Life()
    for number in range(limits.PROPOSALS):
        submit(life, f"p{number}", learning__kappa=number + 1)
        apply(life, f"p{number}")
    submit(life, "more", learning__gamma=0.8)

    assert life.mind.proposals[0].id == "p1"
    assert refused(revert(life, "p0")) == "unknown_proposal"
