"""How rows are laid out: in an order of their own, whatever order they came in."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as some

from evaluation.ope.columns import SPLITS, columns_of
from evaluation.ope.rows import ObservationError
from tests.evaluation.ope.samples import columns, row, rows

ARRAYS = [
    "session",
    "halves",
    "arm",
    "context",
    "propensity",
    "reward",
    "known",
    "position",
    "responded",
    "respond_probability",
]


def same(one, other):
    """Whether two layouts hold the same bits."""
    odds = [
        (getattr(one, name), getattr(other, name)) for name in ("target", "baseline")
    ]
    pairs = [(getattr(one, name), getattr(other, name)) for name in ARRAYS]
    for left, right in odds:
        pairs += [(getattr(left, f), getattr(right, f)) for f in left.__slots__]
    return all(np.array_equal(left, right) for left, right in pairs)


@given(some.data())
def test_order_of_arrival_leaves_no_trace(data):
    """Rows in any order are laid out alike, those without a session included."""
    log = data.draw(rows())
    shuffled = data.draw(some.permutations(log))

    assert same(columns_of(log), columns_of(shuffled))


def test_each_row_without_a_session_is_its_own_cluster():
    """Two named rows share a cluster, three unnamed ones have three."""
    found = columns(row(session="s"), row(), row(session="s"), row(), row(reward=0.0))

    assert found.sessions == 4
    assert sorted(np.bincount(found.session)) == [1, 1, 1, 2]


def test_halves_hold_as_many_sessions_each():
    """The halves of each split differ by one session at most, and no two are alike."""
    found = columns(
        *(row(session=f"s{i}", reward=i / 31) for i in range(31)), *(row(),) * 30
    )

    assert found.halves.shape == (SPLITS, 61)
    assert set(found.halves.sum(axis=1)) == {30}
    assert len({tuple(split) for split in found.halves.tolist()}) == SPLITS


def test_half_of_an_unnamed_row_does_not_tell_its_reward():
    """Equal rows but for the reward fall to either half with either reward."""
    found = columns(*(row(reward=float(i % 2)) for i in range(400)))
    good = found.halves[0][found.session][found.reward == 1.0]

    assert 60 < good.sum() < 140


def test_an_arm_without_odds_does_not_exist():
    """To name an arm with probability 0 says nothing."""
    plain, named = row(target={"b": 1.0}), row(target={"b": 1.0, "z": 0.0})

    assert same(columns(plain), columns(named))
    assert columns(named).arms == ("a", "b")


def test_censored_rows_are_counted_and_left_out():
    """Their session does not exist if nothing is left of it."""
    found = columns(row(session="s1"), row(session="s0", is_censored=True))

    assert (found.rows, found.sessions, found.censored) == (1, 1, 1)


def test_rows_of_a_session_are_by_position():
    """What came later stands later."""
    found = columns(
        *(row(session="s", position=n, arm=a) for n, a in ((2, "b"), (1, "c")))
    )

    assert list(found.position) == [1, 2]
    assert [found.arms[i] for i in found.arm] == ["c", "b"]


def test_refuses_a_decision_that_comes_twice():
    """A decision is one decision."""
    with pytest.raises(ObservationError, match="'d1' comes twice"):
        columns(row(decision="d1"), row(decision="d1"))


def test_refuses_no_decision_at_all():
    """There is nothing to estimate from."""
    with pytest.raises(ObservationError, match="no decision"):
        columns()
