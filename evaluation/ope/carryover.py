"""Whether having spoken once still matters at the next decision.

One-step values hold only if it does not: a companion that talks more may win each single
decision and lose the person. The logged probabilities tell: by lot some decisions spoke
and others in their place did not. What cannot be tested is said to be so.
"""

from dataclasses import dataclass
from math import inf, sqrt

import numpy as np

from evaluation.ope.columns import Columns, Flags, Floats, Ints
from evaluation.ope.student import p_value

ALPHA = 0.05
LEAST_PAIRS = 15
"""Successive decisions needed on either side: the first spoke, the first kept silent."""
LEAST_SESSIONS = 15


@dataclass(frozen=True, slots=True)
class CarryOver:
    """What speaking at one decision does to the outcome of the next."""

    effect: float
    """Outcome after having spoken less outcome after silence, in outcome units."""
    se: float
    p_value: float
    pairs: int
    sessions: int
    alpha: float = ALPHA

    @property
    def is_significant(self) -> bool:
        return self.p_value < self.alpha


def carry_over(columns: Columns, *, alpha: float = ALPHA) -> CarryOver | None:
    """Test for carry-over; None if the log does not allow it.

    psi = Y_t (1[a_{t-1} spoke] / mu - 1[it did not] / (1 - mu)), its errors clustered by
    session. Y_t is taken less its mean, which changes no expectation and removes most of
    the noise. It needs decisions in their order, with the probability of speaking
    strictly between 0 and 1, and a known outcome next.
    """
    first = np.flatnonzero(_is_testable(columns))
    spoke = columns.responded[first] == 1
    sessions, cluster = np.unique(columns.session[first], return_inverse=True)
    fewest = min(int(spoke.sum()), int((~spoke).sum()))
    if fewest < LEAST_PAIRS or len(sessions) < LEAST_SESSIONS:
        return None
    outcome = columns.reward[first + 1]
    chance = columns.respond_probability[first]
    weight = np.where(spoke, 1.0 / chance, -1.0 / (1.0 - chance))
    effects = (outcome - outcome.mean()) * weight
    effect, se = _clustered(effects, cluster, len(sessions))
    t = effect / se if se > 0.0 else (0.0 if effect == 0.0 else inf)
    p = p_value(t, len(sessions) - 1)
    return CarryOver(effect, se, p, len(first), len(sessions), alpha)


def _is_testable(columns: Columns) -> Flags:
    """For each row, whether it and the next one make a pair."""
    testable = np.zeros(columns.rows, dtype=bool)
    chance = columns.respond_probability
    could_differ = (chance > 0.0) & (chance < 1.0) & (columns.responded >= 0)
    # Without positions nobody knows which came first.
    follows = (columns.session[1:] == columns.session[:-1]) & (
        columns.position[1:] > columns.position[:-1]
    )
    testable[:-1] = could_differ[:-1] & follows & columns.known[1:]
    return testable


def _clustered(values: Floats, cluster: Ints, clusters: int) -> tuple[float, float]:
    """Return the mean and its standard error, from the sums of whole sessions."""
    mean = float(values.mean())
    sums = np.bincount(cluster, weights=values - mean, minlength=clusters)
    spread = float((sums**2).sum()) * clusters / (clusters - 1)
    return mean, sqrt(spread) / len(values)
