"""The estimator where every strategy draws, with odds of its own at each decision."""

from math import sqrt

import numpy as np

from evaluation.ope.estimate import estimate
from evaluation.ope.rows import Observation
from evaluation.ope.settings import EstimationSettings
from tests.evaluation.simulators.companion import ARMS, CONTEXTS, HOW_OFTEN, SUCCESS

QUICK = EstimationSettings(resamples=200)


def drawn_odds(draws, favoured):
    """Odds of a strategy that draws itself, mostly one arm."""
    weights = np.full(len(ARMS), 0.5)
    weights[favoured] = 2.0
    return dict(zip(ARMS, draws.dirichlet(weights).tolist(), strict=True))


def drawing(draws, rows=800):
    """A log where all three strategies draw, anew at each decision; and its truth."""
    gains, log = [], []
    for i in range(rows):
        context = draws.choice(len(CONTEXTS), p=HOW_OFTEN)
        logging = 0.9 * draws.dirichlet([1.0, 2.0, 1.0]) + 0.1 / len(ARMS)
        arm = draws.choice(len(ARMS), p=logging)
        target, baseline = drawn_odds(draws, 2), drawn_odds(draws, 1)
        change = np.array([target[name] - baseline[name] for name in ARMS])
        gains.append((change * SUCCESS[context]).sum())
        row = Observation(
            session=f"s{i // 20}",
            arm=ARMS[arm],
            propensity=float(logging[arm]),
            reward=float(draws.random() < SUCCESS[context, arm]),
            target=target,
            baseline=baseline,
            context=CONTEXTS[context],
        )
        log.append(row)
    return log, float(np.mean(gains))


def test_strategies_that_draw():
    """60 logs where every strategy draws: no bias, and 54 intervals or more hold."""
    draws = np.random.default_rng(26)
    errors, held = [], 0
    for _ in range(60):
        log, truth = drawing(draws)
        found = estimate(log, QUICK).difference
        assert found.ips is not None
        assert found.dr is not None
        assert found.ci is not None
        errors.append((found.ips - truth, found.dr - truth))
        held += found.ci[0] <= truth <= found.ci[1]

    off = np.array(errors)
    assert (np.abs(off.mean(axis=0)) < 3 * off.std(axis=0) / sqrt(60)).all()
    assert held >= 54
