"""Diagnose importance weights: overlap, tails, and whether the logged propensities fit.

Under the true propensities a strategy's weights average 1, less the mass of arms that the
log could not show. That is tested on all rows, with known reward or not; it is for
off-policy evaluation what a sample-ratio-mismatch test is for an experiment.
"""

from dataclasses import dataclass
from math import copysign, fsum, inf, sqrt

import numpy as np

from evaluation.ope.columns import (
    CERTAIN,
    LEAST,
    Columns,
    Flags,
    Floats,
    Ints,
    Odds,
    summed,
)
from evaluation.ope.estimators import effective_number, mean
from evaluation.ope.importance_weights import importance_weights
from evaluation.ope.intervals import clustered_variance


@dataclass(frozen=True, slots=True)
class Weights:
    """One strategy's weights."""

    ess: float
    """Kish's effective number of decisions among those whose reward is known."""

    max_weight: float
    max_share: float
    """The largest weight as a share of the sum of weights with known reward."""

    mean_weight: float
    """Over all decisions, with known reward or not."""

    z: float
    """Standard errors between the mean weight plus unsupported mass and 1."""

    unsupported_mass: float
    """The mean odds on arms that the logging policy could not take, in [0, 1]."""

    pareto_k: float | None
    """The shape of the tail; None if it is bounded, flat or too short to have one."""

    known_z: float
    """The same z for weights less 1 where the reward is known: it is far from 0 if
    whether a reward is known depends on the arm."""

    most: float = inf
    """The largest weight that the recorded probabilities allow; where only the taken arm's
    was recorded, the largest that occurred."""


_SETTLED = 100.0
"""An effective number of decisions from which the tail's shape is irrelevant: twice the
least that the gate on it asks for."""

_LEAST_TAIL = 5
"""Weights that a tail needs at least for a fit, as in PSIS."""

_PRIOR_ROWS = 10.0
_PRIOR_SHAPE = 0.5
"""The weak prior of PSIS: ten observations' worth of k = 1/2 (Vehtari et al., 2024)."""

_GRID = 30
"""Slopes tried for the tail's shape at least, plus sqrt(n), as in PSIS."""


def weights(columns: Columns, odds: Odds) -> Weights:
    """Return the diagnostics of a strategy's weights."""
    ratio = importance_weights(columns, odds)
    missing = unsupported(columns, odds)
    used = ratio[columns.known]
    total = fsum(used.tolist())
    largest = float(used.max(initial=0.0))
    excess = ratio + missing - 1.0
    # The larger of two estimates: where few rare arms happened to be drawn, the smaller
    # would make chance look like a wrong probability.
    entailed = max(
        _least_variance(odds.taken, columns.propensity),
        _drawn_variance(ratio, missing),
        key=mean,
    )
    most = _most(columns, odds)
    # E[w] = 1, so E[w²] is at most the largest weight and the effective number is at least
    # n over it: a bounded tail cannot make a mean diverge, whatever shape is fitted.
    is_settled = most * _SETTLED <= len(used)
    return Weights(
        ess=effective_number(used),
        max_weight=largest,
        max_share=largest / total if total else 0.0,
        mean_weight=mean(ratio),
        z=_z(columns, excess, entailed),
        unsupported_mass=mean(missing),
        pareto_k=None if is_settled else tail_shape(used),
        known_z=_z(
            columns, np.where(columns.known, excess, 0.0), entailed * columns.known
        ),
        most=most,
    )


def _most(columns: Columns, odds: Odds) -> float:
    """Return the largest weight that could have been drawn, as far as the log shows."""
    drawn = importance_weights(columns, odds)
    logging = columns.logging
    logged = _cells(columns, logging)
    wanted = _cells(columns, odds)
    if not len(logged):
        return float(drawn.max(initial=0.0))
    # A cell beyond the last one would index past the end; it compares unequal below.
    place = np.minimum(np.searchsorted(logged, wanted), len(logged) - 1)
    chance = np.where(logged[place] == wanted, logging.probability[place], 1.0)
    # Arms the logging policy could not take have no weight; they are unsupported mass.
    possible = odds.probability / np.maximum(chance, LEAST)
    return float(max(drawn.max(initial=0.0), possible.max(initial=0.0)))


def unsupported(columns: Columns, odds: Odds) -> Floats:
    """Return for each row the strategy's odds on arms the logging policy could not take.

    Where the log lacks the policy's odds, an arm counts as out of reach if the arm taken
    was certain, or if the log never shows it where the strategy would take it.
    """
    wanted = columns.arm[odds.taken > 0.0]
    unseen = np.bincount(wanted, minlength=len(columns.arms)) == 0
    guessed = _sum(columns, odds, unseen[odds.arm])
    certain = columns.propensity >= CERTAIN
    mass = np.where(certain, 1.0 - np.minimum(odds.taken, 1.0), guessed)
    is_logged = np.zeros(columns.rows, np.bool_)
    is_logged[columns.logging.row] = True
    possible = np.isin(_cells(columns, odds), _cells(columns, columns.logging))
    missing = np.where(is_logged, _sum(columns, odds, ~possible), mass)
    # What is left of odds that add up to 1 but for rounding is no mass.
    return np.where(missing > 1e-9, missing, 0.0)


def uniform_z(columns: Columns) -> float | None:
    """Return the z of the uniform strategy's weights, over the arms possible at each row.

    It tests the propensities of all arms, whatever the compared strategies would take.
    None if no row has the whole logging policy.
    """
    row = columns.logging.row
    if not len(row):
        return None
    arms = np.bincount(row, minlength=columns.rows)
    inverse = summed(
        row, 1.0 / np.maximum(columns.logging.probability, LEAST), columns.rows
    )
    is_logged = arms > 0
    even = 1.0 / np.maximum(arms, 1)
    excess = np.where(is_logged, even / columns.propensity - 1.0, 0.0)
    return _z(columns, excess, np.where(is_logged, inverse * even * even - 1.0, 0.0))


