"""Score predicted probabilities against outcomes: Brier score, skill, calibration error.

Only predictions made before their outcome was known count (prequential; Dawid, 1984). A
calibration error is shown beside its null band, since a perfectly calibrated model has
one too: .05 on average over 500 outcomes.
"""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from evaluation.ope.resampling import uniforms
from schemas.values.exact_math import log, total

LEAST_PAIRS = 10
"""Fewer predictions than this are not scored."""

_Numbers = Sequence[float] | NDArray[np.float64]
_Floats = NDArray[np.float64]

_BINS = 10
"""Bins of the reliability table, by quantiles of the predictions."""
_DRAWS = 400
"""Simulated outcome sets for the null band: 20 of them lie beyond its 95th percentile."""

_NEARLY_ZERO = float(np.finfo(np.float64).eps)
"""Probabilities are kept this far from 0 and 1, where the log loss is infinite."""
_PRIOR_MEAN, _PRIOR_COUNT = 0.5, 2.0
"""Laplace's rule of succession: a rate starts as one success in two outcomes."""


@dataclass(frozen=True, slots=True)
class _Bin:
    """One row of the reliability table: predictions from `low` to `high`, inclusive."""

    low: float
    high: float
    n: int
    predicted: float
    """The mean prediction."""
    happened: float
    """The mean outcome."""


@dataclass(frozen=True, slots=True)
class _NullBand:
    """The calibration error of a model that is exactly right, at these predictions."""

    mean: float
    p95: float


@dataclass(frozen=True, slots=True)
class Calibration:
    """All scores of one set of predictions; `skill` is None where all outcomes are alike."""

    n: int
    base_rate: float
    brier: float
    skill: float | None
    log_loss: float
    error: float
    null_band: _NullBand
    bins: tuple[_Bin, ...]

    @property
    def is_calibrated(self) -> bool:
        """Whether chance alone explains the calibration error."""
        return self.error <= self.null_band.p95


@dataclass(frozen=True, slots=True)
class _Prequential:
    """Scores after each outcome, of predictions made before it."""

    brier: _Floats
    base_brier: _Floats
    """The score of predicting the running rate, (1 + successes) / (2 + outcomes)."""
    log_loss: _Floats

    @property
    def skill(self) -> float | None:
        """The share of the base rate's Brier score that the predictions save."""
        return _skill(float(self.brier[-1]), float(self.base_brier[-1]))


def calibration(
    predicted: _Numbers, happened: _Numbers, *, bins: int = _BINS, seed: str = ""
) -> Calibration:
    """Return all scores of a set of predictions, whatever its order.

    Raises:
        ValueError: lengths differ, there is none, or a number lies outside [0, 1].
    """
    p, y = _checked(predicted, happened)
    # Sums of floats depend on the order of their terms, so it is made canonical.
    order = np.lexsort((y, p))
    p, y = p[order], y[order]
    rows = reliability(p, y, bins=bins)
    return Calibration(
        n=len(p),
        base_rate=float(y.mean()),
        brier=brier(p, y),
        skill=brier_skill(p, y),
        log_loss=log_loss(p, y),
        error=calibration_error(rows),
        null_band=null_band(p, bins=bins, seed=seed),
        bins=rows,
    )


def brier(predicted: _Numbers, happened: _Numbers) -> float:
    """Return the mean squared error of probabilities (Brier, 1950).

    0 is perfect; a constant prediction of one half scores .25.
    """
    p, y = _checked(predicted, happened)
    return float(((p - y) ** 2).mean())


def brier_skill(
    predicted: _Numbers, happened: _Numbers, *, base_rate: float | None = None
) -> float | None:
    """Return the Brier skill score, 1 - Brier / Brier of predicting the base rate.

    Below 0 is worse than the base rate. Without a `base_rate` it is the mean of these
    outcomes. None where the base rate's score is 0, since all outcomes are alike.
    """
    p, y = _checked(predicted, happened)
    rate = float(y.mean()) if base_rate is None else base_rate
    return _skill(brier(p, y), float(((rate - y) ** 2).mean()))


def log_loss(predicted: _Numbers, happened: _Numbers) -> float:
    """Return the mean logarithmic loss in nats (Good, 1952); a certain miss costs 36."""
    p, y = _checked(predicted, happened)
    return float(_surprise(p, y).mean())


