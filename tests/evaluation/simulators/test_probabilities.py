"""Whether logged probabilities are called wrong when they are, and only then."""

from dataclasses import replace

import numpy as np
import pytest

from evaluation.ope.columns import Columns
from evaluation.ope.compared import compare
from evaluation.ope.estimate import estimate
from evaluation.ope.settings import EstimationSettings, Limits
from evaluation.ope.verdicts import Verdict
from evaluation.ope.weight_diagnostics import uniform_z
from tests.evaluation.simulators import companion
from tests.evaluation.simulators.companion import ARMS, BASELINE, CONTEXTS, uniform_odds
from tests.evaluation.simulators.layout import laid_out

QUICK = EstimationSettings(resamples=200)


def wrong_odds(rate=0.1):
    """A common mistake: exploration shared by the other arms only."""
    others = len(ARMS) - 1
    odds = np.full((len(CONTEXTS), len(ARMS)), rate / others)
    odds[np.arange(len(CONTEXTS)), companion.chosen(BASELINE)] = 1.0 - rate
    return odds


@pytest.mark.parametrize(
    "told",
    [wrong_odds(), uniform_odds(0.05), uniform_odds(0.15)],
    ids=["others only", "half the rate", "more than the rate"],
)
@pytest.mark.parametrize("is_whole", [True, False], ids=["all arms", "the arm taken"])
def test_wrong_probabilities_are_invalid(told, is_whole):
    """Each of 10 logs whose probabilities come from a wrong formula is INVALID."""
    draws = np.random.default_rng(21)
    for _ in range(10):
        log = companion.play(draws, uniform_odds(0.1), sessions=125, length=40)
        logging = told[log.context]
        propensity = logging[np.arange(len(log.arm)), log.arm]
        wrong = replace(log, propensity=propensity, logging=logging)
        rows = wrong.observations("tuned")
        if not is_whole:
            rows = (replace(row, logging=None) for row in rows)

        assert estimate(rows, QUICK).difference.verdict is Verdict.INVALID


def alarms(columns: Columns) -> bool:
    """Whether any of the three checks cautions, or worse."""
    found, limits = compare(columns, 0.05), Limits()
    checks = (
        found.target.weights.z,
        found.baseline.weights.z,
        uniform_z(found.columns) or 0.0,
    )
    return max(map(abs, checks)) > limits.propensity_z_caution_max


@pytest.mark.parametrize("rate", [0.1, 0.3, 0.5])
@pytest.mark.parametrize("target", ["tuned", "always_llm", "quiet"])
def test_sound_logs_seldom_get_a_caution(rate, target):
    """At most one in twenty of 300, whatever is asked of them: all three checks together."""
    draws = np.random.default_rng(23)
    logs = (
        companion.play(draws, uniform_odds(rate), sessions=50, length=40)
        for _ in range(300)
    )

    assert sum(alarms(laid_out(log, target)) for log in logs) <= 15


def test_right_probabilities_are_rarely_called_wrong():
    """Of 600 sound logs the three checks together call at most one in a hundred INVALID."""
    draws = np.random.default_rng(22)
    alarms = 0
    for _ in range(600):
        log = companion.play(draws, uniform_odds(0.1), sessions=50, length=40)
        found = compare(laid_out(log, "tuned"), 0.05)
        checks = (
            found.target.weights.z,
            found.baseline.weights.z,
            uniform_z(found.columns) or 0.0,
        )
        alarms += max(abs(z) for z in checks) > 3.0

    assert alarms <= 6
