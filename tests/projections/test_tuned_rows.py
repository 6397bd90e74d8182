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
from tests.projections.chronicle import GARDEN, HINTS, LOW, garden, joined
from tests.scenario import Scenario, decision_id

CHANGES: dict[str, Scalar] = {
    "learning.weights.explicit": 3.0,
    "learning.kappa": 1.0,
    "learning.deprecated_below": 0.7,
}


def judged() -> Scenario:
    """A scenario in which the first heuristic was liked once."""
    scenario = garden()
    scenario.feedback(decision_id(scenario.sense(LOW, salience=HINTS)))
    scenario.control(ProposalSubmitted(proposal_id="p", changes=CHANGES))
    return scenario


def heuristics(scenario: Scenario) -> list[Row]:
    """The rows of the agent's heuristics."""
    return list(joined(scenario)["heuristics"].puts.values())


def test_an_applied_proposal_recounts_every_row() -> None:
    """Also of what nothing was learnt of: its prior weighs otherwise."""
    scenario = judged()
    eat, rest = heuristics(scenario)
    assert (eat["confidence"], rest["alpha"]) == (0.857143, 1.2)

    scenario.control(ProposalApplied(proposal_id="p"))

    eat, rest = heuristics(scenario)
    believed = scenario.belief(GARDEN.ids[0], GARDEN.content_hashes[0])
    assert eat["confidence"] == believed.confidence == 0.95
    assert (rest["alpha"], rest["lifecycle"]) == (0.6, "deprecated")


def test_a_reverted_proposal_brings_the_rows_back() -> None:
    """As they were, to the last column."""
    scenario = judged()
    before = heuristics(scenario)
    scenario.control(ProposalApplied(proposal_id="p"))
    scenario.control(ProposalReverted(proposal_id="p"))

    assert heuristics(scenario) == before


def test_a_restart_leaves_a_tuned_agents_rows_alone() -> None:
    """Its own settings go before those of the mind."""
    scenario = judged()
    scenario.control(ProposalApplied(proposal_id="p"))
    before = heuristics(scenario)
    scenario.control(
        factories.mind_started(learning={"kappa": 9.0}), agent=SHARED_AGENT
    )

    assert heuristics(scenario) == before


def test_a_vote_weighs_what_the_agent_lets_it() -> None:
    """The row of a vote says how much it counted."""
    scenario = judged()
    scenario.control(ProposalApplied(proposal_id="p"))
    scenario.feedback(decision_id(scenario.wait(3_600).sense(LOW, salience=HINTS)))

    weights = [
        row["weight"] for row in joined(scenario)["feedback_events"].puts.values()
    ]
    assert weights == [0.8, 3.0]
