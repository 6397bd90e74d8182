"""The reward model: how an arm tends to do in a context, learnt from the other sessions.

What is predicted for a session never saw that session, else the doubly robust
estimate would be biased.
"""

from dataclasses import dataclass

import numpy as np

from evaluation.ope.columns import Columns, Flags, Floats, Ints, Odds, summed

_ROWS = 2.0
"""So many rows' worth is what a mean shrinks to, as for heuristics."""

_UNTAUGHT = 0.5
"""Expected of everything where not one reward is known."""


@dataclass(frozen=True, slots=True)
class RewardModel:
    """Expected rewards by context and arm, learnt from some of the rows."""

    arms: int
    cells: Ints
    """The pairs context * arms + arm that were seen, ascending."""

    by_cell: Floats
    by_arm: Floats
    seen: Flags
    """Which arms were seen at all."""

    overall: float

    def predict(self, context: Ints, arm: Ints) -> Floats:
        """Return the expected reward of each pair; of its arm if the pair was never seen.

        An arm that was never seen gets what all arms have together.
        """
        rough = np.where(self.seen[arm], self.by_arm[arm], self.overall)
        if not len(self.cells):
            return rough
        wanted = context * self.arms + arm
        place = np.minimum(np.searchsorted(self.cells, wanted), len(self.cells) - 1)
        return np.where(self.cells[place] == wanted, self.by_cell[place], rough)


def learnt(arms: int, context: Ints, arm: Ints, reward: Floats) -> RewardModel:
    """Learn from rows.

    The mean of a pair shrinks to that of its arm, and this to that of all rows, as if two
    more rows had shown it: where nearly all fails, what was seen twice is no coin flip.
    """
    overall = float(reward.mean()) if len(reward) else _UNTAUGHT
    cells, inverse = np.unique(context * arms + arm, return_inverse=True)
    by_arm, seen = _shrunk(arm, reward, np.full(arms, overall))
    by_cell, _ = _shrunk(inverse, reward, by_arm[cells % arms])
    return RewardModel(arms, cells, by_cell, by_arm, seen, overall)


def _shrunk(index: Ints, reward: Floats, toward: Floats) -> tuple[Floats, Flags]:
    """Return the mean reward of each index, drawn toward what is given; which were seen."""
    size = len(toward)
    rows = np.bincount(index, minlength=size)
    means = (summed(index, reward, size) + _ROWS * toward) / (_ROWS + rows)
    return means, rows > 0


@dataclass(frozen=True, slots=True)
class CrossFitted:
    """Two models, each learnt from the half of the sessions that it does not judge."""

    models: tuple[RewardModel, RewardModel]
    half: Ints
    """0 or 1 for each row: which of them judges it."""

    def taken(self, columns: Columns) -> Floats:
        """At each row, the expected reward of the arm that was taken."""
        return self._predict(self.half, columns.context, columns.arm)

    def entries(self, columns: Columns, odds: Odds) -> Floats:
        """For each entry of the odds, the expected reward of its arm."""
        row = odds.row
        return self._predict(self.half[row], columns.context[row], odds.arm)

    def _predict(self, half: Ints, context: Ints, arm: Ints) -> Floats:
        first, second = (model.predict(context, arm) for model in self.models)
        return np.where(half == 0, first, second)


def cross_fitted(columns: Columns, split: int = 0) -> CrossFitted:
    """Learn one model for each half, from the known rewards of the other."""
    half = columns.halves[split][columns.session]
    first, second = (
        _learnt_from(columns, columns.known & (half != own)) for own in (0, 1)
    )
    return CrossFitted((first, second), half)


def _learnt_from(columns: Columns, rows: Flags) -> RewardModel:
    return learnt(
        len(columns.arms),
        columns.context[rows],
        columns.arm[rows],
        columns.reward[rows],
    )
