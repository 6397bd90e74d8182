"""Errors and intervals of a mean over sessions, whose decisions are not independent.

What is shown holds two intervals: bootstrap-t, which leans with the skew, and a jackknife
with as many degrees of freedom as the sessions are worth, which few or uneven ones widen.
The draws follow from the data, so that the same data give the same interval.
"""

from dataclasses import dataclass, replace
from functools import lru_cache
from hashlib import blake2b
from math import ceil, floor, sqrt

import numpy as np

from evaluation.ope.columns import Columns, Flags, Floats, summed
from evaluation.ope.estimators import effective_number, mean
from evaluation.ope.resampling import uniforms
from evaluation.ope.student import p_value

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

    def clipped(self, low: float, high: float) -> "Interval":
        """Return the same as far as it lies in the range of what is possible."""
        if self.ci is None:
            return self
        ends = tuple(min(max(end, low), high) for end in self.ci)
        return replace(self, ci=(ends[0], ends[1]))

    def moved(self, by: float) -> "Interval":
        """Return the same about another centre; of no p-value then."""
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

    @property
    def jackknife(self) -> float | None:
        """The same from the means without each session (CR3): of uneven ones it is more."""
        count = len(self.rows)
        if count < 2:
            return None
        moved = self.off / (self.rows.sum() - self.rows)
        spread = float(np.square(moved - moved.mean()).sum())
        return spread * (count - 1) / count

    @property
    def freedom(self) -> int:
        """Degrees of freedom of that variance, at least 1.

        The effective number of sessions less one, or fewer if a few of them make most of
        the variance (Satterthwaite: 2 over the squared relative error of the variance).
        """
        count = len(self.rows)
        even = effective_number(self.rows) - 1.0
        square = np.square(self.off)
        total = float(square.sum())
        if not total:
            return max(1, int(even))
        kurtosis = count * float(np.square(square / total).sum())
        steady = 2.0 * count / (kurtosis - 1.0) if kurtosis > 1.0 else even
        return max(1, int(round(min(even, steady, count - 1.0), 6)))


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
    """Return the variance of the mean of all rows; None of a single session."""
    return clusters_of(columns, numbers).variance


def interval(
    columns: Columns, numbers: Floats, rows: Flags, resamples: int
) -> Interval:
    """Return the interval of the mean of `numbers`, which are of those `rows`."""
    clusters = _in_order(clusters_of(columns, numbers, rows))
    plain = _plain(mean(numbers), clusters)
    if plain.se is None or plain.ci is None or plain.se == 0.0:
        return plain
    drawn = studentised(pooled(clusters), resamples)
    if drawn is None:
        return plain
    centre, se = mean(numbers), sqrt(clusters.variance or 0.0)
    low, high = _tails(drawn)
    return Interval(
        plain.se,
        (min(plain.ci[0], centre - high * se), max(plain.ci[1], centre - low * se)),
        max(plain.p_value or 0.0, _share_beyond(drawn, centre / se)),
        is_bootstrap=True,
    )


def plain_interval(columns: Columns, numbers: Floats, rows: Flags) -> Interval:
    """Return the jackknife's t interval of the mean of `numbers`, without a bootstrap."""
    return _plain(mean(numbers), clusters_of(columns, numbers, rows))


def _plain(centre: float, clusters: Clusters) -> Interval:
    variance = clusters.jackknife
    if variance is None:
        return Interval(None, None, None)
    se = sqrt(variance)
    if se <= _NOTHING * max(1.0, abs(centre)):
        return Interval(0.0, (centre, centre), 1.0 if centre == 0.0 else 0.0)
    freedom = clusters.freedom
    reach = quantile(freedom) * se
    return Interval(se, (centre - reach, centre + reach), p_value(centre / se, freedom))


def _in_order(clusters: Clusters) -> Clusters:
    """By what they hold, so that no name moves a draw."""
    order = np.lexsort((clusters.off, clusters.rows))
    return Clusters(clusters.rows[order], clusters.off[order])


@lru_cache
def quantile(freedom: int, level: float = LEVEL) -> float:
    """Return how many errors to either side of a mean hold `level` of Student's t."""
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
    """Return the same in at most 4,096 clusters, made of whole ones by turns.

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
    """Return each resample's distance from the mean in its own errors, ascending.

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
    """Return the quantiles that cut off half of what the level leaves, on either side."""
    last = len(drawn) - 1
    cut = (1.0 - LEVEL) / 2.0 * last
    return _at(drawn, cut), _at(drawn, last - cut)


def _at(drawn: Floats, place: float) -> float:
    """Return the value at a place between two of them."""
    below, above = float(drawn[floor(place)]), float(drawn[ceil(place)])
    return below + (above - below) * (place - floor(place))


def _share_beyond(drawn: Floats, t: float) -> float:
    """Twice the share of resamples beyond `t`, on the side where they are fewer."""
    below = int(np.searchsorted(drawn, t, side="right"))
    above = len(drawn) - int(np.searchsorted(drawn, t, side="left"))
    return min(1.0, 2.0 * (1 + min(below, above)) / (len(drawn) + 1))
