"""Errors and intervals of a mean over sessions, whose decisions are not independent.

Bootstrap-t: sessions are drawn again, each time with its own error. Its rule: the draws
follow from the data, so that the same data give the same interval.
"""

from dataclasses import dataclass
from functools import lru_cache
from hashlib import blake2b
from math import ceil, floor, sqrt

import numpy as np

from replay.estimation.columns import Columns, Flags, Floats, summed
from replay.estimation.draws import uniforms
from replay.estimation.student import p_value
from replay.estimation.values import mean

LEVEL = 0.95
_MOST_CLUSTERS = 4096
_DRAWS_AT_ONCE = 1 << 20
_NOTHING = 1e-12


@dataclass(frozen=True, slots=True)
class Interval:
    """A mean, its error and where it lies; None where one session tells nothing."""

    se: float | None
    ci: tuple[float, float] | None
    p_value: float | None
    """Of no difference from 0, on both sides."""

    is_bootstrap: bool = False

    def moved(self, by: float) -> "Interval":
        """The same about another centre; of no p-value then."""
        ci = None if self.ci is None else (self.ci[0] + by, self.ci[1] + by)
        return Interval(self.se, ci, None, self.is_bootstrap)


@dataclass(frozen=True, slots=True)
class Clusters:
    """A mean's sessions: how far the sum of each lies off what the mean expects."""

    rows: Floats
    off: Floats

    @property
    def variance(self) -> float | None:
        """Of the mean; None of a single session."""
        count = len(self.rows)
        if count < 2:
            return None
        spread = float(np.square(self.off).sum()) * count / (count - 1)
        return spread / float(self.rows.sum()) ** 2


def clusters_of(
    columns: Columns, numbers: Floats, rows: Flags | None = None
) -> Clusters:
    """Sum `numbers` by session; they are of those `rows` only, or of all."""
    session = columns.session if rows is None else columns.session[rows]
    count = np.bincount(session, minlength=columns.sessions).astype(np.float64)
    sums = summed(session, numbers, columns.sessions)
    present = count > 0
    count, sums = count[present], sums[present]
    return Clusters(count, sums - mean(numbers) * count)


def clustered_variance(columns: Columns, numbers: Floats) -> float | None:
    """The variance of the mean of all rows; None of a single session."""
    return clusters_of(columns, numbers).variance


def interval(
    columns: Columns, numbers: Floats, rows: Flags, resamples: int
) -> Interval:
    """The interval of the mean of `numbers`, which are of those `rows`."""
    clusters = clusters_of(columns, numbers, rows)
    variance = clusters.variance
    if variance is None:
        return Interval(None, None, None)
    centre, se = mean(numbers), sqrt(variance)
    if se <= _NOTHING * max(1.0, abs(centre)):
        return Interval(0.0, (centre, centre), 1.0 if centre == 0.0 else 0.0)
    drawn = studentised(pooled(clusters), resamples)
    if drawn is None:
        return _plain(centre, se, len(clusters.rows) - 1)
    low, high = _tails(drawn)
    return Interval(
        se,
        (centre - high * se, centre - low * se),
        _share_beyond(drawn, centre / se),
        is_bootstrap=True,
    )


def plain_interval(columns: Columns, numbers: Floats, rows: Flags) -> Interval:
    """The t interval of the mean of `numbers`, without a bootstrap."""
    clusters = clusters_of(columns, numbers, rows)
    variance = clusters.variance
    if variance is None:
        return Interval(None, None, None)
    return _plain(mean(numbers), sqrt(variance), len(clusters.rows) - 1)


def _plain(centre: float, se: float, freedom: int) -> Interval:
    reach = quantile(freedom) * se
    p = p_value(centre / se, freedom) if se else float(centre == 0.0)
    return Interval(se, (centre - reach, centre + reach), p)


@lru_cache
def quantile(freedom: int, level: float = LEVEL) -> float:
    """How many errors to either side of a mean hold `level` of Student's t."""
    low, high = 0.0, 1.0
    while p_value(high, freedom) > 1.0 - level:
        high *= 2.0
    while (middle := (low + high) / 2.0) not in (low, high):
        if p_value(middle, freedom) > 1.0 - level:
            low = middle
        else:
            high = middle
    return high


def pooled(clusters: Clusters) -> Clusters:
    """The same in at most 4,096 clusters, made of whole ones by turns.

    A mean keeps its spread and its skewness if sessions are bound together at random, and
    a bootstrap of a million sessions would take minutes.
    """
    count = len(clusters.rows)
    if count <= _MOST_CLUSTERS:
        return clusters
    turn = np.empty(count, np.int64)
    turn[np.argsort(uniforms(0, 0, count), kind="stable")] = np.arange(count)
    turn %= _MOST_CLUSTERS
    return Clusters(
        summed(turn, clusters.rows, _MOST_CLUSTERS),
        summed(turn, clusters.off, _MOST_CLUSTERS),
    )


def studentised(clusters: Clusters, resamples: int) -> Floats | None:
    """Each resample's distance from the mean in its own errors, ascending.

    None if one of them has no error to measure by: it drew the same over and over.
    """
    count = len(clusters.rows)
    seed = _seed(clusters)
    at_once = max(1, _DRAWS_AT_ONCE // count)
    found = []
    for first in range(0, resamples, at_once):
        size = min(at_once, resamples - first)
        draws = uniforms(seed, first * count, size * count).reshape(size, count)
        chosen = (draws * count).astype(np.int64)
        rows, off = clusters.rows[chosen], clusters.off[chosen]
        total = rows.sum(axis=1)
        centre = off.sum(axis=1) / total
        spread = np.square(off - centre[:, None] * rows).sum(axis=1)
        error = np.sqrt(spread * count / (count - 1)) / total
        if (error <= _NOTHING * np.maximum(1.0, np.abs(centre))).any():
            return None
        found.append(centre / error)
    return np.sort(np.concatenate(found))


def _seed(clusters: Clusters) -> int:
    data = np.concatenate((clusters.rows, clusters.off)).tobytes()
    return int.from_bytes(blake2b(data, digest_size=8).digest())


def _tails(drawn: Floats) -> tuple[float, float]:
    """The quantiles that cut off half of what the level leaves, on either side."""
    last = len(drawn) - 1
    cut = (1.0 - LEVEL) / 2.0 * last
    return _at(drawn, cut), _at(drawn, last - cut)


def _at(drawn: Floats, place: float) -> float:
    """The value at a place between two of them."""
    below, above = float(drawn[floor(place)]), float(drawn[ceil(place)])
    return below + (above - below) * (place - floor(place))


def _share_beyond(drawn: Floats, t: float) -> float:
    """Twice the share of resamples beyond `t`, on the side where they are fewer."""
    below = int(np.searchsorted(drawn, t, side="right"))
    above = len(drawn) - int(np.searchsorted(drawn, t, side="left"))
    return min(1.0, 2.0 * (1 + min(below, above)) / (len(drawn) + 1))
