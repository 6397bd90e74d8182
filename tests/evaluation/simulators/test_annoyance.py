"""The estimator against a companion that can talk too much: it must claim less."""

import numpy as np
import pytest

from evaluation.ope.estimate import estimate
from evaluation.ope.settings import EstimationSettings
from evaluation.ope.verdicts import Verdict, is_opposed
from tests.evaluation.simulators import annoyance
from tests.evaluation.simulators.annoyance import at_random, long_run_value, while_calm

QUICK = EstimationSettings(resamples=200)
ALWAYS = at_random(1.0)
LOGGER = at_random(0.5)


def told(seed, target, *, is_lasting=True):
    """What an estimate of the target says, from 300 sessions at even odds."""
    draws = np.random.default_rng(seed)
    log = annoyance.play(draws, LOGGER, sessions=300, is_lasting=is_lasting)
    return estimate(log.observations(target), QUICK)


@pytest.mark.parametrize(
    ("strategy", "value"),
    [(LOGGER, 0.4124), (ALWAYS, 0.2984), (while_calm, 0.4340)],
    ids=["logger", "always", "while calm"],
)
def test_long_run_truths(strategy, value):
    """Living by each strategy gives what was computed, and what 4,000 sessions give."""
    log = annoyance.play(np.random.default_rng(1), strategy, sessions=4000)

    assert long_run_value(strategy) == pytest.approx(value, abs=1e-3)
    assert log.reward.mean() == pytest.approx(value, abs=0.006)


def test_one_step_values_have_the_wrong_sign():
    """Single decisions favour always answering by a tenth; the long run, the opposite."""
    found = told(2, ALWAYS)

    assert found.target.dr == pytest.approx(0.524, abs=3 * 0.009)
    assert found.difference.dr > 0.08
    assert long_run_value(ALWAYS) - long_run_value(LOGGER) < -0.1


@pytest.mark.parametrize("target", [ALWAYS, while_calm], ids=["always", "while calm"])
def test_is_downgraded_to_the_short_term(target):
    """Each of 8 logs says that the verdict holds for single decisions only."""
    for seed in range(8):
        found = told([3, seed], target).difference

        assert "short_term_only" in [reason.code for reason in found.reasons]
        assert "carry_over" in [
            gate.name for gate in found.gates if gate.status != "ok"
        ]


def test_is_not_downgraded_without_carry_over():
    """Where annoyance does not last the verdict stands as it is, but for chance."""
    downgraded = 0
    for seed in range(8):
        found = told([4, seed], ALWAYS, is_lasting=False).difference
        downgraded += "short_term_only" in [reason.code for reason in found.reasons]

        assert found.verdict is Verdict.BETTER
    assert downgraded <= 2


def test_a_claim_that_living_by_it_reverses_is_told_so():
    """Always answering is BETTER in each of 8 logs, and each says what speaks against it."""
    for seed in range(8):
        found = told([3, seed], ALWAYS).difference

        assert found.verdict is Verdict.BETTER
        assert is_opposed(found.reasons)


def test_nothing_speaks_against_what_lasts_for_no_one():
    """Without carry-over, but for chance; and never where one speaks less, and gains."""
    opposed = 0
    for seed in range(8):
        found = told([4, seed], ALWAYS, is_lasting=False).difference
        opposed += is_opposed(found.reasons)

        assert not is_opposed(told([3, seed], while_calm).difference.reasons)
    assert opposed <= 2
