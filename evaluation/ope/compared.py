"""Evaluate two strategies on the same rows; gates and results are made from this.

Whether a point estimate exists at all (is identified) is decided here and nowhere else.
"""

from dataclasses import dataclass, replace

import numpy as np

from evaluation.ope.columns import CERTAIN, SPLITS, Columns, Floats, Odds
from evaluation.ope.estimators import Values, mean, paired, values
from evaluation.ope.flips import (
    Contrast,
    FlipObservations,
    contrasted,
    flip_observations,
)
from evaluation.ope.reward_model import cross_fitted
from evaluation.ope.weight_diagnostics import Weights, unsupported, weights


@dataclass(frozen=True, slots=True)
class Side:
    """One strategy with its values and diagnostics."""

    odds: Odds
    values: Values
    weights: Weights
    flips: FlipObservations
    """Its own arm where the two differ."""

    is_identified: bool
    """Whether the log shows enough of it for a point estimate."""


@dataclass(frozen=True, slots=True)
class Compared:
    """Target and baseline on the same rows."""

    columns: Columns
    contrast: Contrast
    target: Side
    baseline: Side

    @property
    def has_flips(self) -> bool:
        """Whether they differ anywhere."""
        return bool(self.contrast.differs.any())

    @property
    def is_explored(self) -> bool:
        """Whether any arm was drawn with a probability below 1."""
        return bool((self.columns.propensity < CERTAIN).any())

    @property
    def is_identified(self) -> bool:
        """Whether the difference may have a point estimate; no difference always may."""
        both = self.target.is_identified and self.baseline.is_identified
        return both or (bool(self.columns.rows) and not self.has_flips)

    @property
    def base_rate(self) -> float:
        """The baseline's value, or the mean of all known rewards where that has none."""
        if not self.baseline.is_identified:
            return mean(self.columns.reward[self.columns.known])
        return self.baseline.values.dr

    @property
    def guessed_mass(self) -> float:
        """The most that unsupported arms can move the difference, in outcome units.

        There the reward model alone speaks. Where the two have the same odds, its error is
        the same on both sides and cancels.
        """
        columns = self.columns
        missing = unsupported(columns, columns.target)
        missing = missing + unsupported(columns, columns.baseline)
        return mean(np.where(self.contrast.differs, missing, 0.0))

    @property
    def paired(self) -> Floats:
        """The doubly robust difference at each row whose reward is known."""
        differs = self.contrast.differs[self.columns.known]
        return paired(self.target.values, self.baseline.values, differs)

    @property
    def paired_snips(self) -> Floats:
        """The influence of each of these rows on the difference of SNIPS."""
        target, baseline = self.target.values, self.baseline.values
        return target.snips_influence() - baseline.snips_influence()

    @property
    def ips(self) -> float:
        """The difference of IPS."""
        return self.target.values.ips - self.baseline.values.ips

    @property
    def snips(self) -> float | None:
        """The difference of SNIPS; None if either has none."""
        target, baseline = self.target.values.snips, self.baseline.values.snips
        if target is None or baseline is None:
            return None
        return target - baseline

    @property
    def dr(self) -> float:
        """The mean of the paired differences."""
        return mean(self.paired)


def compare(columns: Columns, unsupported_max: float) -> Compared:
    """Evaluate both strategies.

    `unsupported_max` is the largest unsupported mass with which a value is identified. Of
    the splits of sessions for the reward model, the one with the median difference counts
    (Chernozhukov et al., 2018): an estimate must not depend on a single split.
    """
    contrast = contrasted(columns)
    target, baseline = _by_median(columns, contrast)
    return Compared(
        columns,
        contrast,
        _side(columns, columns.target, target, contrast, unsupported_max),
        _side(columns, columns.baseline, baseline, contrast, unsupported_max),
    )


def _by_median(columns: Columns, contrast: Contrast) -> tuple[Values, Values]:
    """Return the values of target and baseline under the median split."""
    differs = contrast.differs[columns.known]
    fits = (cross_fitted(columns, split) for split in range(SPLITS))
    found = [
        (values(columns, columns.target, fit), values(columns, columns.baseline, fit))
        for fit in fits
    ]
    # Ranked by the difference and kept in pairs: both sides have to share one split,
    # or its noise would not cancel.
    found.sort(key=lambda each: mean(paired(each[0], each[1], differs)))
    return found[SPLITS // 2]


def filled(columns: Columns, contrast: Contrast, *, of_target: float) -> Columns:
    """Return the same rows with every unknown reward filled in at its extreme.

    It is `of_target` (0 or 1) where the target's arm was played and the opposite elsewhere:
    no other unknown rewards move the difference farther.
    """
    supposed = np.where(contrast.taken > 0.0, of_target, 1.0 - of_target)
    return replace(
        columns,
        reward=np.where(columns.known, columns.reward, supposed),
        known=np.ones(columns.rows, np.bool_),
    )


def _side(
    columns: Columns,
    odds: Odds,
    found: Values,
    contrast: Contrast,
    unsupported_max: float,
) -> Side:
    diagnosed = weights(columns, odds)
    flips = flip_observations(columns, contrast, of_baseline=odds is columns.baseline)
    # Without any exploration, what was not played stays unknown however many rows there are.
    is_explored = bool((columns.propensity < CERTAIN).any())
    lacks = diagnosed.unsupported_mass > (unsupported_max if is_explored else 0.0)
    # A side whose own arm was never played has nothing but the reward model's
    # guess, however small the mass.
    unseen = flips.count == 0 and bool(contrast.differs.any())
    identified = bool(columns.known.any()) and not lacks and not unseen
    return Side(odds, found, diagnosed, flips, identified)
