"""Standard errors and intervals of a mean, clustered by session.

Decisions of one session are not independent. The interval shown is the hull of two: a
cluster bootstrap-t (Hall, 1988; Cameron, Gelbach and Miller, 2008), which follows the skew,
and a CR3 jackknife t interval, which widens where sessions are few or uneven. Draws are
seeded by the data, so the same data give the same interval.
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
"""The nominal coverage of every interval."""
_MOST_CLUSTERS = 4096
"""Clusters that a bootstrap draws from at most; see `pooled`."""
_DRAWS_AT_ONCE = 1 << 20
"""Draws held at a time: arrays of 8 MiB, however many resamples there are."""
_NOTHING = 1e-12
"""Relative to the mean, an error up to here is rounding: all sessions say the same."""


@dataclass(frozen=True, slots=True)
class Interval:
    """A mean's standard error and confidence interval; None for a single session."""

    se: float | None
    ci: tuple[float, float] | None
    p_value: float | None
    """Two-sided, for a mean of 0."""

    is_bootstrap: bool = False
    """Whether the bootstrap took part; otherwise it is the jackknife's alone."""

    def clipped(self, low: float, high: float) -> "Interval":
        """Return the interval with its ends limited to the range of possible values."""
        if self.ci is None:
            return self
        ends = tuple(min(max(end, low), high) for end in self.ci)
        return replace(self, ci=(ends[0], ends[1]))

    def moved(self, by: float) -> "Interval":
        """Return the interval shifted by an amount; the p-value does not carry over."""
        ci = None if self.ci is None else (self.ci[0] + by, self.ci[1] + by)
        return Interval(self.se, ci, None, self.is_bootstrap)


@dataclass(frozen=True, slots=True)
class Clusters:
    """The sessions that a mean is taken over."""

    rows: Floats
    """The number of rows in each."""
    off: Floats
    """The sum of each session's numbers less its rows times the overall mean."""

    @property
    def variance(self) -> float | None:
        """Cluster-robust variance of the mean (CR1; Liang and Zeger, 1986).

        None for a single session.
        """
        count = len(self.rows)
        if count < 2:
            return None
        spread = float(np.square(self.off).sum()) * count / (count - 1)
        return spread / float(self.rows.sum()) ** 2

    @property
    def jackknife(self) -> float | None:
        """The same by leaving out each session (CR3; Bell and McCaffrey, 2002).

        It is larger than CR1 where sessions are uneven, which CR1 underestimates there.
        """
        count = len(self.rows)
        if count < 2:
            return None
        # How far the mean moves when a session is left out, up to its sign.
        moved = self.off / (self.rows.sum() - self.rows)
        spread = float(np.square(moved - moved.mean()).sum())
        return spread * (count - 1) / count

    @property
    def freedom(self) -> int:
        """Degrees of freedom of that variance, at least 1.

        The effective number of sessions (Kish) less one, or fewer if a few of them make most
        of the variance: 2 over its squared relative error (Satterthwaite, 1946).
        """
        count = len(self.rows)
        even = effective_number(self.rows) - 1.0
        square = np.square(self.off)
        total = float(square.sum())
        # No session is off the mean, so there is no variance whose
        # relative error could be had.
        if not total:
            return max(1, int(even))
        # The relative variance of a mean of squares is (kurtosis - 1) / count.
        kurtosis = count * float(np.square(square / total).sum())
        steady = 2.0 * count / (kurtosis - 1.0) if kurtosis > 1.0 else even
        # Rounded first, so that 13.9999999 of 15 even sessions is 14 and not 13.
        return max(1, int(round(min(even, steady, count - 1.0), 6)))


def clusters_of(
    columns: Columns, numbers: Floats, rows: Flags | None = None
) -> Clusters:
    """Sum `numbers` by session; they belong to the rows flagged in `rows`, or to all."""
    session = columns.session if rows is None else columns.session[rows]
    count = np.bincount(session, minlength=columns.sessions).astype(np.float64)
    sums = summed(session, numbers, columns.sessions)
    present = count > 0
    count, sums = count[present], sums[present]
    return Clusters(count, sums - mean(numbers) * count)


def clustered_variance(columns: Columns, numbers: Floats) -> float | None:
    """Return the CR1 variance of the mean over all rows; None for a single session."""
    return clusters_of(columns, numbers).variance


