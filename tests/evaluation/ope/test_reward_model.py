"""The reward model: what it learns, and that it never judges what it learnt from."""

import numpy as np
import pytest

from evaluation.ope.columns import SPLITS
from evaluation.ope.reward_model import cross_fitted, learnt
from tests.evaluation.ope.samples import columns, row


def ints(*numbers):
    """Whole numbers as an array."""
    return np.array(numbers, np.int64)


def test_shrinks_to_the_mean_of_all():
    """Two more rows' worth of the overall mean: one success in 50 is no coin flip."""
    rewards = np.array([1.0, *[0.0] * 49])
    arm = np.array([0, *[1] * 49])
    model = learnt(3, np.zeros(50, np.int64), arm, rewards)

    first, second = (1.0 + 2 * 0.02) / 3, 2 * 0.02 / 51
    assert list(model.predict(ints(1, 1, 1), ints(0, 1, 2))) == pytest.approx(
        [first, second, 0.02]
    )
    assert model.predict(ints(0), ints(0)) == pytest.approx([(1.0 + 2 * first) / 3])


def test_knows_each_pair_by_itself_then_the_arm_then_all():
    """A pair never seen gets its arm's mean, an arm never seen that of all."""
    model = learnt(3, ints(0, 1, 1), ints(0, 0, 1), np.array([1.0, 0.0, 0.0]))

    found = model.predict(ints(0, 1, 0, 1), ints(0, 0, 1, 2))

    arm = [(1 + 2 / 3) / 4, (2 / 3) / 3]
    assert list(found) == pytest.approx(
        [(1 + 2 * arm[0]) / 3, 2 * arm[0] / 3, arm[1], 1 / 3]
    )


def test_knows_nothing_from_nothing():
    """Without any row everything is even."""
    model = learnt(2, ints(), ints(), np.array([]))

    assert list(model.predict(ints(0, 3), ints(0, 1))) == [0.5, 0.5]


def test_judges_a_session_by_the_others():
    """Of two sessions each is predicted from the other alone."""
    found = columns(
        *(row(reward=1.0, session="good"),) * 3, *(row(reward=0.0, session="bad"),) * 2
    )

    for split in range(SPLITS):
        predicted = cross_fitted(found, split).taken(found)
        assert list(predicted) == [1.0, 1.0, 0.0, 0.0, 0.0]


def test_unknown_rewards_teach_nothing():
    """They are neither successes nor failures."""
    found = columns(row(reward=None, session="one"), row(reward=None, session="two"))

    assert list(cross_fitted(found).taken(found)) == [0.5, 0.5]
