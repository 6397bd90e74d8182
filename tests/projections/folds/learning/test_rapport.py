"""Rapport: how a person and the companion stand, moved by votes and time."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from projections.folds.learning import rapport
from schemas.state.agent import Rapport
from tests.factories import NOON, after

MONTH = 30 * 24 * 3600.0


def test_a_good_vote_closes_part_of_the_gap() -> None:
    """r gains 0.05 w (1 - r)."""
    assert rapport.voted(Rapport(), "d1", 1.0, NOON).value == 0.525
    assert rapport.voted(Rapport(), "d1", 0.5, NOON).value == 0.5125


def test_a_bad_vote_costs_twice_as_much() -> None:
    """r loses 0.10 w r."""
    assert rapport.voted(Rapport(), "d1", -1.0, NOON).value == 0.45
    assert rapport.voted(Rapport(), "d1", -0.5, NOON).value == 0.475


def test_a_vote_of_nothing_moves_nothing() -> None:
    """A scaled vote of 0 is heard and weighs nothing."""
    assert rapport.voted(Rapport(), "d1", 0.0, NOON).value == 0.5


def test_a_changed_vote_replaces_the_earlier_one() -> None:
    """Three clicks are one; up then down is down."""
    up = rapport.voted(Rapport(), "d1", 1.0, NOON)
    thrice = rapport.voted(rapport.voted(up, "d1", 1.0, NOON), "d1", 1.0, NOON)
    down = rapport.voted(up, "d1", -1.0, NOON)

    assert thrice.value == up.value
    assert down.value == rapport.voted(Rapport(), "d1", -1.0, NOON).value


def test_votes_on_several_decisions_add_up() -> None:
    """Each decision has a vote of its own."""
    first = rapport.voted(Rapport(), "d1", 1.0, NOON)
    second = rapport.voted(first, "d2", 1.0, NOON)

    assert second.value == pytest.approx(0.525 + 0.05 * 0.475, abs=1e-6)


def test_rapport_drifts_toward_neutral() -> None:
    """What no vote renews is halved every thirty days."""
    warm = Rapport(value=0.9, at=NOON)

    assert rapport.value_at(Rapport(), after(MONTH)) == 0.5
    assert rapport.value_at(warm, NOON) == 0.9
    assert rapport.value_at(warm, after(MONTH)) == 0.7
    assert rapport.value_at(warm, after(2 * MONTH)) == 0.6
    assert rapport.value_at(Rapport(value=0.1, at=NOON), after(MONTH)) == 0.3
    assert rapport.value_at(warm, after(-60)) == 0.9


def test_drift_comes_before_the_vote() -> None:
    """A vote moves rapport as it stands on that day."""
    late = rapport.voted(Rapport(value=0.9, at=NOON), "d1", 1.0, after(MONTH))

    assert late.value == pytest.approx(0.7 + 0.05 * 0.3, abs=1e-6)
    assert late.at == after(MONTH)


@given(st.lists(st.tuples(st.integers(0, 5), st.floats(-1, 1)), max_size=40))
def test_rapport_stays_between_its_ends(votes: list[tuple[int, float]]) -> None:
    """No series of votes leads out of [0, 1]."""
    held = Rapport()
    for hour, (decision, vote) in enumerate(votes):
        held = rapport.voted(held, f"d{decision}", vote, after(3600.0 * hour))

    assert 0.0 <= held.value <= 1.0