def interval(
    columns: Columns, numbers: Floats, rows: Flags, resamples: int
) -> Interval:
    """Return the interval of the mean of `numbers`, which belong to the flagged `rows`.

    It is the hull of jackknife and bootstrap-t, with the larger of their p-values: either
    alone covered too little somewhere in simulations (few, uneven or skewed sessions).
    """
    clusters = _in_order(clusters_of(columns, numbers, rows))
    plain = _plain(mean(numbers), clusters)
    # Where all sessions say the same, each resample's t would be 0 over 0.
    if plain.se is None or plain.ci is None or plain.se == 0.0:
        return plain
    drawn = studentised(pooled(clusters), resamples)
    if drawn is None:
        return plain
    centre, se = mean(numbers), sqrt(clusters.variance or 0.0)
    low, high = _tails(drawn)
    # Bootstrap-t reflects: the upper tail of the resamples gives the lower end.
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
    """Sort clusters by content, so that a session's name cannot change a draw."""
    order = np.lexsort((clusters.off, clusters.rows))
    return Clusters(clusters.rows[order], clusters.off[order])


# The bisection costs about 50 evaluations, and plans ask again for the same few degrees.
@lru_cache
def quantile(freedom: int, level: float = LEVEL) -> float:
    """Return Student's t quantile in standard errors, two-sided at `level`."""
    low, high = 0.0, 1.0
    while p_value(high, freedom) > 1.0 - level:
        high *= 2.0
    # Bisected until no float lies between: the same bits on every machine.
    while (middle := (low + high) / 2.0) not in (low, high):
        if p_value(middle, freedom) > 1.0 - level:
            low = middle
        else:
            high = middle
    return high


def pooled(clusters: Clusters) -> Clusters:
    """Return at most 4,096 clusters, each pooled from whole sessions at random.

    Pooling at random keeps the mean's variance and skewness, and a bootstrap of a million
    sessions would take minutes.
    """
    count = len(clusters.rows)
    if count <= _MOST_CLUSTERS:
        return clusters
    # A random permutation dealt out in turn: pools differ by one session at most.
    turn = np.empty(count, np.int64)
    turn[np.argsort(uniforms(0, 0, count), kind="stable")] = np.arange(count)
    turn %= _MOST_CLUSTERS
    return Clusters(
        summed(turn, clusters.rows, _MOST_CLUSTERS),
        summed(turn, clusters.off, _MOST_CLUSTERS),
    )


def studentised(clusters: Clusters, resamples: int) -> Floats | None:
    """Return the t statistic of each bootstrap resample of whole sessions, ascending.

    None if a resample has no spread, since it drew one session (or equal ones) throughout;
    the jackknife then stands alone.
    """
    count = len(clusters.rows)
    seed = _seed(clusters)
    at_once = max(1, _DRAWS_AT_ONCE // count)
    found = []
    for first in range(0, resamples, at_once):
        size = min(at_once, resamples - first)
        # Numbered through all resamples, so the size of a batch changes no draw.
        draws = uniforms(seed, first * count, size * count).reshape(size, count)
        # Draws are at most 1 - 2^-53, so that the product, rounded, stays below `count`.
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
    # Clusters come sorted by content: sessions under other names give the same seed.
    data = np.concatenate((clusters.rows, clusters.off)).tobytes()
    return int.from_bytes(blake2b(data, digest_size=8).digest())


def _tails(drawn: Floats) -> tuple[float, float]:
    """Return the lower and upper quantile that leave (1 - LEVEL) / 2 on either side."""
    last = len(drawn) - 1
    cut = (1.0 - LEVEL) / 2.0 * last
    return _at(drawn, cut), _at(drawn, last - cut)


def _at(drawn: Floats, place: float) -> float:
    """Return the value at a fractional index, interpolated linearly."""
    below, above = float(drawn[floor(place)]), float(drawn[ceil(place)])
    return below + (above - below) * (place - floor(place))


def _share_beyond(drawn: Floats, t: float) -> float:
    """Return the two-sided bootstrap p-value: twice the share beyond `t`.

    One is added above and below (Davison and Hinkley, 1997), so it is never 0.
    """
    below = int(np.searchsorted(drawn, t, side="right"))
    above = len(drawn) - int(np.searchsorted(drawn, t, side="left"))
    return min(1.0, 2.0 * (1 + min(below, above)) / (len(drawn) + 1))
