"""IPS and SNIPS beside those of vw-estimators."""

import numpy as np
import pytest
from estimators.bandits import ips, snips
from hypothesis import given
from hypothesis import strategies as some

from evaluation.ope.estimate import estimate
from evaluation.ope.rows import Observation

ARMS = ("silent", "heuristic:a", "llm:b")
EXACT = 1e-12


def theirs(estimator, rows, odds):
    """Their estimate of a strategy's value over our rows."""
    for row in rows:
        estimator.add_example(row.propensity, row.reward, odds(row).get(row.arm, 0.0))
    return estimator.get()


def logged(draws, n):
    """Decisions under odds that change from row to row, for strategies that do too."""
    for i in range(n):
        logging, target, baseline = draws.dirichlet([2.0] * 3, 3)
        arm = draws.choice(3, p=logging)
        yield Observation(
            session=f"s{i % 20}",
            arm=ARMS[arm],
            propensity=float(logging[arm]),
            reward=float(draws.random()),
            target=dict(zip(ARMS, target.tolist(), strict=True)),
            baseline=dict(zip(ARMS, baseline.tolist(), strict=True)),
        )


@pytest.mark.parametrize("seed", range(5))
def test_ips_and_snips_are_vw_estimators(seed):
    """Both strategies and both estimators agree to twelve decimals."""
    rows = list(logged(np.random.default_rng(seed), 400))
    found = estimate(rows)

    for side, odds in (
        (found.target, lambda row: row.target),
        (found.baseline, lambda row: row.baseline),
    ):
        assert side.ips == pytest.approx(theirs(ips.Estimator(), rows, odds), abs=EXACT)
        assert side.snips == pytest.approx(
            theirs(snips.Estimator(), rows, odds), abs=EXACT
        )


@given(
    some.lists(
        some.tuples(
            some.floats(0.01, 1.0), some.floats(0.0, 1.0), some.sampled_from("ab")
        ),
        min_size=1,
        max_size=40,
    )
)
def test_agrees_wherever_it_gives_a_value(given_rows):
    """Whatever the log: where a value is given, it is theirs."""
    rows = [
        Observation(
            session="",
            arm=arm,
            propensity=p,
            reward=reward,
            target={"a": 1.0},
            baseline={"a": 1.0},
        )
        for p, reward, arm in given_rows
    ]
    found = estimate(rows).target
    expected = theirs(ips.Estimator(), rows, lambda row: row.target)

    assert found.ips is None or found.ips == pytest.approx(expected, rel=EXACT)
