"""Standard errors and intervals of a mean, clustered by session, or by person.

Decisions of one session are not independent. For people of the log, sessions vary within
strata, as in a stratified sample (Cochran, 1977, chapter 6); for others like them, people
vary. The interval shown is the hull of two: a
cluster bootstrap-t (Hall, 1988; Cameron, Gelbach and Miller, 2008), which follows the skew,
and a CR3 jackknife t interval, which widens where sessions are few or uneven. Draws are
seeded by the data, so the same data give the same interval.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from hashlib import blake2b
from math import ceil, erfc, floor, sqrt

import numpy as np

from evaluation.ope.clusters import Clusters, stratified
from evaluation.ope.columns import Columns, Flags, Floats, summed
from evaluation.ope.estimators import mean
from evaluation.ope.resampling import uniforms
from evaluation.ope.student import p_value

_LEVEL = 0.95
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

    def widened(self, others: Sequence["Interval"], mass: float) -> "Interval":
        """Return the hull of it and others, `mass` wider at either end.

        Its standard error stays that of what is known; its p-value is the largest, and 1
        if the hull holds 0.
        """
        every = [self, *others]
        ends = [each.ci for each in every if each.ci is not None]
        if self.ci is None or len(ends) < len(every):
            return self
        low = min(end[0] for end in ends) - mass
        high = max(end[1] for end in ends) + mass
        p = max(each.p_value or 0.0 for each in every)
        if mass and self.se:
            # Less of the difference is certain by so much, and normal is near enough: this
            # p-value only joins those of other comparisons.
            t = max(0.0, abs(sum(self.ci)) / 2.0 - mass) / self.se
            p = max(p, erfc(t / sqrt(2.0)))
        is_open = bool(others or mass) and low <= 0.0 <= high
        return replace(self, ci=(low, high), p_value=1.0 if is_open else p)


def clusters_of(
    columns: Columns, numbers: Floats, rows: Flags | None = None
) -> Clusters:
    """Sum `numbers` by unit; they belong to the rows flagged in `rows`, or to all.

    Units are sessions, whose strata are the people of the log; or people.
    """
    people = columns.people
    unit = columns.session if rows is None else columns.session[rows]
    stratum = None
    if people is not None and columns.are_units:
        unit = people.household[unit]
    elif people is not None:
        stratum = people.stratum
    count = np.bincount(unit, minlength=columns.sessions).astype(np.float64)
    sums = summed(unit, numbers, columns.sessions)
    present = count > 0
    count, sums = count[present], sums[present]
    of = None if stratum is None else stratum[present]
    return stratified(count, sums - mean(numbers) * count, of)


def clustered_variance(columns: Columns, numbers: Floats) -> float | None:
    """Return the CR1 variance of the mean over all rows by session; None for a single one.

    Of what chance drew, as propensities are: it does not depend on whose a session is.
    """
    alone = replace(columns, people=None)
    return clusters_of(alone, numbers).variance


def interval(
    columns: Columns, numbers: Floats, rows: Flags, resamples: int
) -> Interval:
    """Return the interval of the mean of `numbers`, which belong to the flagged `rows`.

    It is the hull of jackknife and bootstrap-t, with the larger of their p-values: either
    alone covered too little somewhere in simulations (few, uneven or skewed sessions).
    """
    units = clusters_of(columns, numbers, rows).in_order()
    plain = _plain(mean(numbers), units)
    # Where all sessions say the same, each resample's t would be 0 over 0.
    if plain.se is None or plain.ci is None or plain.se == 0.0:
        return plain
    drawn = studentised(pooled(units.levelled()), resamples)
    if drawn is None:
        return plain
    centre, se = mean(numbers), sqrt(units.variance or 0.0)
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


# The bisection costs about 50 evaluations, and plans ask again for the same few degrees.
@lru_cache
def quantile(freedom: int, level: float = _LEVEL) -> float:
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
    cut = (1.0 - _LEVEL) / 2.0 * last
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
