"""Draws that follow from a seed and their number."""

import numpy as np

from evaluation.ope.resampling import mixed, uniforms


def test_scatters_as_published():
    """splitmix64's published first outputs for the seed 1234567."""
    step = 0x9E3779B97F4A7C15
    states = np.array([1234567 + i * step & (1 << 64) - 1 for i in range(3)], np.uint64)

    expected = [6457827717110365317, 3203168211198807973, 9817491932198370423]
    assert list(mixed(states)) == expected


def test_any_part_is_the_same_part():
    """Draws taken in one go are those taken in two."""
    whole = uniforms(7, 0, 100)

    assert np.array_equal(
        whole, np.concatenate((uniforms(7, 0, 33), uniforms(7, 33, 67)))
    )


def test_draws_are_even():
    """A tenth of them falls into each tenth, and seeds have nothing in common."""
    one, other = uniforms(1, 0, 100_000), uniforms(2, 0, 100_000)

    counts = np.histogram(one, bins=10, range=(0.0, 1.0))[0]
    assert abs(counts - 10_000).max() < 400
    assert abs(np.corrcoef(one, other)[0, 1]) < 0.015
    assert abs(np.corrcoef(one[1:], one[:-1])[0, 1]) < 0.015
