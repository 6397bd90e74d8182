"""The shape of the weights' tail."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as some

from evaluation.ope.weight_diagnostics import tail_shape


@pytest.mark.parametrize("shape", [0.2, 0.5, 0.8])
def test_finds_the_shape_of_pareto_weights(shape):
    """The mean of fifty fits lies near the truth, a little drawn toward 1/2."""
    draws = np.random.default_rng(3)
    fits = [tail_shape(draws.pareto(1 / shape, 2000) + 1) or 0.0 for _ in range(50)]

    assert sum(fits) / 50 == pytest.approx(shape, abs=0.06)


def test_flat_tails_have_no_shape():
    """The largest weights of a constant exploration are all alike."""
    weights = np.repeat([0.0, 1.25, 5.0], [100, 700, 40])

    assert tail_shape(weights) is None


def test_few_weights_have_no_tail():
    """A fifth of them has to be five at least."""
    assert tail_shape(np.arange(24.0)) is None
    assert tail_shape(np.arange(25.0)) is not None


def test_scale_does_not_matter():
    """The shape is of the weights' ratios alone."""
    weights = np.random.default_rng(4).pareto(2.0, 500)

    assert tail_shape(1e90 * weights) == pytest.approx(tail_shape(weights))


@given(
    some.lists(some.sampled_from([0.0, 1.0, 1.25, 2.0, 5.0, 1e3, 1e100]), max_size=80)
)
def test_is_a_number_or_none(weights):
    """Whatever the weights are."""
    shape = tail_shape(np.array(weights))

    assert shape is None or np.isfinite(shape)
