"""Find where two strategies differ: all that a comparison of them can rest on.

A flip is a row at which their odds differ, by more than `SUM_TOLERANCE`, the rounding of
decimals that people write. Rows with the same odds contribute exactly 0.
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
    """The sum over arms the target prefers: the total variation distance, in [0, 1]."""

    lost: Floats
    """The sum over the arms that the baseline prefers."""

    differs: Flags
    is_plain: bool
    """Whether both strategies put all their odds on one arm, wherever they differ."""

    @property
    def share(self) -> float:
        """The expected share of decisions that come out differently, in [0, 1]."""
        return mean(self.gained)


def contrasted(columns: Columns) -> Contrast:
    """Return the difference of the two strategies' odds at every row."""
    target, baseline = columns.target, columns.baseline
    row, change = _changes(columns, target, baseline)
    gained = summed(row, np.maximum(change, 0.0), columns.rows)
    lost = summed(row, np.maximum(-change, 0.0), columns.rows)
    size = np.abs(change)
    # A change of a whole 1: one side is certain of the arm, and the other never takes it.
    plain = ((size == 0.0) | (np.abs(size - 1.0) <= SUM_TOLERANCE)).all()
    return Contrast(
        taken=_sizeable(target.taken - baseline.taken),
        gained=gained,
        lost=lost,
        differs=(gained > 0.0) | (lost > 0.0),
        is_plain=bool(plain),
    )


def _changes(columns: Columns, target: Odds, baseline: Odds) -> tuple[Ints, Floats]:
    """Return rows, and target's less baseline's odds for each arm either strategy has."""
    arms = max(len(columns.arms), 1)
    # One integer for each pair of row and arm, so that one `unique` matches
    # the entries of both strategies.
    cell = np.concatenate(
        (target.row * arms + target.arm, baseline.row * arms + baseline.arm)
    )
    change = np.concatenate((target.probability, -baseline.probability))
    cells, inverse = np.unique(cell, return_inverse=True)
    return cells // arms, _sizeable(summed(inverse, change, len(cells)))


def _sizeable(change: Floats) -> Floats:
    """Return changes of odds, with those that rounding alone makes set to 0.

    Otherwise rows that merely round differently would count as observations of a flip.
    """
    return np.where(np.abs(change) > SUM_TOLERANCE, change, 0.0)


@dataclass(frozen=True, slots=True)
class FlipObservations:
    """How often the log shows one side's own arm where the two sides differ."""

    count: float
    """Rows, or an effective number of them for strategies that draw among arms."""
    sessions: int
    """Sessions with at least one."""

    rare: float
    """How many of their outcomes are expected to be other than the commonest one."""

    people: int | None = None
    """People with at least one; None if the log names nobody."""


def flip_observations(
    columns: Columns, contrast: Contrast, *, of_baseline: bool = False
) -> FlipObservations:
    """Count one side's flip observations among the rows whose reward is known.

    For strategies that put all their odds on one arm it is a plain count; otherwise Kish's
    effective number of the weights max(0, own odds - other's odds) / propensity.
    """
    taken = -contrast.taken if of_baseline else contrast.taken
    excess = np.where(columns.known, np.maximum(taken, 0.0), 0.0) / columns.propensity
    hits = excess > 0.0
    session = np.unique(columns.session[hits])
    people = columns.people
    count = (
        int(np.count_nonzero(hits)) if contrast.is_plain else effective_number(excess)
    )
    either = columns.known & (contrast.taken != 0.0)
    rare = rarer_share(columns.reward[either]) * count
    # The rate is that of both sides together, so that a chance success of its own does not
    # open the gate; its own rate counts at half, so twice as many are needed of it alone.
    own = rarer_share(columns.reward[hits]) * count / 2.0
    return FlipObservations(
        count,
        len(session),
        max(rare, own),
        None if people is None else len(np.unique(people.household[session])),
    )
