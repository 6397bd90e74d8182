"""Priors: an empirical-Bayes prior pooled over the heuristics of one origin.

By the method of moments for beta-binomial data with unequal numbers of trials: the mean
of the Beta is the pooled rate of success, its variance that between the heuristics' own
rates, less what binomial sampling alone would give them.
"""

from collections.abc import Iterable

from schemas.state.evidence import Belief, Prior
from schemas.values.exact_math import clamp, round6, total

KAPPA = (2.0, 20.0)
"""Least and greatest weight of a pooled prior, in observations."""

LEAST = 3
"""The fewest heuristics with evidence from which a prior is pooled."""


def pooled(beliefs: Iterable[Belief]) -> Prior | None:
    """Return the prior pooled from the beliefs of one origin.

    None if fewer than `LEAST` of them have evidence.
    """
    ends = [counts for counts in map(_counts, beliefs) if total(counts) > 0.0]
    if len(ends) < LEAST:
        return None
    good = total(each[0] for each in ends)
    fires = total(total(each) for each in ends)
    mean = good / fires
    # The weighted sum of squares has the expectation (k - 1) m (1 - m) by sampling, plus
    # the variance between heuristics times `size`, as in an unbalanced one-way ANOVA.
    spread = total(total(each) * (each[0] / total(each) - mean) ** 2 for each in ends)
    by_chance = mean * (1.0 - mean) * (len(ends) - 1)
    size = fires - total(total(each) ** 2 for each in ends) / fires
    between = (spread - by_chance) / size if size > 0.0 else 0.0
    if between <= 0.0:
        # Rates no further apart than chance: all alike, so the prior is as firm as it gets.
        return Prior(kappa=KAPPA[1], mean=round6(mean))
    # The variance of a Beta is m (1 - m) / (kappa + 1).
    kappa = mean * (1.0 - mean) / between - 1.0
    return Prior(kappa=round6(clamp(kappa, *KAPPA)), mean=round6(mean))


def _counts(belief: Belief) -> tuple[float, float]:
    """Return a belief's successes and failures, each signal counting as one observation."""
    good = total(each.value for each in belief.signals)
    return good, len(belief.signals) - good
