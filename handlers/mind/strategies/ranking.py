"""In which order candidates are tried: by similarity, near ties by confidence."""

from collections.abc import Sequence

from schemas.ports.decision_context import HeuristicCandidate
from schemas.values.exact_math import round6

NEAR_TIE = 0.03
"""Similarities so close to the highest count as equal to it."""


def ranked(
    candidates: Sequence[HeuristicCandidate],
) -> tuple[HeuristicCandidate, ...]:
    """The eligible candidates, best first.

    Among those within 0.03 of the highest similarity the most confident comes first, then
    the lowest id; the rest keep the order of similarity.
    """
    eligible = [candidate for candidate in candidates if candidate.eligible]
    if not eligible:
        return ()
    eligible.sort(key=lambda each: (-each.similarity, each.heuristic_id))
    floor = round6(eligible[0].similarity - NEAR_TIE)
    near = [each for each in eligible if each.similarity >= floor]
    best = min(near, key=lambda each: (-each.confidence, each.heuristic_id))
    return (best, *(each for each in eligible if each is not best))
