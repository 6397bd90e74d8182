"""The estimator against a companion whose truth is known exactly.

Runs are independent, with fixed seeds; limits are three Monte-Carlo errors wide where a
docstring says no more.
"""

from dataclasses import replace
from functools import cache
from math import sqrt

import numpy as np
import pytest

from evaluation.ope.columns import columns_of
from evaluation.ope.compared import Compared, compare
from evaluation.ope.estimate import estimate
from evaluation.ope.intervals import Interval, interval, plain_interval
from evaluation.ope.rows import Observation
from evaluation.ope.settings import EstimationSettings
from evaluation.ope.verdicts import Verdict
from tests.evaluation.simulators import companion
from tests.evaluation.simulators.companion import (
    ARMS,
    BASELINE,
    CONTEXTS,
    HOW_OFTEN,
    STRATEGIES,
    SUCCESS,
    challenger_odds,
    uniform_odds,
)
from tests.evaluation.simulators.layout import laid_out

MOST_UNSUPPORTED = 0.05
RUNS = 300
QUICK = EstimationSettings(resamples=200)
CHALLENGERS = ("always_llm", "tuned", "quiet")


def compared(log, target):
    """Both strategies on a simulated log."""
    return compare(laid_out(log, target), MOST_UNSUPPORTED)


def ends(found: Interval) -> tuple[float, float]:
    """Where an interval lies, which every log here has."""
    assert found.ci is not None
    return found.ci


def bootstrapped(found: Compared) -> tuple[float, float]:
    """The interval of the difference, from 400 resamples."""
    return ends(interval(found.columns, found.paired, found.columns.known, 400))


@cache
def estimates(target, runs=RUNS, rows=5000):
    """IPS, SNIPS and DR of the target, then of the difference, for so many logs."""
    draws = np.random.default_rng([11, CHALLENGERS.index(target)])
    logs = (
        companion.play(draws, uniform_odds(0.1), sessions=rows) for _ in range(runs)
    )
    return np.array([_figures(compared(log, target)) for log in logs])


def _figures(found: Compared):
    values = found.target.values
    weights = found.target.weights
    return (
        *(values.ips, values.snips, values.dr, found.ips, found.snips, found.dr),
        weights.ess / found.columns.rows,
    )


def test_truth_by_enumeration():
    """The simulator's own table: values, differences and mean squared weights."""
    odds = uniform_odds(0.1)

    assert {name: round(companion.value(name), 6) for name in STRATEGIES} == {
        "heuristic_first": 0.640,
        "always_llm": 0.685,
        "tuned": 0.715,
        "quiet": 0.655,
    }
    assert companion.mean_squared_weight("always_llm", odds) == pytest.approx(
        27.11, abs=0.005
    )
    assert companion.mean_squared_weight("tuned", odds) == pytest.approx(9.75)
    errors = {
        target: tuple(
            round(sqrt(variance / 5000), 4)
            for variance in (
                companion.variance_of_ips(target, odds),
                companion.variance_of_difference(target, odds, is_doubly_robust=False),
                companion.variance_of_difference(target, odds, is_doubly_robust=True),
            )
        )
        for target in CHALLENGERS
    }
    assert errors == {
        "always_llm": (0.0606, 0.0622, 0.0343),
        "tuned": (0.0343, 0.0346, 0.0207),
        "quiet": (0.0289, 0.0289, 0.0215),
    }


def test_truth_with_moods():
    """Moods of spread .15, clipped at sure success, shift the values by what clips."""
    values = [companion.value(name, mood=0.15) for name in STRATEGIES]

    assert values == pytest.approx([0.6373, 0.6836, 0.7127, 0.6522], abs=1e-3)


def test_played_for_real():
    """Living by a strategy gives its enumerated value: 200,000 decisions each."""
    for name in STRATEGIES:
        odds = challenger_odds(name, 1.0)
        draws = np.random.default_rng(1)
        log = companion.play(draws, odds, sessions=200_000)

        assert log.reward.mean() == pytest.approx(companion.value(name), abs=0.0033)


@pytest.mark.parametrize("target", CHALLENGERS)
def test_means_hit_the_truth(target):
    """300 logs of 5,000 decisions: each estimator's mean is within three errors."""
    found = estimates(target)[:, :6]
    truth = [companion.value(target)] * 3 + [companion.difference(target)] * 3
    error = found.std(axis=0, ddof=1) / sqrt(len(found))

    assert (np.abs(found.mean(axis=0) - truth) < 3 * error).all()


