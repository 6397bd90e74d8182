"""Student's t distribution beside scipy's."""

import pytest
from scipy import stats

from evaluation.ope.student import p_value

FREEDOM = (1, 2, 3, 4, 5, 10, 29, 30, 99, 1000, 9999, 10_000)


@pytest.mark.parametrize("freedom", FREEDOM)
def test_agrees_with_scipy(freedom):
    """The two-sided tail is scipy's to twelve decimals."""
    for t in (0.0, 0.3, -1.0, 1.96, 2.5, -4.0, 10.0):
        expected = 2.0 * stats.t.sf(abs(t), freedom)

        assert p_value(t, freedom) == pytest.approx(expected, abs=1e-12)


def test_is_normal_for_very_many_sessions():
    """Beyond ten thousand the normal distribution stands in, off by less than 1e-4."""
    exact = 2.0 * stats.t.sf(1.96, 20_000)

    assert p_value(1.96, 20_000) == pytest.approx(exact, abs=1e-4)


def test_an_endless_t_has_no_chance():
    """A difference without any spread is certain."""
    assert p_value(float("inf"), 5) == 0.0


@pytest.mark.parametrize(("t", "freedom"), [(float("nan"), 5), (1.0, 0)])
def test_refuses_what_has_no_answer(t, freedom):
    """No number, or no degree of freedom, is an error that names both."""
    with pytest.raises(ValueError, match="degrees of freedom"):
        p_value(t, freedom)