def _least_variance(taken: Floats, propensity: Floats) -> Floats:
    """Return a lower bound on the variance of each row's weight.

    The arm taken has weight pi / p with probability p; all others together vary least if
    they are one arm, which gives (pi - p)² / (p (1 - p)). 0 where the arm was certain.
    """
    rest = np.where(propensity < CERTAIN, 1.0 - propensity, 1.0)
    spread = np.square(taken - propensity) / (propensity * rest)
    return np.where(propensity < CERTAIN, spread, 0.0)


def _drawn_variance(ratio: Floats, missing: Floats) -> Floats:
    """Return the variance of each row's weight, with the typical size of the drawn weights.

    Under the true propensities E[w²] is the mean of w under the strategy itself, which
    sum w² / sum w estimates however often rare arms were drawn: too few draws by chance
    then do not look like certainty.
    """
    total = fsum(ratio.tolist())
    size = fsum(np.square(ratio).tolist()) / total if total else 0.0
    supported = 1.0 - missing
    return np.maximum(supported * size - np.square(supported), 0.0)


def _z(columns: Columns, excess: Floats, entailed: Floats) -> float:
    """Return the mean of `excess` in standard errors.

    The error is the largest of three: clustered by session, of single rows about 0, and
    `entailed` by the probabilities (a variance a row). Few rows may by chance vary little,
    and one rare arm may make the whole mean.
    """
    rows = max(columns.rows, 1)
    sessions = clustered_variance(columns, excess) or 0.0
    single = fsum(np.square(excess).tolist()) / rows**2
    least = fsum(np.maximum(entailed, 0.0).tolist()) / rows**2
    error = sqrt(max(sessions, single, least))
    off = mean(excess)
    # Odds add up to 1 only but for rounding; a mean this small is no evidence.
    if abs(off) < 1e-9:
        return 0.0
    # No variation is possible and yet the mean is off: the probabilities must be wrong.
    if error == 0.0:
        return copysign(inf, off)
    return _eased(off / error, (excess - off) / (error * rows))


def _eased(z: float, deviations: Floats) -> float:
    """Return z, corrected for skewness where it is negative.

    Hall's cubic transformation (1992, "On the removal of skewness by transformation"),
    z + g z²/3 + g² z³/27 + g/6, with g the skewness of the mean; `deviations` are those of
    the rows in standard errors of their sum. Where a few large weights carry the mean,
    missing some by chance makes mean and error small at once; above 0 both are large.
    """
    if z >= 0.0:
        return z
    skewness = max(fsum((deviations**3).tolist()), 0.0)
    bent = skewness * z**2 / 3.0 + skewness**2 * z**3 / 27.0 + skewness / 6.0
    return min(z + bent, 0.0)


def _sum(columns: Columns, odds: Odds, chosen: Flags) -> Floats:
    return summed(odds.row, odds.probability * chosen, columns.rows)


def _cells(columns: Columns, odds: Odds) -> Ints:
    return odds.row * max(len(columns.arms), 1) + odds.arm


def tail_shape(weights: Floats) -> float | None:
    """Return the shape k of a generalised Pareto distribution fitted to the largest weights.

    The diagnostic of Pareto smoothed importance sampling (Vehtari et al., 2024, JMLR 25):
    of n weights the tail is the largest min(n / 5, 3 sqrt n). None if they are too few or
    all alike, since a tail of equal weights has no shape.
    """
    n = len(weights)
    size = int(min(0.2 * n, 3.0 * sqrt(n)))
    if size < _LEAST_TAIL:
        return None
    ordered = np.sort(weights)
    # The largest weight that is not in the tail, as PSIS has it.
    cutoff = ordered[n - size - 1]
    exceeding = ordered[n - size :] - cutoff
    # Ties with the cutoff exceed it by nothing, or by rounding alone.
    exceeding = exceeding[exceeding > 1e-12 * max(float(ordered[-1]), 1e-300)]
    if len(exceeding) < _LEAST_TAIL or exceeding[0] == exceeding[-1]:
        return None
    return _shape(exceeding / exceeding[-1])


def _shape(exceeding: Floats) -> float:
    """Return k of ascending positive exceedances, shrunk toward 1/2 where they are few.

    The quasi-Bayesian fit of Zhang and Stephens (2009, Technometrics 51), as PSIS uses it:
    a mean of slopes on a grid, weighted by their profile likelihood.
    """
    n = len(exceeding)
    count = _GRID + int(sqrt(n))
    # The authors' x*: the first quartile sets the scale of their prior on slopes.
    quartile = exceeding[int(n / 4 + 0.5) - 1]
    steps = np.arange(1, count + 1)
    slopes = 1.0 / exceeding[-1] + (1.0 - np.sqrt(count / (steps - 0.5))) / (
        3.0 * quartile
    )
    shapes = np.log1p(-slopes[:, None] * exceeding).mean(axis=1)
    # At slope 0 the distribution is the exponential one, whose rate is 1 over the mean.
    rates = np.full(count, 1.0 / float(exceeding.mean()))
    np.divide(-slopes, shapes, out=rates, where=shapes != 0.0)
    likelihood = n * (np.log1p(rates - 1.0) - shapes - 1.0)
    # Relative to the largest, so that the exponential cannot overflow.
    weight = np.expm1(likelihood - likelihood.max()) + 1.0
    slope = float((slopes * weight).sum() / weight.sum())
    shape = float(np.log1p(-slope * exceeding).mean())
    return (n * shape + _PRIOR_ROWS * _PRIOR_SHAPE) / (n + _PRIOR_ROWS)
