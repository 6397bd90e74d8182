"""Rows after a sleep: what went is out of use, and back as it was when that is reverted."""

from projections.rows.changes import Row
from schemas.messages.controls import (
    HeuristicSeeded,
    ProposalApplied,
    ProposalReverted,
    SleepRequested,
)
from schemas.messages.learning import ProposalMade
from tests.handlers.mind.sleepers import SAID, answered_event, living, rule, told
from tests.handlers.mind.sleepers import taught as taught_in_garden
from tests.projections.chronicle import joined
from tests.scenario import Scenario, one


def rows(scenario: Scenario) -> dict[str, Row]:
    """The rows of heuristics by name."""
    found = joined(scenario)["heuristics"].puts.values()
    return {str(row["name"]): row for row in found}


def merged(policy: str) -> tuple[Scenario, str]:
    """A scenario with two that say the same, after a sleep; and what it proposed."""
    scenario = living(model=None)
    for name in ("a", "b"):
        taught_in_garden(scenario, name)
    control = SleepRequested.from_fields({"apply": policy})
    return scenario, one(scenario.control(control), ProposalMade).proposal_id


def test_what_goes_by_hand_is_frozen_and_back_as_it_was() -> None:
    """To the last column."""
    scenario, proposal_id = merged("by_hand")
    before = rows(scenario)
    assert before["a"]["frozen"] is False

    scenario.control(ProposalApplied(proposal_id=proposal_id))
    assert (rows(scenario)["a"]["lifecycle"], rows(scenario)["b"]["frozen"]) == (
        "frozen",
        False,
    )
    scenario.control(ProposalReverted(proposal_id=proposal_id))

    assert rows(scenario) == before


def test_what_goes_by_the_policy_is_frozen_at_once() -> None:
    """The row says so as soon as the sleep is over."""
    scenario, proposal_id = merged("safe")
    assert rows(scenario)["a"]["frozen_by_hand"] is True

    scenario.control(ProposalReverted(proposal_id=proposal_id))
    assert rows(scenario)["a"]["frozen_by_hand"] is False


def test_what_comes_has_a_row_that_is_out_of_force_once_it_goes() -> None:
    """And in force again should it come back."""
    scenario = living()
    answered_event(scenario)
    turn = told(scenario, scenario.wait(60).control(SleepRequested()), SAID)
    made = one(told(scenario, turn, rule()), ProposalMade)
    assert made.repertoire is not None
    name = made.repertoire.after[0].name
    assert name not in rows(scenario)

    scenario.control(ProposalApplied(proposal_id=made.proposal_id))
    assert (rows(scenario)[name]["in_force"], rows(scenario)[name]["origin"]) == (
        True,
        "learned",
    )
    scenario.control(ProposalReverted(proposal_id=made.proposal_id))
    assert rows(scenario)[name]["in_force"] is False
    scenario.control(ProposalApplied(proposal_id=made.proposal_id))
    assert rows(scenario)[name]["in_force"] is True


def test_a_proposal_that_nobody_knows_changes_no_row() -> None:
    """What is refused leaves all as it was."""
    scenario, _ = merged("by_hand")
    before = rows(scenario)
    seeded = {"heuristic_id": "c", "name": "c", "domain": "garden", "text": "Sing."}
    scenario.control(HeuristicSeeded.from_fields({**seeded, "condition": "dusk"}))
    scenario.control(ProposalApplied(proposal_id="none"))

    assert {**rows(scenario), "c": None} == {**before, "c": None}
