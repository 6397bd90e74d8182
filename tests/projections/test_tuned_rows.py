"""Rows under an agent's own learning settings: what is believed is what is shown."""

from projections.rows.changes import Row
from schemas.messages.controls import (
    ProposalApplied,
    ProposalReverted,
    ProposalSubmitted,
)
from schemas.values.base import Scalar
from schemas.values.subjects import SHARED_AGENT
from tests import factories
from tests.life import Life, decision_id
from tests.projections.chronicle import GARDEN, HINTS, LOW, garden, joined

CHANGES: dict[str, Scalar] = {
    "learning.weights.explicit": 3.0,
    "learning.kappa": 1.0,
    "learning.deprecated_below": 0.7,
}


def judged() -> Life:
    """A life in which the first heuristic was liked once."""
    life = garden()
    life.feedback(decision_id(life.sense(LOW, salience=HINTS)))
    life.control(ProposalSubmitted(proposal_id="p", changes=CHANGES))
    return life


def heuristics(life: Life) -> list[Row]:
    """The rows of the agent's heuristics."""
    return list(joined(life)["heuristics"].puts.values())


def test_an_applied_proposal_recounts_every_row() -> None:
    """Also of what nothing was learnt of: its prior weighs otherwise."""
    life = judged()
    eat, rest = heuristics(life)
    assert (eat["confidence"], rest["alpha"]) == (0.857143, 1.2)

    life.control(ProposalApplied(proposal_id="p"))

    eat, rest = heuristics(life)
    believed = life.belief(GARDEN.ids[0], GARDEN.content_hashes[0])
    assert eat["confidence"] == believed.confidence == 0.95
    assert (rest["alpha"], rest["lifecycle"]) == (0.6, "deprecated")


def test_a_reverted_proposal_brings_the_rows_back() -> None:
    """As they were, to the last column."""
    life = judged()
    before = heuristics(life)
    life.control(ProposalApplied(proposal_id="p"))
    life.control(ProposalReverted(proposal_id="p"))

    assert heuristics(life) == before


def test_a_restart_leaves_a_tuned_agents_rows_alone() -> None:
    """Its own settings go before those of the mind."""
    life = judged()
    life.control(ProposalApplied(proposal_id="p"))
    before = heuristics(life)
    life.control(factories.mind_started(learning={"kappa": 9.0}), agent=SHARED_AGENT)

    assert heuristics(life) == before


def test_a_vote_weighs_what_the_agent_lets_it() -> None:
    """The row of a vote says how much it counted."""
    life = judged()
    life.control(ProposalApplied(proposal_id="p"))
    life.feedback(decision_id(life.wait(3_600).sense(LOW, salience=HINTS)))

    weights = [row["weight"] for row in joined(life)["feedback_events"].puts.values()]
    assert weights == [0.8, 3.0]
