"""Student's t distribution for whole degrees of freedom, by its finite sums.

Abramowitz and Stegun (1964), formulas 26.7.3 and 26.7.4: sines, cosines and one arctangent,
so that no SciPy is needed at run time. Means over few sessions are tested with it.
"""

from math import atan, erfc, inf, isnan, pi, sqrt

_NEARLY_NORMAL = 10_000
"""Degrees of freedom from which the normal distribution stands in: the sums have half as
many terms as there are degrees, and the two differ by less than 1e-4 there."""


def p_value(t: float, freedom: int) -> float:
    """Return the two-sided p-value of `t`: the chance of a value at least as far from 0.

    Raises:
        ValueError: `t` is no number, or there is no degree of freedom.
    """
    if isnan(t) or freedom < 1:
        raise ValueError(
            f"t {t!r} with {freedom!r} degrees of freedom:"
            " give a number and at least one degree"
        )
    if abs(t) == inf:
        return 0.0
    if freedom > _NEARLY_NORMAL:
        return erfc(abs(t) / sqrt(2.0))
    # With theta = atan(t / sqrt(freedom)), as the source names it.
    cosine_squared = freedom / (freedom + t * t)
    sine = sqrt(1.0 - cosine_squared)
    if freedom % 2 == 0:
        inside = sine * _sum(cosine_squared, first=1, last=freedom - 1)
    else:
        cosine = sqrt(cosine_squared)
        odd = cosine * sine * _sum(cosine_squared, first=2, last=freedom - 1)
        inside = (
            2.0 / pi * (atan(abs(t) / sqrt(freedom)) + (odd if freedom > 1 else 0.0))
        )
    # Far out, 1 - inside cancels and may round to just below 0.
    return min(1.0, max(0.0, 1.0 - inside))


def _sum(cosine_squared: float, *, first: int, last: int) -> float:
    """Return 1 + first/(first+1) c² + first (first+2)/((first+1)(first+3)) c⁴ + … ."""
    term = total = 1.0
    for k in range(first, last - 1, 2):
        term *= cosine_squared * k / (k + 1)
        total += term
    return total