def reliability(
    predicted: _Numbers, happened: _Numbers, *, bins: int = _BINS
) -> tuple[_Bin, ...]:
    """Return the reliability table, in bins of about equal numbers of predictions.

    Equal predictions share a bin, so there may be fewer bins than asked for.
    """
    p, y = _checked(predicted, happened)
    place = _bin_of(p, bins)
    return tuple(
        _Bin(
            low=float(p[own].min()),
            high=float(p[own].max()),
            n=int(own.sum()),
            predicted=float(p[own].mean()),
            happened=float(y[own].mean()),
        )
        for own in (place == each for each in np.unique(place))
    )


def calibration_error(bins: Sequence[_Bin]) -> float:
    """Return the expected calibration error (Naeini, Cooper and Hauskrecht, 2015).

    It is the mean |predicted - happened| of the bins, weighted by their sizes.
    """
    distances = (each.n * abs(each.predicted - each.happened) for each in bins)
    return total(distances) / sum(each.n for each in bins)


def null_band(
    predicted: _Numbers, *, bins: int = _BINS, draws: int = _DRAWS, seed: str = ""
) -> _NullBand:
    """Return mean and 95th percentile of the error if every prediction were exactly right.

    Outcomes are drawn from the predictions themselves (consistency resampling; Bröcker and
    Smith, 2007), seeded by `seed` and the sorted predictions: the same have the same band.
    """
    p = np.sort(_numbers(predicted, "predicted"))
    place = _bin_of(p, bins)
    # Sorted predictions of one bin stand side by side, so a bin is the stretch between two
    # starts; ties may leave fewer bins than asked for.
    starts = np.flatnonzero(np.diff(place, prepend=-1))
    sums = np.add.reduceat(p, starts)
    key = hashlib.blake2b(seed.encode() + b"|" + p.tobytes(), digest_size=8).digest()
    start = int.from_bytes(key, "big")
    errors = np.empty(draws)
    for draw in range(draws):
        happened = uniforms(start, draw * len(p), len(p)) < p
        errors[draw] = np.abs(
            np.add.reduceat(happened.astype(float), starts) - sums
        ).sum()
    errors = np.sort(errors) / len(p)
    return _NullBand(float(errors.mean()), float(np.quantile(errors, 0.95)))


def prequential(predicted: _Numbers, happened: _Numbers) -> _Prequential:
    """Return the running scores after each outcome, given in order of time."""
    p, y = _checked(predicted, happened)
    n = np.arange(1, len(p) + 1)
    before = np.cumsum(y) - y
    # The base rate at each outcome is that of the outcomes before it, as for a predictor
    # that looks no further either.
    rate = (_PRIOR_MEAN * _PRIOR_COUNT + before) / (_PRIOR_COUNT + n - 1)
    return _Prequential(
        brier=np.cumsum((p - y) ** 2) / n,
        base_brier=np.cumsum((rate - y) ** 2) / n,
        log_loss=np.cumsum(_surprise(p, y)) / n,
    )


def _skill(score: float, base: float) -> float | None:
    return None if base == 0.0 else 1.0 - score / base


def _surprise(p: _Floats, y: _Floats) -> _Floats:
    sure = np.clip(p, _NEARLY_ZERO, 1.0 - _NEARLY_ZERO)
    # Confidences repeat, and `exact_math.log` is slow, so each is computed once.
    values, place = np.unique(sure, return_inverse=True)
    yes = np.array([-log(each) for each in values.tolist()])[place]
    no = np.array([-log(1.0 - each) for each in values.tolist()])[place]
    loss: _Floats = y * yes + (1.0 - y) * no
    return loss


def _bin_of(p: _Floats, bins: int) -> NDArray[np.int64]:
    if bins < 1:
        raise ValueError(f"bins {bins!r}: give at least one")
    edges = np.percentile(p, np.linspace(0.0, 100.0, bins + 1))
    # Without the outer edges: the least prediction equals the lowest and
    # would be alone in a bin below it.
    return np.searchsorted(edges[1:-1], p).astype(np.int64)


def _checked(predicted: _Numbers, happened: _Numbers) -> tuple[_Floats, _Floats]:
    p, y = _numbers(predicted, "predicted"), _numbers(happened, "happened")
    if len(p) != len(y):
        raise ValueError(
            f"{len(p)!r} predictions and {len(y)!r} outcomes: give one of each"
        )
    return p, y


def _numbers(values: _Numbers, name: str) -> _Floats:
    found = np.asarray(values, dtype=np.float64)
    if found.ndim != 1 or not len(found):
        raise ValueError(f"{name}: no numbers; give at least one")
    if not ((found >= 0.0) & (found <= 1.0)).all():
        raise ValueError(f"{name}: a number outside [0, 1]; give chances and outcomes")
    return found
