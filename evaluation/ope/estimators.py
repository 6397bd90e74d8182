"""Off-policy estimators of a strategy's value, row by row and as means.

With w = pi(a|x) / mu(a|x), the target's odds over the logged propensity, and q the reward
model: IPS is mean(w Y), SNIPS is sum(w Y) / sum(w), DM is mean(sum_a pi q), and DR is
mean(sum_a pi q + w (Y - q)). They use rows whose reward is known; the gates decide whether
these are enough. All values are in units of the outcome, which lies in [0, 1].
"""

from dataclasses import dataclass
from math import fsum

import numpy as np

from evaluation.ope.columns import Columns, Flags, Floats, Odds, summed
from evaluation.ope.importance_weights import importance_weights
from evaluation.ope.reward_model import CrossFitted


@dataclass(frozen=True, slots=True)
class Values:
    """One strategy at the rows whose reward is known; all arrays have one entry a row."""

    weight: Floats
    """The importance weight of the arm that was taken, pi / mu."""

    reward: Floats
    predicted: Floats
    """The reward model's expectation under the strategy, sum_a pi(a|x) q(x, a)."""

    psi: Floats
    """The doubly robust value of the row."""

    @property
    def ips(self) -> float:
        """Inverse propensity score, mean(w Y) (Horvitz and Thompson, 1952).

        Unbiased under right propensities, but noisy, and not bounded by 1.
        """
        return mean(self.weight * self.reward)

    @property
    def snips(self) -> float | None:
        """Self-normalised IPS, sum(w Y) / sum(w) (Swaminathan and Joachims, 2015).

        It stays in [0, 1] at the price of a small bias; None if all weights are zero.
        """
        total = fsum(self.weight.tolist())
        return fsum((self.weight * self.reward).tolist()) / total if total else None

    @property
    def dm(self) -> float:
        """Direct method: the mean of what the reward model expects; biased as the model is."""
        return mean(self.predicted)

    @property
    def dr(self) -> float:
        """Doubly robust value (Dudík, Langford and Li, 2011).

        Unbiased if either the propensities or the reward model are right.
        """
        return mean(self.psi)

    def snips_influence(self) -> Floats:
        """Return each row's influence on SNIPS, w (Y - SNIPS) / mean(w).

        This is the linearisation of a ratio (delta method): the clustered error of its mean
        is that of SNIPS. All zeros where SNIPS does not exist.
        """
        centre = self.snips
        scale = mean(self.weight)
        if centre is None or scale == 0.0:
            return np.zeros(len(self.weight))
        return self.weight * (self.reward - centre) / scale


def values(columns: Columns, odds: Odds, model: CrossFitted) -> Values:
    """Return one strategy's weights, rewards and values at the rows with known reward."""
    weights = importance_weights(columns, odds)
    expected = summed(
        odds.row, odds.probability * model.entries(columns, odds), columns.rows
    )
    surprise = columns.reward - model.taken(columns)
    known = columns.known
    # Rows of unknown reward hold 0 as a stand-in; they are dropped below, so what
    # they give here never counts.
    psi = doubly_robust(expected, weights, surprise)
    return Values(weights[known], columns.reward[known], expected[known], psi[known])


def doubly_robust(expected: Floats, weight: Floats, surprise: Floats) -> Floats:
    """Return psi = sum_a pi q + w (Y - q), the model corrected by its weighted residual."""
    return expected + weight * surprise


def paired(target: Values, baseline: Values, differs: Flags) -> Floats:
    """Return target less baseline at each row, exactly 0 where both have the same odds.

    Pairing on the same rows cancels the noise of everything the two decide alike.
    """
    # Where the odds agree, the subtraction would leave rounding; that must be no flip.
    return np.where(differs, target.psi - baseline.psi, 0.0)


def mean(numbers: Floats) -> float:
    """Return the mean, or 0 of no numbers.

    `fsum` is exact before its one rounding, so the result does not depend on the order.
    """
    # Adding 0.0 turns a minus zero into zero, which would print with its sign.
    return fsum(numbers.tolist()) / len(numbers) + 0.0 if len(numbers) else 0.0


def effective_number(weights: Floats) -> float:
    """Return the effective sample size (sum w)² / sum w² (Kish, 1965); 0 without weights.

    It is the number of equally weighted rows whose mean is as precise.
    """
    largest = float(weights.max(initial=0.0))
    if largest == 0.0:
        return 0.0
    # The ratio has no scale; dividing first keeps the squares of huge weights finite.
    scaled = weights / largest
    return float(scaled.sum()) ** 2 / float(np.square(scaled).sum())


def rarer_share(reward: Floats) -> float:
    """Return the share of rewards other than the commonest value, in [0, 1)."""
    if not len(reward):
        return 0.0
    # The commonest, and not the rarer of 0 and 1: a silence that counts 0.5 is an
    # outcome of its own (ADR 0024).
    return 1.0 - int(np.unique(reward, return_counts=True)[1].max()) / len(reward)
