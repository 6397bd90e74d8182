"""The units that a mean is taken over, in strata, and how far their mean may be off.

A unit is a session, or a person; units of one stratum are compared with one another, units
of different strata are not. All formulas are those of a single stratum where there is one.
"""

from dataclasses import dataclass
from math import fsum

import numpy as np

from evaluation.ope.columns import Floats, Ints, summed
from evaluation.ope.estimators import effective_number


@dataclass(frozen=True, slots=True)
class Clusters:
    """The units that a mean is taken over."""

    rows: Floats
    """The number of rows in each."""

    off: Floats
    """The sum of each unit's numbers less its rows times the overall mean."""

    stratum: Ints | None = None
    """Of each, from 0 without gaps, each of two units at least; None: all are of one."""

    @property
    def variance(self) -> float | None:
        """Cluster-robust variance of the mean (CR1; Liang and Zeger, 1986), by stratum.

        None for a single unit.
        """
        if len(self.rows) < 2:
            return None
        number = self._number
        spread = np.square(self._within(self.off)) * number / (number - 1.0)
        return fsum(spread.tolist()) / float(self.rows.sum()) ** 2

    @property
    def jackknife(self) -> float | None:
        """The same by leaving out each unit (CR3; Bell and McCaffrey, 2002).

        It is larger than CR1 where units are uneven, which CR1 underestimates there. The
        rest of a unit's stratum counts for it while it is left out (JKn; Rust, 1985).
        """
        if len(self.rows) < 2:
            return None
        number = self._number
        share = number / (number - 1.0)
        # How far the mean moves when a unit is left out, up to its sign.
        left = self.rows.sum() - share * self._within(self.rows)
        moved = self._within(share * self._within(self.off) / left)
        return fsum((np.square(moved) / share).tolist())

    @property
    def freedom(self) -> int:
        """Degrees of freedom of that variance, at least 1.

        In each stratum the effective number of units (Kish) less one, or fewer if a few of
        them make most of the variance: 2 over its squared relative error (Satterthwaite,
        1946).
        """
        count, strata = len(self.rows), self.strata
        even = min(self._effective() - strata, effective_number(self.rows) - 1.0)
        square = np.square(self._within(self.off))
        total = float(square.sum())
        # No unit is off the mean, so there is no variance whose relative error could be had.
        if not total:
            return max(1, int(even))
        # The relative variance of a mean of squares is (kurtosis - 1) / count. Two units of
        # a stratum lie equally far off its mean, so that each stratum takes one away.
        kurtosis = count * float(np.square(square / total).sum())
        left = count if strata == 1 else count - strata
        steady = 2.0 * left / (kurtosis - 1.0) if kurtosis > 1.0 else even
        # Rounded first, so that 13.9999999 of 15 even sessions is 14 and not 13.
        return max(1, int(round(min(even, steady, count - strata), 6)))

    @property
    def strata(self) -> int:
        """How many strata there are."""
        return 1 if self.stratum is None else int(self.stratum.max(initial=0)) + 1

    def in_order(self) -> "Clusters":
        """Return them sorted by content, so that no name can change a draw."""
        order = np.lexsort((self.off, self.rows))
        stratum = None if self.stratum is None else self.stratum[order]
        return Clusters(self.rows[order], self.off[order], stratum)

    def levelled(self) -> "Clusters":
        """Return them as of one stratum, each as far off as it is in its own.

        What a resample of them is drawn from: their spread is that within strata.
        """
        if self.stratum is None:
            return self
        number = self._number
        off = self._within(self.off) * np.sqrt(number / (number - 1.0))
        return Clusters(self.rows, off)

    @property
    def _number(self) -> Floats:
        """How many units the stratum of each has."""
        if self.stratum is None:
            return np.full(len(self.rows), float(len(self.rows)))
        numbers: Floats = np.bincount(self.stratum).astype(np.float64)
        of_each: Floats = numbers[self.stratum]
        return of_each

    def _within(self, amounts: Floats) -> Floats:
        """Return amounts less the mean of their stratum."""
        if self.stratum is None:
            alone: Floats = amounts - amounts.mean()
            return alone
        totals = summed(self.stratum, amounts, self.strata)
        means: Floats = totals[self.stratum] / self._number
        return amounts - means

    def _effective(self) -> float:
        """Return the sum over strata of the effective number of their units."""
        if self.stratum is None:
            return effective_number(self.rows)
        totals = summed(self.stratum, self.rows, self.strata)
        squares = summed(self.stratum, np.square(self.rows), self.strata)
        return fsum((np.square(totals) / squares).tolist())


def stratified(rows: Floats, off: Floats, stratum: Ints | None = None) -> Clusters:
    """Return units of one or several strata; strata of a single unit become one.

    That one also holds how strata differ, so that the variance comes out too large rather
    than too small. If it were of a single unit again, it is joined to the smallest stratum.
    """
    if stratum is None:
        return Clusters(rows, off)
    number = np.bincount(stratum)
    joined = np.where(number[stratum] == 1, -1, stratum)
    if np.count_nonzero(joined < 0) == 1 and len(rows) > 1:
        # The smallest by size and then by content, since names must not decide.
        keys = zip(
            number.tolist(),
            summed(stratum, rows, len(number)).tolist(),
            summed(stratum, off, len(number)).tolist(),
            range(len(number)),
            strict=True,
        )
        joined[joined < 0] = min(each for each in keys if each[0] > 1)[-1]
    found = np.unique(joined, return_inverse=True)[1].astype(np.int64)
    return Clusters(rows, off, found if found.any() else None)
