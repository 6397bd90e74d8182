"""Priors: what heuristics of one origin turned out to be worth, where new ones may start.

By the method of moments: a Beta whose mean and spread are those of the rates at which the
heuristics of an origin succeeded, less the spread that chance alone would give them.
"""

from collections.abc import Iterable, Mapping

from schemas.state.evidence import Belief, Prior
from schemas.values.exact_math import clamp, round6, total
from schemas.values.reasons import Origin

START: Mapping[Origin, Prior] = {
    "skill_pack": Prior(kappa=4.0, mean=0.6),
    "learned": Prior(kappa=2.0, mean=0.5),
    "seeded": Prior(kappa=4.0, mean=0.75),
}
"""A judgement to start from where nothing is known: what a person teaches is trusted most."""

KAPPA = (2.0, 20.0)
"""No pooled prior weighs less, or more, than so many observations."""

LEAST = 3
"""Of fewer heuristics with evidence nothing can be said."""


def pooled(beliefs: Iterable[Belief]) -> Prior | None:
    """Return the prior that the evidence on heuristics of one origin speaks for, if it does."""
    ends = [counts for counts in map(_counts, beliefs) if total(counts) > 0.0]
    if len(ends) < LEAST:
        return None
    good = total(each[0] for each in ends)
    fires = total(total(each) for each in ends)
    mean = good / fires
    # Around the mean each rate spreads by chance, and by how unlike heuristics are.
    spread = total(total(each) * (each[0] / total(each) - mean) ** 2 for each in ends)
    by_chance = mean * (1.0 - mean) * (len(ends) - 1)
    size = fires - total(total(each) ** 2 for each in ends) / fires
    between = (spread - by_chance) / size if size > 0.0 else 0.0
    if between <= 0.0:
        return Prior(kappa=KAPPA[1], mean=round6(mean))
    kappa = mean * (1.0 - mean) / between - 1.0
    return Prior(kappa=round6(clamp(kappa, *KAPPA)), mean=round6(mean))


def _counts(belief: Belief) -> tuple[float, float]:
    """Return how many fires went well, and how many badly, as the weights of the signals
    count.
    """
    good = total(each.value for each in belief.signals)
    return good, len(belief.signals) - good
