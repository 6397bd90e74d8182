"""Bound a strategy's value without assuming anything about what the log does not show.

Worst-case bounds (Manski, 1990, "Nonparametric bounds on treatment effects"): every reward
that was not observed may be anything in [0, 1], for arms not taken and for unknown
outcomes alike. They need no propensity, so they hold where every gate has refused.
"""

import numpy as np

from evaluation.ope.columns import Columns, Odds
from evaluation.ope.estimators import mean
from evaluation.ope.flips import Contrast

Interval = tuple[float, float]


def value_bounds(columns: Columns, odds: Odds) -> Interval:
    """Return the lowest and highest value a strategy can have on these rows, in [0, 1].

    Low is mean(pi Y) over what was observed; high adds 1 for all odds that were not.
    """
    seen = np.where(columns.known, odds.taken, 0.0)
    low = mean(seen * columns.reward)
    if not columns.rows:
        return 0.0, 1.0
    # The two means are rounded apart, so their sum may come out just above 1.
    return low, min(low + mean(1.0 - seen), 1.0)


def difference_bounds(columns: Columns, contrast: Contrast) -> Interval:
    """Return the lowest and highest target value less baseline value, in [-1, 1].

    Tighter than the two `value_bounds` subtracted: where both have the same odds on an
    arm, its unknown reward cancels.
    """
    # Where the outcome is unknown, the arm that was taken counts as not observed.
    taken = np.where(columns.known, contrast.taken, 0.0)
    seen = taken * columns.reward
    # The change of odds left to arms that were not observed. It is at least 0 but for
    # rounding, and rounding must not turn a bound inside out.
    loss = np.maximum(contrast.lost - np.maximum(-taken, 0.0), 0.0)
    gain = np.maximum(contrast.gained - np.maximum(taken, 0.0), 0.0)
    return mean(seen - loss), mean(seen + gain)
