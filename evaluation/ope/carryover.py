"""Test whether having spoken at one decision still affects the outcome of the next.

One-step values hold only without such carry-over: a companion that talks more may win each
single decision and annoy the person over time. Exploration makes speaking random with a
known probability, so its effect one step later can be estimated without bias.
"""

from dataclasses import dataclass
from math import inf, sqrt

import numpy as np

from evaluation.ope.columns import Columns, Flags, Floats, Ints
from evaluation.ope.student import p_value

ALPHA = 0.05
"""The level below which carry-over counts as found."""
_LEAST_PAIRS = 15
"""Pairs of successive decisions needed with a spoken first one, and with a silent one;
below about 15 no interval in simulations held its nominal level."""
_LEAST_SESSIONS = 15
"""Sessions needed, as for `flip_sessions`: the error is clustered by session."""


@dataclass(frozen=True, slots=True)
class CarryOver:
    """The effect of speaking at one decision on the outcome of the next."""

    effect: float
    """Mean outcome after speech less mean outcome after silence, in outcome units."""
    se: float
    """Standard error of the effect, clustered by session."""
    p_value: float
    """Two-sided, by Student's t with sessions less one degrees of freedom."""
    pairs: int
    sessions: int
    alpha: float = ALPHA

    @property
    def is_significant(self) -> bool:
        """Whether chance alone is an unlikely explanation, at level `alpha`."""
        return self.p_value < self.alpha


@dataclass(frozen=True, slots=True)
class Later:
    """How far the target moves later outcomes, in outcome units."""

    next: float
    """The outcome of the decision after."""
    lasting: float
    """Summed over the rest of a session, if the effect did not fade."""


def carry_over(columns: Columns, *, alpha: float = ALPHA) -> CarryOver | None:
    """Test for carry-over; None if the log has too few testable pairs or sessions.

    The estimator is that of Horvitz and Thompson (1952) for the previous action: the mean
    of Y_t (1[a_{t-1} spoke] / mu - 1[it did not] / (1 - mu)), where mu is the logged
    probability of speaking at t-1. A pair needs positions, 0 < mu < 1 and a known Y_t.
    """
    first = np.flatnonzero(_is_testable(columns))
    spoke = columns.responded[first] == 1
    sessions, cluster = np.unique(columns.session[first], return_inverse=True)
    fewest = min(int(spoke.sum()), int((~spoke).sum()))
    if fewest < _LEAST_PAIRS or len(sessions) < _LEAST_SESSIONS:
        return None
    outcome = columns.reward[first + 1]
    chance = columns.respond_probability[first]
    weight = np.where(spoke, 1.0 / chance, -1.0 / (1.0 - chance))
    # The weights have mean 0, so centring Y leaves the expectation and removes most noise.
    effects = (outcome - outcome.mean()) * weight
    effect, se = _clustered(effects, cluster, len(sessions))
    # Without any spread, the slightest effect is certain and none is none.
    t = effect / se if se > 0.0 else (0.0 if effect == 0.0 else inf)
    p = p_value(t, len(sessions) - 1)
    return CarryOver(effect, se, p, len(first), len(sessions), alpha)


def later(columns: Columns) -> Later | None:
    """Return how far the target moves later outcomes; None where no effect was found.

    It is the effect of having spoken times how much oftener the target speaks.
    """
    found = carry_over(columns)
    if found is None or not found.is_significant:
        return None
    silent = np.unique(columns.arm[columns.responded == 0])
    ours, theirs = (
        float(odds.probability[np.isin(odds.arm, silent)].sum()) / columns.rows
        for odds in (columns.target, columns.baseline)
    )
    moved = found.effect * (theirs - ours)
    # On average half of a session's other decisions come after one.
    left = (columns.rows / columns.sessions - 1.0) / 2.0
    return Later(moved, moved * left)


def _is_testable(columns: Columns) -> Flags:
    """Return for each row whether it and the next one make a testable pair."""
    testable = np.zeros(columns.rows, dtype=bool)
    chance = columns.respond_probability
    could_differ = (chance > 0.0) & (chance < 1.0) & (columns.responded >= 0)
    # Rows without positions all have position 0: their order is unknown, so no pair.
    follows = (columns.session[1:] == columns.session[:-1]) & (
        columns.position[1:] > columns.position[:-1]
    )
    testable[:-1] = could_differ[:-1] & follows & columns.known[1:]
    return testable


def _clustered(values: Floats, cluster: Ints, clusters: int) -> tuple[float, float]:
    """Return the mean and its standard error from whole sessions (Liang and Zeger, 1986).

    The factor G / (G - 1) corrects for few clusters (CR1).
    """
    mean = float(values.mean())
    sums = np.bincount(cluster, weights=values - mean, minlength=clusters)
    spread = float((sums**2).sum()) * clusters / (clusters - 1)
    return mean, sqrt(spread) / len(values)
