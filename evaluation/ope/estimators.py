"""The estimators: what a strategy would have been worth, row by row and on the whole.

IPS and SNIPS weigh what happened, DM believes the reward model, DR corrects the model by
what happened. Their rule: they rest on the rows whose reward is known; whether that is
enough is for the gates to say.
"""

from dataclasses import dataclass
from math import fsum

import numpy as np

from evaluation.ope.columns import Columns, Flags, Floats, Odds, summed
from evaluation.ope.reward_model import CrossFitted


@dataclass(frozen=True, slots=True)
class Values:
    """One strategy, at the rows whose reward is known."""

    weight: Floats
    reward: Floats
    predicted: Floats
    """Of each row, what the reward model expects of the strategy."""

    psi: Floats
    """Of each row, the doubly robust value."""

    @property
    def ips(self) -> float:
        """The mean of weighted rewards."""
        return mean(self.weight * self.reward)

    @property
    def snips(self) -> float | None:
        """Weighted rewards over weights; None if all weights are zero."""
        total = fsum(self.weight.tolist())
        return fsum((self.weight * self.reward).tolist()) / total if total else None

    @property
    def dm(self) -> float:
        """The mean of what the reward model expects."""
        return mean(self.predicted)

    @property
    def dr(self) -> float:
        """The mean of the doubly robust values."""
        return mean(self.psi)

    def snips_influence(self) -> Floats:
        """Return how each row moves SNIPS; its clustered error is that of SNIPS."""
        centre = self.snips
        scale = mean(self.weight)
        if centre is None or scale == 0.0:
            return np.zeros(len(self.weight))
        return self.weight * (self.reward - centre) / scale


def values(columns: Columns, odds: Odds, model: CrossFitted) -> Values:
    """Evaluate one strategy."""
    weights = odds.taken / columns.propensity
    expected = summed(
        odds.row, odds.probability * model.entries(columns, odds), columns.rows
    )
    surprise = columns.reward - model.taken(columns)
    known = columns.known
    psi = doubly_robust(expected, weights, surprise)
    return Values(weights[known], columns.reward[known], expected[known], psi[known])


def doubly_robust(expected: Floats, weight: Floats, surprise: Floats) -> Floats:
    """Return what the model expects, corrected by the weighted surprise at what happened."""
    return expected + weight * surprise


def paired(target: Values, baseline: Values, differs: Flags) -> Floats:
    """Target less baseline at each row; exactly 0 where the two have the same odds."""
    return np.where(differs, target.psi - baseline.psi, 0.0)


def mean(numbers: Floats) -> float:
    """Return the mean, rounded once; 0 of none."""
    return fsum(numbers.tolist()) / len(numbers) + 0.0 if len(numbers) else 0.0


def effective_number(weights: Floats) -> float:
    """Return how many rows of equal weight say as much: (sum w)² / sum w²; 0 if there is
    none.
    """
    largest = float(weights.max(initial=0.0))
    if largest == 0.0:
        return 0.0
    scaled = weights / largest
    return float(scaled.sum()) ** 2 / float(np.square(scaled).sum())


def rarer_share(reward: Floats) -> float:
    """Return which share of the rewards is not the commonest one."""
    if not len(reward):
        return 0.0
    return 1.0 - int(np.unique(reward, return_counts=True)[1].max()) / len(reward)