@pytest.mark.parametrize("target", CHALLENGERS)
def test_spreads_are_the_closed_form(target):
    """300 logs: IPS is as noisy as it has to be, and DR hardly more than an oracle."""
    odds = uniform_odds(0.1)
    ips, _, _, ips_difference, _, dr_difference, _ = estimates(target).std(axis=0)
    slack = 3 / sqrt(2 * RUNS)

    assert ips == pytest.approx(
        sqrt(companion.variance_of_ips(target, odds) / 5000), rel=slack
    )
    plain, robust = (
        sqrt(
            companion.variance_of_difference(target, odds, is_doubly_robust=each) / 5000
        )
        for each in (False, True)
    )
    assert ips_difference == pytest.approx(plain, rel=slack)
    assert robust * (1 - slack) < dr_difference < robust * (1.05 + slack)


@pytest.mark.parametrize("target", CHALLENGERS)
def test_effective_sample_size(target):
    """The effective share of decisions is one over the mean squared weight."""
    expected = 1 / companion.mean_squared_weight(target, uniform_odds(0.1))

    assert estimates(target)[:, 6].mean() == pytest.approx(expected, rel=0.03)


SETTINGS = {
    "single decisions, uniform": ("tuned", uniform_odds(0.7), 920, 1, 0.0),
    "sessions with moods": ("tuned", challenger_odds("tuned", 0.2), 80, 40, 0.15),
    "quiet challenger": ("quiet", challenger_odds("quiet", 0.2), 60, 40, 0.15),
    "few flips": ("tuned", uniform_odds(0.1), 170, 40, 0.15),
    "always flips": ("always_llm", challenger_odds("always_llm", 0.1), 60, 40, 0.15),
}


@pytest.mark.parametrize("setting", SETTINGS, ids=str)
def test_coverage_of_differences(setting):
    """400 logs with 60 flip observations or more: .93 to .97 of intervals hold the truth.

    400 resamples each, where the shipped setting has 2000.
    """
    target, odds, sessions, length, mood = SETTINGS[setting]
    truth = companion.difference(target, mood=mood)
    draws = np.random.default_rng(17)
    held = flips = 0
    for _ in range(400):
        log = companion.play(draws, odds, sessions=sessions, length=length, mood=mood)
        found = compared(log, target)
        low, high = bootstrapped(found)
        held += low <= truth <= high
        flips += found.target.flips.count

    assert flips / 400 >= 60
    assert 0.93 <= held / 400 <= 0.97


def test_coverage_of_values_needs_sessions():
    """400 logs with moods: clustered intervals of a value hold; unclustered ones do not."""
    truth = companion.value("tuned", mood=0.15)
    odds = challenger_odds("tuned", 0.5)
    draws = np.random.default_rng(18)
    clustered = alone = 0
    for _ in range(400):
        log = companion.play(draws, odds, sessions=60, length=40, mood=0.15)
        found = compared(log, "tuned")
        columns, psi = found.columns, found.target.values.psi
        low, high = ends(plain_interval(columns, psi, columns.known))
        clustered += low <= truth <= high
        reach = 1.96 * psi.std() / sqrt(len(psi))
        alone += abs(psi.mean() - truth) <= reach

    assert 0.925 <= clustered / 400 <= 0.975
    assert alone / 400 < 0.85


@pytest.mark.parametrize(("sessions", "most"), [(60, 0.075), (18, 0.09)])
def test_false_verdicts_under_a_true_null(sessions, most):
    """800 logs where flips change nothing: about one in twenty intervals misses 0.

    With 18 sessions there are 43 flip observations: just past the gate.
    """
    success = SUCCESS.copy()
    success[2, 2] = success[2, 1]
    odds = challenger_odds("tuned", 0.2)
    draws = np.random.default_rng(19)
    false = 0
    for _ in range(800):
        log = companion.play(draws, odds, sessions=sessions, length=40, success=success)
        found = compared(log, "tuned")
        low, high = bootstrapped(found)
        false += not low <= 0.0 <= high

    assert 0.03 <= false / 800 <= most


