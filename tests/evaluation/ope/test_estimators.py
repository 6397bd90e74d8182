"""The estimators, by hand."""

import numpy as np
import pytest
from hypothesis import given

from evaluation.ope.columns import columns_of
from evaluation.ope.compared import compare
from evaluation.ope.estimators import doubly_robust, mean, values
from evaluation.ope.reward_model import cross_fitted
from tests.evaluation.ope.samples import columns, row, rows


def target(*log):
    """The target's values."""
    found = columns(*log)
    return values(found, found.target, cross_fitted(found))


HAND = (
    row("a", 0.8, 1.0, "b"),  # no match: weight 0
    row("b", 0.2, 1.0, "b"),  # weight 5
    row("b", 0.5, 0.0, {"a": 0.5, "b": 0.5}),  # weight 1
    row("a", 1.0, 0.5, "a"),  # weight 1
)


def test_ips_is_the_mean_of_weighted_rewards():
    """(0 + 5 + 0 + 0.5) / 4."""
    assert target(*HAND).ips == 1.375


def test_snips_divides_by_the_weights():
    """(0 + 5 + 0 + 0.5) / (0 + 5 + 1 + 1)."""
    assert target(*HAND).snips == 5.5 / 7


def test_snips_of_no_weight_is_nothing():
    """Where the target was never played there is no mean of what it got."""
    found = target(row("a", 0.5, 1.0, "b"))

    assert found.snips is None
    assert list(found.snips_influence()) == [0.0]


def test_dr_corrects_the_prediction_by_the_surprise():
    """Two sessions that judge one another, all by hand."""
    found = target(
        row("b", 0.5, 1.0, "b", session="one"),  # judged by two: 0, weight 2
        row("b", 0.5, 0.0, "b", session="two"),  # judged by one: 1, weight 2
    )

    assert sorted(found.predicted) == [0.0, 1.0]
    assert sorted(found.psi) == [1.0 - 2.0, 0.0 + 2.0]
    assert (found.dm, found.dr) == pytest.approx((0.5, 0.5))


def test_dr_of_a_model_that_expects_nothing_is_ips():
    """Without predictions only the weighted rewards are left."""
    weight, reward = np.array([0.0, 5.0, 1.0]), np.array([1.0, 1.0, 0.5])
    nothing = np.zeros(3)

    assert list(doubly_robust(nothing, weight, reward - nothing)) == [0.0, 5.0, 0.5]


@given(rows(is_known=True))
def test_weights_of_one_give_the_plain_mean(log):
    """A strategy that was played, and nothing else, is worth what it got."""
    played = [
        row(each.arm, 1.0, each.reward, each.arm, session=each.session) for each in log
    ]
    found = target(*played)

    plain = pytest.approx(sum(each.reward for each in log) / len(log), abs=1e-12)
    assert (found.ips, found.snips, found.dr) == (plain, plain, plain)


@given(rows())
def test_a_strategy_differs_from_itself_by_nothing(log):
    """Rows with the same odds give a difference of exactly 0."""
    same = [
        row(each.arm, each.propensity, each.reward, each.target, dict(each.target))
        for each in log
    ]

    assert not compare(columns_of(same), 0.05).paired.any()


@given(rows(is_known=True))
def test_paired_difference_is_the_difference_of_the_values(log):
    """Row by row or on the whole, it is the same but for rounding."""
    found = compare(columns_of(log), 0.05)

    expected = found.target.values.dr - found.baseline.values.dr
    assert found.dr == pytest.approx(expected, abs=1e-12)


def test_unknown_rewards_are_left_out():
    """What is not known is no zero."""
    assert target(row("a", 1.0, 1.0, "a"), row("a", 1.0, None, "a")).ips == 1.0


def test_mean_is_rounded_once():
    """Ten tenths are one; nothing has mean 0."""
    assert mean(np.full(10, 0.1)) == 0.1
    assert mean(np.array([1e16, 1.0, -1e16])) == 1 / 3
    assert mean(np.array([])) == 0.0
