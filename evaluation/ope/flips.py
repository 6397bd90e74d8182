"""Where two strategies differ: all that a comparison of them can rest on.

Rows at which both have the same odds count for nothing, exactly; odds are the
same if they lie no farther apart than decimals that people write may fall short.
"""

from dataclasses import dataclass

import numpy as np

from evaluation.ope.columns import Columns, Flags, Floats, Ints, Odds, summed
from evaluation.ope.estimators import effective_number, mean, rarer_share
from evaluation.ope.rows import SUM_TOLERANCE


@dataclass(frozen=True, slots=True)
class Contrast:
    """Target's odds less baseline's, at each row."""

    taken: Floats
    """Of the arm that was taken."""

    gained: Floats
    """The sum over the arms that the target prefers; the distance of the two odds."""

    lost: Floats
    """The sum over the arms that the baseline prefers."""

    differs: Flags
    is_plain: bool
    """Whether both strategies put all their odds on one arm, wherever they differ."""

    @property
    def share(self) -> float:
        """The share of decisions that come out otherwise, between 0 and 1."""
        return mean(self.gained)


def contrasted(columns: Columns) -> Contrast:
    """Compare two strategies at every row."""
    target, baseline = columns.target, columns.baseline
    row, change = _changes(columns, target, baseline)
    gained = summed(row, np.maximum(change, 0.0), columns.rows)
    lost = summed(row, np.maximum(-change, 0.0), columns.rows)
    size = np.abs(change)
    plain = ((size == 0.0) | (np.abs(size - 1.0) <= SUM_TOLERANCE)).all()
    return Contrast(
        taken=_sizeable(target.taken - baseline.taken),
        gained=gained,
        lost=lost,
        differs=(gained > 0.0) | (lost > 0.0),
        is_plain=bool(plain),
    )


def _changes(columns: Columns, target: Odds, baseline: Odds) -> tuple[Ints, Floats]:
    """For each row and arm that either strategy has: target's less baseline's odds."""
    arms = max(len(columns.arms), 1)
    cell = np.concatenate(
        (target.row * arms + target.arm, baseline.row * arms + baseline.arm)
    )
    change = np.concatenate((target.probability, -baseline.probability))
    cells, inverse = np.unique(cell, return_inverse=True)
    return cells // arms, _sizeable(summed(inverse, change, len(cells)))


def _sizeable(change: Floats) -> Floats:
    """Changes of odds, without those that only rounding makes.

    Else rows that merely round otherwise would count as observations of a flip.
    """
    return np.where(np.abs(change) > SUM_TOLERANCE, change, 0.0)


@dataclass(frozen=True, slots=True)
class FlipObservations:
    """How often the log shows one side's arm where the two sides differ."""

    count: float
    sessions: int
    """Sessions with at least one."""

    rare: float
    """How many of their outcomes are expected to be other than the commonest one."""


def flip_observations(
    columns: Columns, contrast: Contrast, *, of_baseline: bool = False
) -> FlipObservations:
    """Count them among the rows whose reward is known.

    For strategies that put all their odds on one arm it is a plain count; else Kish's
    effective number of the weights by which the side's own odds exceed the other's.
    """
    taken = -contrast.taken if of_baseline else contrast.taken
    excess = np.where(columns.known, np.maximum(taken, 0.0), 0.0) / columns.propensity
    hits = excess > 0.0
    sessions = len(np.unique(columns.session[hits]))
    count = (
        int(np.count_nonzero(hits)) if contrast.is_plain else effective_number(excess)
    )
    either = columns.known & (contrast.taken != 0.0)
    rare = rarer_share(columns.reward[either]) * count
    # Of both sides together, so that a chance few of its own do not open the gate; twice
    # as many of its own are no chance.
    own = rarer_share(columns.reward[hits]) * count / 2.0
    return FlipObservations(count, sessions, max(rare, own))
