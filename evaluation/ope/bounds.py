"""What holds of a strategy whatever the log does not show (Manski's bounds).

Every reward that was not seen may be anything in [0, 1]: of the arms not taken, and of
the arm taken where its outcome is not known. The rule: no probability is needed.
"""

import numpy as np

from evaluation.ope.columns import Columns, Odds
from evaluation.ope.estimators import mean
from evaluation.ope.flips import Contrast

Interval = tuple[float, float]


def value_bounds(columns: Columns, odds: Odds) -> Interval:
    """Return the least and the most that a strategy can have been worth, on these rows."""
    seen = np.where(columns.known, odds.taken, 0.0)
    low = mean(seen * columns.reward)
    if not columns.rows:
        return 0.0, 1.0
    return low, min(low + mean(1.0 - seen), 1.0)


def difference_bounds(columns: Columns, contrast: Contrast) -> Interval:
    """Return the least and the most that the target can have been better by."""
    taken = np.where(columns.known, contrast.taken, 0.0)
    seen = taken * columns.reward
    # What is left to the arms that were not seen; rounding must not turn its sign.
    loss = np.maximum(contrast.lost - np.maximum(-taken, 0.0), 0.0)
    gain = np.maximum(contrast.gained - np.maximum(taken, 0.0), 0.0)
    return mean(seen - loss), mean(seen + gain)
