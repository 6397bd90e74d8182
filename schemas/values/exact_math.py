"""Exact numbers: arithmetic that gives the same bits on every machine.

The C library's exp, log and pow differ between processors in the last bit, and one bit
can turn a decision. What is here uses only + - * / and the exact frexp and ldexp. The
builtin `sum` compensates its rounding from Python 3.12 on: floats are added by `total`.
"""

from collections.abc import Iterable
from math import frexp, inf, ldexp

_DECIMALS = 6
"""Whatever is compared with a threshold is first rounded to this many decimals."""
_SCALE = 1e6
_SMALL = 1e6
_NO_HALF = 0.4999

# ln 2 in two parts, as fdlibm splits it (e_exp.c): the last 25 bits of the high part are
# zero, so that its product with any exponent of a float is exact.
_LN2_HIGH = 0.6931471803691238
_LN2_LOW = 1.9082149292705877e-10
_LOG2_E = 1.4426950408889634
# A mantissa is brought into [sqrt(1/2), sqrt(2)), where the series of `log` is shortest.
_SQRT_HALF = 0.7071067811865476
# The logarithms of the largest float and of half the smallest one.
_EXP_LARGEST = 709.782712893384
_EXP_SMALLEST = -745.1332191019412
# Repeated squaring keeps powers of small whole numbers exact, and takes at most 7
# squarings up to here.
_WHOLE_EXPONENTS = 64

# The first term left out, relative to the sum, is under 1e-19 for `exp` and 1e-21 for
# `log`: both lie far below half a unit in the last place (1.1e-16).
_EXP_TERMS = 14
_LOG_TERMS = 12


def round6(x: float) -> float:
    """Return `x` to six decimals, halves to even; minus zero becomes zero."""
    if -_SMALL < x < _SMALL:
        # Below 10**12 the product is off by less than 1e-4. So unless it lies that near to
        # a half, the whole number is the right one, and its quotient is correctly rounded:
        # the float that `round` finds by way of decimal digits in twice the time.
        scaled = x * _SCALE
        whole = round(scaled)
        if -_NO_HALF < scaled - whole < _NO_HALF:
            return whole / _SCALE
    # `round` is correctly rounded in every CPython; adding 0.0 turns -0.0 into 0.0, which
    # would be written to the log as another text.
    return round(x, _DECIMALS) + 0.0


def clamp(x: float, low: float, high: float) -> float:
    """Return `x`, or the nearer end of [low, high] if it lies outside."""
    return min(max(x, low), high)


def total(values: Iterable[float]) -> float:
    """Return the sum, added from left to right, each step rounded; 0.0 of nothing."""
    result = 0.0
    for value in values:
        # Neither `sum`, which differs between Pythons, nor `fsum`: the logs were added so.
        result += value
    return result


def exp(x: float) -> float:
    """Return e to the `x`; infinite above 709.78, zero below -745.13."""
    if x > _EXP_LARGEST:
        return inf
    if x < _EXP_SMALLEST:
        return 0.0
    # x = n ln 2 + r with |r| <= ln 2 / 2; ln 2 in two parts makes n ln 2 exact.
    n = round(x * _LOG2_E)
    r = (x - n * _LN2_HIGH) - n * _LN2_LOW
    # Horner's scheme, from the smallest term: fewer roundings than adding up powers.
    series = 1.0
    for k in range(_EXP_TERMS, 0, -1):
        series = 1.0 + series * r / k
    return ldexp(series, n)


def log(x: float) -> float:
    """Return the natural logarithm of `x`.

    Raises:
        ValueError: `x` is not a positive finite number.
    """
    if not 0.0 < x < inf:
        raise ValueError(f"log of {x}: give a positive finite number")
    mantissa, exponent = frexp(x)
    if mantissa < _SQRT_HALF:
        mantissa, exponent = 2.0 * mantissa, exponent - 1
    # log m = 2 artanh s, and |s| <= 0.172 makes its series short.
    s = (mantissa - 1.0) / (mantissa + 1.0)
    square = s * s
    series = 0.0
    for k in range(_LOG_TERMS, 0, -1):
        series = square * (1.0 / (2 * k + 1) + series)
    return exponent * _LN2_HIGH + (2.0 * s * (1.0 + series) + exponent * _LN2_LOW)


def power(x: float, y: float) -> float:
    """Return `x` to the `y` for `x` >= 0; whole `y` up to 64 by multiplication alone.

    Raises:
        ValueError: `x` is negative, or zero under a negative `y`.
    """
    if x < 0.0 or (x == 0.0 and y < 0.0):
        raise ValueError(f"{x} to the power of {y} is not a real number")
    if float(y).is_integer() and abs(y) <= _WHOLE_EXPONENTS:
        whole = _whole_power(x, abs(int(y)))
        return whole if y >= 0 else 1.0 / whole
    return exp(y * log(x)) if x > 0.0 else 0.0


def _whole_power(x: float, n: int) -> float:
    """Square and multiply; the bits of `n` from the lowest up."""
    result = 1.0
    while n:
        if n & 1:
            result *= x
        x *= x
        n >>= 1
    return result
