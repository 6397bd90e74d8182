"""A companion's log as the estimator's columns, without a row object for each decision.

Thousands of simulated logs would otherwise spend their time on objects. That the two
ways agree is a test of its own.
"""

from dataclasses import replace
from functools import cache

import numpy as np
from numpy.typing import NDArray

from evaluation.ope.columns import Columns, Odds, columns_of, halved
from tests.evaluation.simulators import companion
from tests.evaluation.simulators.companion import ARMS, BASELINE, CONTEXTS, Log

ARM_PLACE = np.argsort(np.argsort(ARMS))
CONTEXT_PLACE = np.argsort(np.argsort(CONTEXTS))
"""The estimator numbers names in their sorted order."""


def laid_out(log: Log, target: str, baseline: str = BASELINE) -> Columns:
    """The columns of a log whose sessions all have the same length."""
    sessions = int(log.session[-1]) + 1
    rows = np.arange(len(log.arm))
    arm = ARM_PLACE[log.arm]
    return replace(
        _empty(),
        arms=tuple(sorted(ARMS)),
        sessions=sessions,
        session=log.session,
        halves=halved(np.arange(sessions, dtype=np.uint64)),
        arm=arm,
        context=CONTEXT_PLACE[log.context],
        propensity=log.propensity,
        reward=log.reward,
        known=np.ones(len(rows), dtype=bool),
        target=_certain(companion.chosen(target)[log.context], arm),
        baseline=_certain(companion.chosen(baseline)[log.context], arm),
        logging=_spread(log),
        position=np.zeros(len(rows), dtype=np.int64),
        responded=np.full(len(rows), -1),
        respond_probability=np.full(len(rows), -1.0),
    )


def _certain(chosen: NDArray[np.int64], taken: NDArray[np.int64]) -> Odds:
    arm = ARM_PLACE[chosen]
    ones = np.ones(len(arm))
    return Odds(np.arange(len(arm)), arm, ones, (arm == taken).astype(np.float64))


def _spread(log: Log) -> Odds:
    by_place = log.logging[:, np.argsort(ARM_PLACE)]
    row, arm = np.nonzero(by_place)
    return Odds(row, arm, by_place[row, arm], log.propensity)


@cache
def _empty() -> Columns:
    """Whatever else columns may hold, as it is for a plain log."""
    draws = np.random.default_rng(0)
    log = companion.play(draws, companion.uniform_odds(0.5), sessions=1)
    return columns_of(log.observations(BASELINE))
