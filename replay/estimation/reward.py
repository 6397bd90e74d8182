"""The reward model: how an arm tends to do in a context, learnt from the other sessions.

Its rule: what is predicted for a session never saw that session, else the doubly robust
estimate would be biased.
"""

from dataclasses import dataclass

import numpy as np

from replay.estimation.columns import Columns, Flags, Floats, Ints, Odds, summed


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
        """The expected reward of each pair; of its arm if the pair was never seen.

        An arm that was never seen gets what all arms have together.
        """
        rough = np.where(self.seen[arm], self.by_arm[arm], self.overall)
        if not len(self.cells):
            return rough
        wanted = context * self.arms + arm
        place = np.minimum(np.searchsorted(self.cells, wanted), len(self.cells) - 1)
        return np.where(self.cells[place] == wanted, self.by_cell[place], rough)


def learnt(arms: int, context: Ints, arm: Ints, reward: Floats) -> RewardModel:
    """Learn from rows: (1 + successes) / (2 + rows), as for heuristics."""
    cells, inverse = np.unique(context * arms + arm, return_inverse=True)
    successes = summed(inverse, reward, len(cells))
    rows = np.bincount(inverse, minlength=len(cells))
    arm_successes = summed(arm, reward, arms)
    arm_rows = np.bincount(arm, minlength=arms)
    return RewardModel(
        arms=arms,
        cells=cells,
        by_cell=(1.0 + successes) / (2.0 + rows),
        by_arm=(1.0 + arm_successes) / (2.0 + arm_rows),
        seen=arm_rows > 0,
        overall=(1.0 + float(reward.sum())) / (2.0 + len(reward)),
    )


@dataclass(frozen=True, slots=True)
class CrossFitted:
    """Two models, each learnt from the half of the sessions that it does not judge."""

    models: tuple[RewardModel, RewardModel]

    def taken(self, columns: Columns) -> Floats:
        """At each row, the expected reward of the arm that was taken."""
        return self._predict(columns.half, columns.context, columns.arm)

    def entries(self, columns: Columns, odds: Odds) -> Floats:
        """For each entry of the odds, the expected reward of its arm."""
        row = odds.row
        return self._predict(columns.half[row], columns.context[row], odds.arm)

    def _predict(self, half: Ints, context: Ints, arm: Ints) -> Floats:
        first, second = (model.predict(context, arm) for model in self.models)
        return np.where(half == 0, first, second)


def cross_fitted(columns: Columns) -> CrossFitted:
    """Learn one model for each half, from the known rewards of the other."""
    first, second = (
        _learnt_from(columns, columns.known & (columns.half != half)) for half in (0, 1)
    )
    return CrossFitted((first, second))


def _learnt_from(columns: Columns, rows: Flags) -> RewardModel:
    return learnt(
        len(columns.arms),
        columns.context[rows],
        columns.arm[rows],
        columns.reward[rows],
    )
