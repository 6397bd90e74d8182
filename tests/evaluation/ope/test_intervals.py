"""Errors by session, and the interval that is drawn from the sessions themselves."""

from dataclasses import replace
from math import sqrt

import numpy as np
import pytest
from scipy import stats

from evaluation.ope.clusters import Clusters
from evaluation.ope.intervals import (
    clusters_of,
    interval,
    plain_interval,
    pooled,
    quantile,
    studentised,
)
from tests.evaluation.ope.samples import columns, row

FOUR = columns(*(row(session=s) for s in "xxyyzzww"))
ALL = np.ones(8, np.bool_)


def layout(sizes):
    """Columns of so many sessions, each of a size."""
    one = columns(row())
    session = np.repeat(np.arange(len(sizes)), sizes)
    return replace(one, session=session, sessions=len(sizes))


def test_error_is_of_sessions_by_hand():
    """Session sums 2, 0, 1, 1 about a mean of 1/2: two thirds in all, over 8²."""
    numbers = np.array([0.0, 0.0, 1.0, 0.0, 1.0, 1.0, 1.0, 0.0])

    found = plain_interval(FOUR, numbers, ALL)

    assert found.se == pytest.approx(sqrt(2 * 4 / 3) / 8)


def test_equal_sessions_have_the_error_of_their_means():
    """With as many rows each it is what every textbook says of the session means."""
    draws = np.random.default_rng(1)
    numbers = draws.random(60)
    found = plain_interval(layout([3] * 20), numbers, np.ones(60, np.bool_))

    means = numbers.reshape(20, 3).mean(axis=1)
    expected = stats.t.interval(0.95, 19, means.mean(), means.std(ddof=1) / sqrt(20))
    assert found.ci == pytest.approx(expected)
    assert found.p_value == pytest.approx(stats.ttest_1samp(means, 0.0).pvalue)


@pytest.mark.parametrize("freedom", [1, 2, 3, 10, 39, 1000, 20_000])
def test_quantile_is_students(freedom):
    """Beside scipy's."""
    assert quantile(freedom) == pytest.approx(stats.t.ppf(0.975, freedom), rel=2e-4)


def test_one_session_tells_nothing_of_sessions():
    """It has a mean, and no error."""
    found = interval(layout([5]), np.arange(5.0), np.ones(5, np.bool_), 500)

    assert (found.se, found.ci, found.p_value) == (None, None, None)


def test_without_variation_there_is_no_width():
    """All alike: the interval is the point."""
    ones, nothing = np.ones(8), np.zeros(8)

    assert interval(FOUR, ones, ALL, 500).ci == (1.0, 1.0)
    assert interval(FOUR, nothing, ALL, 500).ci == (0.0, 0.0)
    assert interval(FOUR, nothing, ALL, 500).p_value == 1.0


def test_few_sessions_fall_back_to_students():
    """Where a resample has no error to measure by, the t interval stands in."""
    numbers = np.array([0.0, 0.0, 1.0, 0.0, 1.0, 1.0, 1.0, 0.0])

    found = interval(FOUR, numbers, ALL, 500)

    assert not found.is_bootstrap
    assert found == plain_interval(FOUR, numbers, ALL)


def test_many_sessions_are_drawn_again():
    """For normal sessions the drawn interval is nearly Student's."""
    draws = np.random.default_rng(2)
    numbers, sizes = draws.normal(0.2, 1.0, 300), [3] * 100
    all_ = np.ones(300, np.bool_)

    found = interval(layout(sizes), numbers, all_, 4000)
    plain = plain_interval(layout(sizes), numbers, all_)

    assert found.is_bootstrap
    assert found.ci == pytest.approx(plain.ci, abs=0.02)
    assert found.p_value == pytest.approx(plain.p_value, abs=0.02)


def test_leans_with_the_skew():
    """Rare large gains: the interval reaches farther up than down."""
    numbers = np.zeros(300)
    numbers[::24] = 5.0
    found = interval(layout([3] * 100), numbers, np.ones(300, np.bool_), 2000)

    assert found.ci is not None
    low, high = found.ci
    assert high - numbers.mean() > 1.1 * (numbers.mean() - low)


def test_p_value_and_interval_agree():
    """Whether 0 lies outside the interval is whether p is under 5 %."""
    draws = np.random.default_rng(5)
    for shift in np.linspace(0.0, 0.3, 31):
        numbers = draws.normal(shift, 1.0, 300)
        found = interval(layout([3] * 100), numbers, np.ones(300, np.bool_), 1000)
        assert found.ci is not None
        assert found.p_value is not None
        outside = not found.ci[0] <= 0.0 <= found.ci[1]
        assert outside == (found.p_value < 0.05) or abs(found.p_value - 0.05) < 0.003


def test_resamples_have_the_mean_and_error_of_their_rows():
    """Against a plain loop over the same draws."""
    draws = np.random.default_rng(6)
    rows = draws.integers(1, 5, 30).astype(float)
    clusters = Clusters(rows, draws.normal(size=30))
    clusters = replace(
        clusters, off=clusters.off - clusters.off.sum() / rows.sum() * rows
    )

    drawn = studentised(clusters, 2000)

    assert drawn is not None
    assert list(drawn) == sorted(drawn)
    assert abs(drawn.mean()) < 0.15
    assert np.quantile(drawn, 0.975) == pytest.approx(quantile(29), rel=0.25)


def test_the_same_data_give_the_same_draws():
    """Nothing but the data decides."""
    numbers = np.random.default_rng(7).normal(size=300)
    layed, all_ = layout([3] * 100), np.ones(300, np.bool_)

    assert interval(layed, numbers, all_, 500) == interval(layed, numbers, all_, 500)


def test_pooling_keeps_spread_and_total():
    """Ten thousand sessions in 4,096 have about the same variance."""
    draws = np.random.default_rng(8)
    clusters = clusters_of(layout([1] * 10_000), draws.exponential(size=10_000))
    found = pooled(clusters)

    assert len(found.rows) == 4096
    assert found.rows.sum() == 10_000
    assert found.off.sum() == pytest.approx(0.0, abs=1e-8)
    assert found.variance == pytest.approx(clusters.variance, rel=0.1)


def test_rows_left_out_do_not_count():
    """Numbers are of the chosen rows alone."""
    chosen = np.array([True, False] * 4)

    assert plain_interval(FOUR, np.array([1.0, 0.0, 1.0, 0.0]), chosen).se == (
        pytest.approx(
            plain_interval(
                layout([1] * 4), np.array([1.0, 0.0, 1.0, 0.0]), np.ones(4, np.bool_)
            ).se
        )
    )
