"""Rows after a sleep: what went is out of use, and back as it was when that is reverted."""

from projections.rows.changes import Row
from schemas.messages.controls import (
    HeuristicSeeded,
    ProposalApplied,
    ProposalReverted,
    SleepRequested,
)
from schemas.messages.learning import ProposalMade
from tests.handlers.mind.sleepers import SAID, lived, living, rule, told
from tests.handlers.mind.sleepers import taught as taught_in_garden
from tests.life import Life, one
from tests.projections.chronicle import joined


def rows(life: Life) -> dict[str, Row]:
    """The rows of heuristics by name."""
    found = joined(life)["heuristics"].puts.values()
    return {str(row["name"]): row for row in found}


def merged(policy: str) -> tuple[Life, str]:
    """A life with two that say the same, after a sleep; and what it proposed."""
    life = living(model=None)
    for name in ("a", "b"):
        taught_in_garden(life, name)
    control = SleepRequested.model_validate({"apply": policy})
    return life, one(life.control(control), ProposalMade).proposal_id


def test_what_goes_by_hand_is_frozen_and_back_as_it_was() -> None:
    """To the last column."""
    life, proposal_id = merged("by_hand")
    before = rows(life)
    assert before["a"]["frozen"] is False

    life.control(ProposalApplied(proposal_id=proposal_id))
    assert (rows(life)["a"]["lifecycle"], rows(life)["b"]["frozen"]) == (
        "frozen",
        False,
    )
    life.control(ProposalReverted(proposal_id=proposal_id))

    assert rows(life) == before


def test_what_goes_by_the_policy_is_frozen_at_once() -> None:
    """The row says so as soon as the sleep is over."""
    life, proposal_id = merged("safe")
    assert rows(life)["a"]["frozen_by_hand"] is True

    life.control(ProposalReverted(proposal_id=proposal_id))
    assert rows(life)["a"]["frozen_by_hand"] is False


def test_what_comes_has_a_row_that_is_out_of_force_once_it_goes() -> None:
    """And in force again should it come back."""
    life = living()
    lived(life)
    turn = told(life, life.wait(60).control(SleepRequested()), SAID)
    made = one(told(life, turn, rule()), ProposalMade)
    assert made.repertoire is not None
    name = made.repertoire.after[0].name
    assert name not in rows(life)

    life.control(ProposalApplied(proposal_id=made.proposal_id))
    assert (rows(life)[name]["in_force"], rows(life)[name]["origin"]) == (
        True,
        "learned",
    )
    life.control(ProposalReverted(proposal_id=made.proposal_id))
    assert rows(life)[name]["in_force"] is False
    life.control(ProposalApplied(proposal_id=made.proposal_id))
    assert rows(life)[name]["in_force"] is True


def test_a_proposal_that_nobody_knows_changes_no_row() -> None:
    """What is refused leaves all as it was."""
    life, _ = merged("by_hand")
    before = rows(life)
    seeded = {"heuristic_id": "c", "name": "c", "domain": "garden", "text": "Sing."}
    life.control(HeuristicSeeded.model_validate({**seeded, "condition": "dusk"}))
    life.control(ProposalApplied(proposal_id="none"))

    assert {**rows(life), "c": None} == {**before, "c": None}
