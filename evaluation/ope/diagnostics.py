"""How heavy the tail of the weights is: the shape of a generalised Pareto distribution.

The fit is Zhang and Stephens' (2009), as Pareto smoothed importance sampling uses it.
Its rule: a tail of equal weights is bounded and has no shape.
"""

from math import sqrt

import numpy as np

from evaluation.ope.columns import Floats

_LEAST_TAIL = 5
_PRIOR_ROWS = 10.0
_PRIOR_SHAPE = 0.5
_GRID = 30


def tail_shape(weights: Floats) -> float | None:
    """The shape k of the largest weights; None if they are too few, or all alike.

    Of n weights the tail is the largest min(n / 5, 3 sqrt n).
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
    """Fit ascending positive numbers; the prior draws few of them toward 1/2."""
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
