"""Intervals that hold at every look, beside ville's and against false alarms."""

import numpy as np
import pytest
from ville import AsymptoticCS

from evaluation.ope.sequential import FIRST_LOOK, asymptotic, contrast


def sessions(n=500, seed=1):
    """One value a session in [0, 1]: the mean of five yes-or-no outcomes."""
    return np.random.default_rng(seed).binomial(5, 0.6, n) / 5


@pytest.mark.parametrize("n", [20, 100, 500])
def test_asymptotic_agrees_with_ville(n):
    """The same interval but for the tuning, which ville solves for and we approximate."""
    values = sessions(n)
    theirs = AsymptoticCS(t_opt=100, min_samples=FIRST_LOOK)
    theirs.update(values)

    _, low, high = asymptotic(values).last
    assert (low, high) == pytest.approx(theirs.interval(), abs=2e-3)


def test_widths_after_five_hundred_sessions():
    """Looking at any time costs about 1.6 times the width of a single look."""
    values = np.clip(np.random.default_rng(3).normal(0.6, 0.25, 500), 0.0, 1.0)

    once = 2 * 1.96 * values.std() / np.sqrt(500)
    running = asymptotic(values)
    assert 1.4 < (running.high[-1] - running.low[-1]) / once < 1.8


def test_says_nothing_before_the_first_look():
    """A few equal sessions have no spread, and must not make a verdict."""
    few = asymptotic([1.0] * (FIRST_LOOK - 1))

    assert few.low[-1] <= 0.0 <= few.high[-1]
    assert asymptotic([1.0] * FIRST_LOOK).low[-1] > 0.0


def test_false_alarms_of_looking_at_each_session():
    """In 600 A/A runs of 500 sessions, looked at from the 20th on, few ever exclude 0.

    A plain interval would in more than three of ten.
    """
    draws = np.random.default_rng(7)
    alarms = plain = 0
    for _ in range(600):
        values = draws.normal(0.0, 0.25, 500)
        running = asymptotic(values)
        alarms += bool(((running.low > 0.0) | (running.high < 0.0)).any())
        n = np.arange(1, 501)
        mean = np.cumsum(values) / n
        spread = np.sqrt(np.cumsum(values**2) / n - mean**2)
        naive = np.abs(mean) > 1.96 * spread / np.sqrt(n)
        plain += bool(naive[FIRST_LOOK - 1 :].any())

    assert alarms / 600 < 0.05
    assert plain / 600 > 0.3


def test_contrast_means_the_difference():
    """Over 400 experiments the contrast's mean is the true difference."""
    draws = np.random.default_rng(9)
    found = []
    for _ in range(400):
        is_b = draws.random(100) < 0.3
        values = (draws.random(100) < np.where(is_b, 0.7, 0.6)).astype(np.float64)
        told = contrast(values, is_b, probability=0.3)
        found.append(told.mean())

    error = np.std(found) / np.sqrt(len(found))
    assert np.mean(found) == pytest.approx(0.1, abs=3 * error)


def test_false_alarms_of_a_live_experiment():
    """Of 500 A/A experiments of 300 sessions, looked at all along, few end in a verdict."""
    draws = np.random.default_rng(11)
    alarms = 0
    for _ in range(500):
        values = draws.binomial(5, 0.7, 300) / 5
        running = asymptotic(contrast(values, draws.random(300) < 0.5))
        alarms += bool(((running.low > 0.0) | (running.high < 0.0)).any())

    assert alarms / 500 <= 0.05


def test_contrast_gains_from_earlier_sessions():
    """Guessing from what was seen makes the contrast steadier than guessing one half."""
    draws = np.random.default_rng(10)
    is_b = draws.random(2000) < 0.5
    values = (draws.random(2000) < 0.85).astype(np.float64)

    plain = np.where(is_b, values - 0.5, 0.5 - values) / 0.5
    assert contrast(values, is_b).std() < 0.95 * plain.std()


@pytest.mark.parametrize("given", [[], [float("nan")], [0.1, float("inf")]])
def test_refuses_what_is_no_number(given):
    """No values, or one that is none, is an error."""
    with pytest.raises(ValueError, match="give one a session"):
        asymptotic(given)


def test_refuses_an_impossible_level():
    """Alpha is a chance between 0 and 1."""
    with pytest.raises(ValueError, match="alpha"):
        asymptotic([0.2], alpha=0.0)
    with pytest.raises(ValueError, match="probability"):
        contrast([0.2], [True], probability=1.0)
