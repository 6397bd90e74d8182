"""Exact numbers agree with the C library to 1e-12 and never leave their domain."""

import math

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from schemas.values.exact_math import clamp, exp, log, power, round6, total

ACCURACY = 1e-12


def test_rounding_heals_the_sum_that_misses_its_threshold():
    """0.53 + 0.17 is a confidence of 0.7, and minus zero is zero."""
    assert 0.53 + 0.17 > 0.7

    assert round6(0.53 + 0.17) == 0.7
    assert math.copysign(1.0, round6(-1e-9)) == 1.0


HALVES = st.integers(-(10**13), 10**13).map(lambda whole: (whole + 0.5) / 1e6)
"""Numbers next to which rounding turns, and beyond the bound of the fast way."""


@given(st.floats(allow_nan=False) | HALVES, st.integers(-3, 3))
def test_rounding_is_that_of_decimal_digits(x, steps):
    """The fast way gives the float that `round` gives, also right beside a half."""
    for _ in range(abs(steps)):
        x = math.nextafter(x, math.inf if steps > 0 else -math.inf)

    assert math.isinf(x) or round6(x) == round(x, 6)
    assert str(round6(x)) == str(round(x, 6) + 0.0)


@pytest.mark.parametrize(
    ("x", "expected"),
    [(-1.0, 0.05), (0.05, 0.05), (0.5, 0.5), (0.95, 0.95), (7.0, 0.95)],
)
def test_clamp_keeps_a_number_between_its_ends(x, expected):
    """What lies outside becomes the nearer end."""
    assert clamp(x, 0.05, 0.95) == expected


@given(st.floats(-700.0, 709.7))
@example(0.0)
@example(709.782712893384)
def test_exp_is_accurate(x):
    """exp differs from the C library's by at most 1e-12 of the value."""
    assert math.isclose(exp(x), math.exp(x), rel_tol=ACCURACY)


def test_exp_ends_at_infinity_and_at_zero():
    """Beyond what a float holds exp gives infinity or zero instead of raising."""
    assert exp(710.0) == math.inf
    assert exp(-746.0) == 0.0
    assert 0.0 < exp(-745.0) < 1e-320


@given(st.floats(min_value=0.0, exclude_min=True, allow_infinity=False))
@example(1.0)
@example(math.nextafter(1.0, 2.0))
@example(math.nextafter(1.0, 0.0))
@example(5e-324)
def test_log_is_accurate(x):
    """log is within 1e-12 of the C library's value, also close to 1."""
    assert math.isclose(log(x), math.log(x), rel_tol=ACCURACY)


@pytest.mark.parametrize("x", [0.0, -1.0, math.inf, math.nan])
def test_log_refuses_what_has_none(x):
    """Zero, negative numbers, infinity and NaN have no logarithm here."""
    with pytest.raises(ValueError, match="positive finite"):
        log(x)


@given(st.floats(1e-6, 1e6), st.floats(-40.0, 40.0))
@example(2.0, 0.5)
@example(0.5, -3.0)
def test_power_is_accurate(x, y):
    """power differs from the C library's by at most 1e-12 of the value."""
    assert math.isclose(power(x, y), math.pow(x, y), rel_tol=ACCURACY)


def test_power_of_whole_exponents_is_exact():
    """Powers of two, and of zero, come out exactly."""
    assert [power(2.0, n) for n in (-2, 0, 1, 10, 64)] == [
        0.25,
        1.0,
        2.0,
        1024.0,
        2.0**64,
    ]
    assert [power(0.0, y) for y in (0.0, 0.5, 3.0)] == [1.0, 0.0, 0.0]


@pytest.mark.parametrize(("x", "y"), [(-1.0, 2.0), (0.0, -1.0), (0.0, -0.5)])
def test_power_refuses_what_is_not_real(x, y):
    """A negative base, and zero under a negative exponent, are errors."""
    with pytest.raises(ValueError, match="not a real number"):
        power(x, y)


def test_a_sum_rounds_at_each_step_from_left_to_right():
    """Ten tenths are a bit less than one, as the builtin of Python 3.11 had it."""
    assert total([0.1] * 10) == 0.9999999999999999
    assert total([1e16, 1.0, -1e16]) == 0.0
    assert total([]) == 0.0


def test_the_bits_are_fixed():
    """These bits hold on every machine; to change them changes decisions."""
    values = (exp(-1 / 60), exp(-5.0), log(0.3), power(0.9, 0.5))

    assert [value.hex() for value in values] == [
        "0x1.f78992056d459p-1",
        "0x1.b993fe00d5376p-8",
        "-0x1.34378fcbda721p+0",
        "0x1.e5b9d136c6d96p-1",
    ]
