"""How healthy the weights are: what the log supports, and whether its probabilities fit.

The probabilities are tested on all rows, also those whose reward is not known;
under the right ones a strategy's weights average 1, less what the log cannot show.
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
from evaluation.ope.intervals import clustered_variance


@dataclass(frozen=True, slots=True)
class Weights:
    """One strategy's weights."""

    ess: float
    """The effective number of decisions among those whose reward is known."""

    max_weight: float
    max_share: float
    mean_weight: float
    """Of all decisions."""

    z: float
    """How many standard errors the mean, with what is unsupported, lies off 1."""

    unsupported_mass: float
    pareto_k: float | None
    """The shape of the tail; None if it is bounded, flat or too short to have one."""

    known_z: float
    """The same for weights less 1 where the reward is known: off 0 if knowing it depends
    on the arm."""

    most: float = inf
    """No weight can exceed this, by the recorded probabilities; where these tell of the
    taken arm alone, the largest there was."""


_SETTLED = 100.0
"""So many decisions of equal weight make a tail's shape irrelevant."""

_LEAST_TAIL = 5
_PRIOR_ROWS = 10.0
_PRIOR_SHAPE = 0.5
_GRID = 30
"""How many slopes are tried for the tail's shape, at least."""


def weights(columns: Columns, odds: Odds) -> Weights:
    """Diagnose a strategy's weights."""
    ratio = odds.taken / columns.propensity
    missing = unsupported(columns, odds)
    used = ratio[columns.known]
    total = fsum(used.tolist())
    largest = float(used.max(initial=0.0))
    excess = ratio + missing - 1.0
    entailed = max(
        _least_variance(odds.taken, columns.propensity),
        _drawn_variance(ratio, missing),
        key=mean,
    )
    most = _most(columns, odds)
    # E[w²] is at most the largest weight, so the effective number is at least n over it.
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
    """Return the largest weight that could have been drawn, as far as the log tells."""
    drawn = odds.taken / columns.propensity
    logging = columns.logging
    told = _cells(columns, logging)
    wanted = _cells(columns, odds)
    if not len(told):
        return float(drawn.max(initial=0.0))
    place = np.minimum(np.searchsorted(told, wanted), len(told) - 1)
    chance = np.where(told[place] == wanted, logging.probability[place], 1.0)
    possible = odds.probability / np.maximum(chance, LEAST)
    return float(max(drawn.max(initial=0.0), possible.max(initial=0.0)))


def unsupported(columns: Columns, odds: Odds) -> Floats:
    """At each row, the odds of arms that the logging policy could not take there.

    Where it is not told what the policy could take, an arm counts as out of reach if the
    arm taken was certain, or if it was never taken where the strategy would.
    """
    wanted = columns.arm[odds.taken > 0.0]
    unseen = np.bincount(wanted, minlength=len(columns.arms)) == 0
    guessed = _sum(columns, odds, unseen[odds.arm])
    certain = columns.propensity >= CERTAIN
    mass = np.where(certain, 1.0 - np.minimum(odds.taken, 1.0), guessed)
    told = np.zeros(columns.rows, np.bool_)
    told[columns.logging.row] = True
    possible = np.isin(_cells(columns, odds), _cells(columns, columns.logging))
    missing = np.where(told, _sum(columns, odds, ~possible), mass)
    # What is left of odds that add up to 1 but for rounding is no mass.
    return np.where(missing > 1e-9, missing, 0.0)


def uniform_z(columns: Columns) -> float | None:
    """Return the test for the strategy that takes each possible arm alike.

    None if no row tells the whole logging policy.
    """
    row = columns.logging.row
    if not len(row):
        return None
    arms = np.bincount(row, minlength=columns.rows)
    inverse = summed(
        row, 1.0 / np.maximum(columns.logging.probability, LEAST), columns.rows
    )
    told = arms > 0
    even = 1.0 / np.maximum(arms, 1)
    excess = np.where(told, even / columns.propensity - 1.0, 0.0)
    return _z(columns, excess, np.where(told, inverse * even * even - 1.0, 0.0))


def _least_variance(taken: Floats, propensity: Floats) -> Floats:
    """Return the least that a weight can vary by, given what is known of its row.

    The arm taken has weight taken / p with chance p; all others together cannot vary less
    than if they were one arm.
    """
    rest = np.where(propensity < CERTAIN, 1.0 - propensity, 1.0)
    spread = np.square(taken - propensity) / (propensity * rest)
    return np.where(propensity < CERTAIN, spread, 0.0)


def _drawn_variance(ratio: Floats, missing: Floats) -> Floats:
    """Return what weights vary by if their size, where they are not 0, is what was drawn.

    Under the right probabilities E[w²] is the strategy's own mean of w, which sum w² / sum
    w tells however often it was drawn: too few draws by chance do not look sure of it.
    """
    total = fsum(ratio.tolist())
    size = fsum(np.square(ratio).tolist()) / total if total else 0.0
    supported = 1.0 - missing
    return np.maximum(supported * size - np.square(supported), 0.0)


def _z(columns: Columns, excess: Floats, entailed: Floats) -> float:
    """Return how many standard errors the mean of `excess` lies off 0.

    The error is the largest of the one seen between sessions, the one about 0 between
    rows and the one that the probabilities entail: few rows may by chance show little
    variation, or one rare arm alone make all of the mean.
    """
    rows = max(columns.rows, 1)
    sessions = clustered_variance(columns, excess) or 0.0
    single = fsum(np.square(excess).tolist()) / rows**2
    least = fsum(np.maximum(entailed, 0.0).tolist()) / rows**2
    error = sqrt(max(sessions, single, least))
    off = mean(excess)
    if abs(off) < 1e-9:
        return 0.0
    if error == 0.0:
        return copysign(inf, off)
    return _eased(off / error, (excess - off) / (error * rows))


def _eased(z: float, deviations: Floats) -> float:
    """Return a z below 0, eased by the skewness of the mean (Hall, 1992).

    `deviations` are those of the rows, in errors of their sum. Where a few large weights
    carry a mean, to miss some by chance makes the mean low and its error small at once.
    What lies above 0 stays: there the error is large as well.
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
    """Return the shape k of the largest weights, of a generalised Pareto distribution.

    None if they are too few, or all alike: a tail of equal weights has no shape. Of n
    weights the tail is the largest min(n / 5, 3 sqrt n).
    """
    n = len(weights)
    size = int(min(0.2 * n, 3.0 * sqrt(n)))
    if size < _LEAST_TAIL:
        return None
    ordered = np.sort(weights)
    cutoff = ordered[n - size - 1]
    exceeding = ordered[n - size :] - cutoff
    exceeding = exceeding[exceeding > 1e-12 * max(float(ordered[-1]), 1e-300)]
    if len(exceeding) < _LEAST_TAIL or exceeding[0] == exceeding[-1]:
        return None
    return _shape(exceeding / exceeding[-1])


def _shape(exceeding: Floats) -> float:
    """Fit ascending positive numbers; the prior draws few of them toward 1/2.

    The fit is that of Zhang and Stephens (2009), as Pareto smoothed importance sampling
    uses it.
    """
    n = len(exceeding)
    count = _GRID + int(sqrt(n))
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
    weight = np.expm1(likelihood - likelihood.max()) + 1.0
    slope = float((slopes * weight).sum() / weight.sum())
    shape = float(np.log1p(-slope * exceeding).mean())
    return (n * shape + _PRIOR_ROWS * _PRIOR_SHAPE) / (n + _PRIOR_ROWS)
