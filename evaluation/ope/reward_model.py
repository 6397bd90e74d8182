"""The reward model of the doubly robust estimate: mean reward by context and arm.

It is cross-fitted (Chernozhukov et al., 2018, "Double/debiased machine learning"): what is
predicted for a session was learnt from other sessions, else the estimate would be biased.
"""

from dataclasses import dataclass

import numpy as np

from evaluation.ope.columns import Columns, Flags, Floats, Ints, Odds, summed

_ROWS = 2.0
"""Pseudo-observations of the value a mean is shrunk toward; as many as Laplace's rule has."""

_UNTAUGHT = 0.5
"""The prediction for everything where not one reward is known: the middle of [0, 1]."""


@dataclass(frozen=True, slots=True)
class _RewardModel:
    """Expected rewards by context and arm, learnt from some of the rows."""

    arms: int
    cells: Ints
    """The pairs that were seen, encoded as context * arms + arm, ascending."""

    by_cell: Floats
    """The shrunk mean reward of each of them, in the same order."""

    by_arm: Floats
    """The shrunk mean reward of each arm over all contexts."""

    seen: Flags
    """Which arms were seen at all."""

    overall: float
    """The mean reward of all rows learnt from."""

    def predict(self, context: Ints, arm: Ints) -> Floats:
        """Return the expected reward of each pair; of its arm if the pair was never seen.

        An arm that was never seen gets what all arms have together.
        """
        rough = np.where(self.seen[arm], self.by_arm[arm], self.overall)
        if not len(self.cells):
            return rough
        wanted = context * self.arms + arm
        # A pair beyond the last one seen would index past the end; it compares unequal.
        place = np.minimum(np.searchsorted(self.cells, wanted), len(self.cells) - 1)
        return np.where(self.cells[place] == wanted, self.by_cell[place], rough)


def learnt(arms: int, context: Ints, arm: Ints, reward: Floats) -> _RewardModel:
    """Learn a reward model from rows with known rewards.

    The mean of a pair is shrunk toward that of its arm, and this toward that of all rows,
    not toward 1/2: where nearly everything fails, a pair seen twice is no coin flip.
    """
    overall = float(reward.mean()) if len(reward) else _UNTAUGHT
    cells, inverse = np.unique(context * arms + arm, return_inverse=True)
    by_arm, seen = _shrunk(arm, reward, np.full(arms, overall))
    by_cell, _ = _shrunk(inverse, reward, by_arm[cells % arms])
    return _RewardModel(arms, cells, by_cell, by_arm, seen, overall)


def _shrunk(index: Ints, reward: Floats, toward: Floats) -> tuple[Floats, Flags]:
    """Return each index's mean reward, (sum + k toward) / (n + k), and which were seen."""
    size = len(toward)
    rows = np.bincount(index, minlength=size)
    means = (summed(index, reward, size) + _ROWS * toward) / (_ROWS + rows)
    return means, rows > 0


@dataclass(frozen=True, slots=True)
class CrossFitted:
    """Two models, each learnt from the half of the sessions that it does not judge."""

    models: tuple[_RewardModel, _RewardModel]
    half: Ints
    """0 or 1 for each row: which of them judges it."""

    def taken(self, columns: Columns) -> Floats:
        """Return for each row the expected reward of the arm that was taken."""
        return self._predict(self.half, columns.context, columns.arm)

    def entries(self, columns: Columns, odds: Odds) -> Floats:
        """Return for each entry of the odds the expected reward of its arm."""
        row = odds.row
        return self._predict(self.half[row], columns.context[row], odds.arm)

    def _predict(self, half: Ints, context: Ints, arm: Ints) -> Floats:
        first, second = (model.predict(context, arm) for model in self.models)
        return np.where(half == 0, first, second)


def cross_fitted(columns: Columns, split: int = 0) -> CrossFitted:
    """Learn one model for each half of the sessions, from the known rewards of the other."""
    half = columns.halves[split][columns.session]
    first, second = (
        _learnt_from(columns, columns.known & (half != own)) for own in (0, 1)
    )
    return CrossFitted((first, second), half)


def _learnt_from(columns: Columns, rows: Flags) -> _RewardModel:
    return learnt(
        len(columns.arms),
        columns.context[rows],
        columns.arm[rows],
        columns.reward[rows],
    )
