"""Brier, log-loss and calibration beside scikit-learn's, and the null band's truth."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as some
from sklearn import metrics
from sklearn.calibration import calibration_curve

from evaluation.ope.calibration import (
    brier,
    brier_skill,
    calibration,
    calibration_error,
    log_loss,
    null_band,
    prequential,
    reliability,
)


def outcomes(n=500, seed=2, bias=0.0):
    """Predictions all over [0, 1], and what came of them."""
    draws = np.random.default_rng(seed)
    predicted = draws.random(n)
    happened = draws.random(n) < np.clip(predicted + bias, 0.0, 1.0)
    return predicted, happened.astype(float)


def test_scores_agree_with_scikit_learn():
    """Brier score and log-loss are scikit-learn's, sure predictions included."""
    predicted, happened = outcomes()
    predicted[:2] = 0.0, 1.0

    assert brier(predicted, happened) == pytest.approx(
        metrics.brier_score_loss(happened, predicted), abs=1e-12
    )
    assert log_loss(predicted, happened) == pytest.approx(
        metrics.log_loss(happened, predicted), abs=1e-12
    )


@pytest.mark.parametrize("decimals", [1, 6])
def test_reliability_agrees_with_scikit_learn(decimals):
    """The bins are those of its quantile strategy, with ties kept together."""
    predicted, happened = outcomes()
    predicted = predicted.round(decimals)
    true, told = calibration_curve(happened, predicted, n_bins=10, strategy="quantile")

    rows = reliability(predicted, happened)
    assert [row.happened for row in rows] == pytest.approx(true.tolist(), abs=1e-12)
    assert [row.predicted for row in rows] == pytest.approx(told.tolist(), abs=1e-12)
    assert sum(row.n for row in rows) == 500


def test_skill_of_the_base_rate_is_none():
    """Predicting the base rate saves nothing, being right saves all, worse is negative."""
    happened = [1.0, 0.0, 1.0, 1.0]

    assert brier_skill([0.75] * 4, happened) == 0.0
    assert brier_skill(happened, happened) == 1.0
    assert brier_skill([0.0, 1.0, 0.0, 0.0], happened) == pytest.approx(1 - 1 / 0.1875)
    assert brier_skill([0.6] * 4, happened, base_rate=0.6) == 0.0
    assert brier_skill([0.6] * 4, [1.0] * 4) is None


@pytest.mark.parametrize("n", [50, 200, 1000])
def test_null_band_is_that_of_drawn_worlds(n):
    """Mean and 95th percentile agree with 2000 worlds drawn by numpy, within 5 %."""
    draws = np.random.default_rng(4)
    predicted = draws.uniform(0.1, 0.9, n)
    errors = [
        calibration_error(reliability(predicted, (draws.random(n) < predicted) * 1.0))
        for _ in range(2000 if n < 1000 else 500)
    ]

    band = null_band(predicted, draws=2000)
    assert band.mean == pytest.approx(np.mean(errors), rel=0.05)
    assert band.p95 == pytest.approx(np.quantile(errors, 0.95), rel=0.05)


@pytest.mark.parametrize(
    ("n", "mean", "p95"),
    [
        (50, 0.166, 0.235),
        (100, 0.115, 0.163),
        (500, 0.051, 0.076),
        (1000, 0.036, 0.051),
        (5000, 0.016, 0.022),
    ],
)
def test_null_band_has_the_published_size(n, mean, p95):
    """A calibrated model whose chances lie about the middle shows this much error."""
    predicted = np.random.default_rng(5).uniform(0.2, 0.8, n)

    band = null_band(predicted)
    assert band.mean == pytest.approx(mean, rel=0.08)
    assert band.p95 == pytest.approx(p95, rel=0.12)


def test_tells_calibrated_from_biased():
    """Chance explains the error of a true model, not that of one .15 too low."""
    assert calibration(*outcomes(seed=6)).is_calibrated
    assert not calibration(*outcomes(seed=6, bias=0.15)).is_calibrated


def test_false_alarms_of_the_null_band():
    """Of 200 calibrated models about one in twenty lies above its band."""
    alarms = sum(
        not calibration(*outcomes(100, seed=1000 + i)).is_calibrated for i in range(200)
    )

    assert alarms / 200 <= 0.1


def test_order_does_not_matter():
    """The same outcomes in another order give the same figures, bit for bit."""
    predicted, happened = outcomes(300)
    predicted = predicted.round(2)
    turned = np.random.default_rng(0).permutation(300)

    assert calibration(predicted, happened) == calibration(
        predicted[turned], happened[turned]
    )


def test_equal_predictions_make_one_bin():
    """A model that always says one half has one row, and its error is the bias."""
    found = calibration([0.5] * 40, [1.0] * 30 + [0.0] * 10)

    assert len(found.bins) == 1
    assert found.error == 0.25
    assert found.base_rate == 0.75


def test_prequential_scores_each_prefix():
    """After each outcome the score is that of the outcomes so far."""
    predicted, happened = outcomes(50)
    running = prequential(predicted, happened)

    for n in (1, 7, 50):
        assert running.brier[n - 1] == pytest.approx(brier(predicted[:n], happened[:n]))
        assert running.log_loss[n - 1] == pytest.approx(
            log_loss(predicted[:n], happened[:n])
        )


def test_prequential_base_knows_only_the_past():
    """The base rate starts at one half and learns from what came before."""
    running = prequential([0.5, 0.5, 0.5], [1.0, 1.0, 0.0])

    wrong = np.array([0.5, 1 / 3, 3 / 4]) ** 2
    assert running.base_brier == pytest.approx(np.cumsum(wrong) / [1, 2, 3])
    assert running.skill == pytest.approx(1 - 0.25 / wrong.mean())


@given(some.lists(some.tuples(some.floats(0, 1), some.floats(0, 1)), min_size=1))
def test_scores_stay_in_their_ranges(pairs):
    """Whatever is predicted and happens, scores are numbers in their ranges."""
    predicted, happened = zip(*pairs, strict=True)
    found = calibration(predicted, happened, bins=5)

    assert 0.0 <= found.brier <= 1.0
    assert 0.0 <= found.error <= 1.0
    assert found.log_loss >= 0.0
    assert found.skill is None or found.skill <= 1.0


def test_refuses_what_is_no_chance():
    """Chances outside [0, 1], none at all, or too few outcomes are errors."""
    for predicted, happened, match in (
        ([1.2], [1.0], "predicted"),
        ([float("nan")], [1.0], "predicted"),
        ([0.5], [2.0], "happened"),
        ([], [], "at least one"),
        ([0.5, 0.5], [1.0], "one of each"),
    ):
        with pytest.raises(ValueError, match=match):
            brier(predicted, happened)
    with pytest.raises(ValueError, match="bins 0"):
        reliability([0.5], [1.0], bins=0)
