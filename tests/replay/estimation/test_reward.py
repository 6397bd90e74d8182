"""The reward model: what it learns, and that it never judges what it learnt from."""

import numpy as np
import pytest

from replay.estimation.reward import cross_fitted, learnt
from tests.replay.estimation.samples import columns, row


def ints(*numbers):
    """Whole numbers as an array."""
    return np.array(numbers, np.int64)


def test_learns_one_more_success_and_failure_than_it_saw():
    """Three rows with two successes give (1 + 2) / (2 + 3)."""
    model = learnt(1, ints(0, 0, 0), ints(0, 0, 0), np.array([1.0, 1.0, 0.0]))

    assert model.predict(ints(0), ints(0)) == [0.6]


def test_knows_each_pair_by_itself_then_the_arm_then_all():
    """A pair never seen gets its arm's mean, an arm never seen that of all."""
    model = learnt(3, ints(0, 1, 1), ints(0, 0, 1), np.array([1.0, 0.0, 0.0]))

    found = model.predict(ints(0, 1, 0, 1), ints(0, 0, 1, 2))

    assert list(found) == pytest.approx([2 / 3, 1 / 3, 1 / 3, 2 / 5])


def test_knows_nothing_from_nothing():
    """Without any row everything is even."""
    model = learnt(2, ints(), ints(), np.array([]))

    assert list(model.predict(ints(0, 3), ints(0, 1))) == [0.5, 0.5]


def test_judges_a_session_by_the_others():
    """Of two sessions each is predicted from the other alone."""
    found = columns(
        *(row(reward=1.0, session="good"),) * 3, *(row(reward=0.0, session="bad"),) * 2
    )
    expected = {0: 1 / 4, 1: 4 / 5}  # "bad" stands first, and is judged by "good"

    predicted = cross_fitted(found).taken(found)

    assert list(predicted) == pytest.approx([expected[1]] * 2 + [expected[0]] * 3)


def test_unknown_rewards_teach_nothing():
    """They are neither successes nor failures."""
    found = columns(row(reward=None, session="one"), row(reward=None, session="two"))

    assert list(cross_fitted(found).taken(found)) == [0.5, 0.5]
