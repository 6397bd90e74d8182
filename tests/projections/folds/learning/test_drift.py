"""Drift: the latest fires against all before them, with room for chance."""

from fractions import Fraction
from math import comb
from random import Random

import pytest

from projections.folds.learning import confidence
from projections.folds.learning.drift import drift, interval
from schemas.state.evidence import Belief
from schemas.values.learning_settings import LearningSettings
from tests.factories import plain_learning


def belief_after(ends: list[bool], learning: LearningSettings) -> Belief:
    """What is believed after fires that ended so."""
    held = confidence.initial(0.5, learning)
    for place, good in enumerate(ends):
        held = confidence.observed(held, f"f{place}", good, place, learning)
    return held


def rising(start: int, count: int) -> Fraction:
    """start (start + 1) … of so many factors."""
    product = Fraction(1)
    for each in range(count):
        product *= start + each
    return product


@pytest.mark.parametrize(("alpha", "beta"), [(1, 1), (7, 3), (140, 60), (1, 400)])
@pytest.mark.parametrize("n", [1, 10, 20])
def test_the_interval_is_that_of_the_beta_binomial(
    alpha: int, beta: int, n: int
) -> None:
    """By exact fractions: outside it lie no more than the tails, and just so."""
    pmf = [
        comb(n, k) * rising(alpha, k) * rising(beta, n - k) / rising(alpha + beta, n)
        for k in range(n + 1)
    ]
    assert sum(pmf) == 1
    low, high = interval(alpha, beta, n, 0.95)
    tail = Fraction(25, 1000)

    assert sum(pmf[:low]) <= tail < sum(pmf[: low + 1])
    assert sum(pmf[high + 1 :]) <= tail < sum(pmf[high:])


def test_much_evidence_does_not_vanish() -> None:
    """Where the far ends are too improbable to be told from nothing."""
    assert interval(90_000.0, 10_000.0, 128, 0.999) == (103, 125)


def test_there_must_be_as_many_before() -> None:
    """With fewer nobody could tell."""
    learning = plain_learning(drift_fires=10, drift_level=0.99)
    few = [True] * 9 + [False] * 10

    assert drift(belief_after(few, learning), learning) is None
    raised = drift(belief_after([True, *few], learning), learning)
    assert raised is not None
    assert (raised.fires, raised.successes, raised.low) == (10, 0, 0.5)
    assert raised.expected == 0.916667
    assert drift(belief_after([True, *few], learning), plain_learning()) is None
    off = plain_learning(drift_fires=0)
    assert drift(belief_after([True, *few], off), off) is None


def test_getting_better_is_drift_as_well() -> None:
    """What is trusted too little has changed, too."""
    learning = plain_learning(drift_fires=10, drift_level=0.99)
    raised = drift(belief_after([False] * 30 + [True] * 10, learning), learning)

    assert raised is not None
    assert raised.high < 1.0


def test_a_vote_does_not_hide_how_a_fire_went() -> None:
    """Of several signals on one fire the strongest counts, and it counts once."""
    learning = plain_learning(drift_fires=10, drift_level=0.99)
    held = belief_after([True] * 20 + [False] * 10, learning)
    for fire in range(20, 30):
        held = confidence.voted(held, f"f{fire}", "ada", 1.0, 50 + fire, learning)
    # What a model says is about no fire at all.
    held = confidence.endorsed(held, "d", 0.9, 90, learning)

    raised = drift(held, learning)
    assert raised is not None
    assert (raised.fires, raised.successes) == (10, 0)


def test_an_interval_of_the_rate_alone_would_alarm_in_most_sound_lives() -> None:
    """The predictive one allows for the chance of twenty fires, too."""
    learning = plain_learning()
    predictive = credible = 0
    for seed in range(20):
        random, ends = Random(seed), []
        alarms: set[str] = set()
        for _ in range(150):
            ends.append(random.random() < 0.7)
            if len(ends) < 40 or len(ends) % 3:
                continue
            before = 1 + sum(ends[:-20]), 1 + ends[:-20].count(False)
            low, high = interval(*before, 20, learning.drift_level)
            alarms |= set() if low <= sum(ends[-20:]) <= high else {"predictive"}
            # Of very many fires only what is not known of the rate is left.
            low, high = interval(*before, 2_000, learning.drift_level)
            inside = low <= 100 * sum(ends[-20:]) <= high
            alarms |= set() if inside else {"credible"}
        predictive += "predictive" in alarms
        credible += "credible" in alarms

    assert predictive <= 2
    assert credible >= 12


def test_a_steady_life_seldom_alarms_and_a_drop_nearly_always() -> None:
    """Over sixty lives of 150 fires at .7, and then forty at .2."""
    learning = plain_learning()
    false_alarms = caught = 0
    for seed in range(60):
        random = Random(seed)
        held, alarms = belief_after([], learning), []
        for place in range(190):
            good = random.random() < (0.7 if place < 150 else 0.2)
            held = confidence.observed(held, f"f{place}", good, place, learning)
            if place % 3 == 0 and drift(held, learning) is not None:
                alarms.append(place)
        false_alarms += any(each < 150 for each in alarms)
        caught += any(each >= 150 for each in alarms)

    assert false_alarms <= 4
    assert caught >= 58