def test_power_is_as_planned():
    """300 logs of 2,983 decisions find the tuned challenger four times in five."""
    draws = np.random.default_rng(20)
    found = 0
    for _ in range(300):
        log = companion.play(draws, uniform_odds(0.1), sessions=2983)
        each = compared(log, "tuned")
        around = plain_interval(each.columns, each.paired, each.columns.known)
        found += ends(around)[0] > 0.0

    assert 0.70 <= found / 300 <= 0.90


def exactly(target):
    """A log without exploration in which all shares are exactly the true ones."""
    for context, often in enumerate(HOW_OFTEN):
        arm = STRATEGIES[BASELINE][context]
        rows = round(1000 * often)
        for i in range(rows):
            yield Observation(
                session=f"s{i % 20}",
                arm=ARMS[arm],
                propensity=1.0,
                reward=float(i < round(rows * SUCCESS[context, arm])),
                target={ARMS[STRATEGIES[target][context]]: 1.0},
                baseline={ARMS[arm]: 1.0},
                context=CONTEXTS[context],
            )


@pytest.mark.parametrize(
    ("target", "value", "difference"),
    [
        ("tuned", (0.52, 0.82), (-0.12, 0.18)),
        ("always_llm", (0.06, 0.96), (-0.58, 0.32)),
        ("quiet", (0.52, 0.82), (-0.12, 0.18)),
    ],
)
def test_no_exploration_gives_bounds_alone(target, value, difference):
    """Nothing is estimated of what was never played; the truth lies in the bounds."""
    found = estimate(exactly(target))

    assert found.difference.verdict is Verdict.NOT_ENOUGH_OVERLAP
    assert found.target.bounds == pytest.approx(value)
    assert found.difference.bounds == pytest.approx(difference)
    assert value[0] <= companion.value(target) <= value[1]
    untold = (found.target.ips, found.target.snips, found.target.dr, found.target.dm)
    assert {*untold, found.target.se, found.target.ci} == {None}
    assert {found.difference.ips, found.difference.dr, found.difference.ci} == {None}
    assert found.baseline.ips == pytest.approx(companion.value(BASELINE))


def test_a_strategy_against_itself():
    """A/A: the difference is exactly zero, with an interval of no width."""
    draws = np.random.default_rng(23)
    log = companion.play(draws, uniform_odds(0.1), sessions=30, length=40)
    found = estimate(log.observations(BASELINE), QUICK).difference

    assert (found.ips, found.snips, found.dr, found.se) == (0.0, 0.0, 0.0, 0.0)
    assert found.ci == (0.0, 0.0)
    assert found.bounds == (0.0, 0.0)
    assert found.verdict is Verdict.EQUIVALENT


def test_verdicts_come_out_right():
    """With enough challenger exploration: better, worse, and too little to say."""
    draws = np.random.default_rng(24)
    odds = challenger_odds("tuned", 0.3)
    log = companion.play(draws, odds, sessions=100, length=40)

    better = estimate(log.observations("tuned"), QUICK).difference
    worse = estimate(log.observations(BASELINE, "tuned"), QUICK).difference
    assert better.verdict is Verdict.BETTER
    assert worse.verdict is Verdict.WORSE
    assert worse.dr == pytest.approx(-(better.dr or 0.0), abs=1e-15)
    few = companion.play(draws, uniform_odds(0.1), sessions=20, length=40)
    unclear = estimate(few.observations("tuned"), QUICK).difference
    assert unclear.verdict is Verdict.NOT_ENOUGH_OVERLAP


def test_the_two_layouts_agree():
    """The simulator's columns are the estimator's own, bit for bit in all that counts."""
    draws = np.random.default_rng(25)
    log = companion.play(draws, uniform_odds(0.3), sessions=30, length=40)
    told = estimate(log.observations("tuned"), QUICK)
    halves = columns_of(log.observations("tuned")).halves
    columns = replace(laid_out(log, "tuned"), halves=halves)
    found = compare(columns, MOST_UNSUPPORTED)

    assert (told.target.ips, told.target.snips, told.target.dr) == (
        found.target.values.ips,
        found.target.values.snips,
        found.target.values.dr,
    )
    assert told.difference.dr == found.dr
    assert told.target.ess == found.target.weights.ess
