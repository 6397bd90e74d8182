"""Scoring and ranking candidates, by a product of factors.

score = similarity * confidence * recency * origin * habituation. Recency lifts what
succeeded lately, origin is where it came from, and habituation lowers what fired often
lately: with `after` fires in its window the next one is lowered by one step, with each
further fire by one more. Pure and exact: products and whole powers of rounded numbers.
"""

from collections.abc import Sequence
from datetime import datetime
from typing import Literal

from pydantic import Field

from schemas.messages.decisions import Factors
from schemas.ports.decision_context import HeuristicCandidate, Scored
from schemas.state import limits
from schemas.values.base import Part, Seconds
from schemas.values.exact_math import power, round6

Rank = Literal["similarity", "similarity_confidence", "full"]
"""By what the best candidate is found: similarity (near ties by confidence), similarity
times confidence, or the full score."""


class Weights(Part):
    """How much each factor counts; a factor of 1 is switched off."""

    recency: float = Field(default=1.2, ge=0.0, le=10.0, exclude_if=(1.2).__eq__)
    """What multiplies a candidate that succeeded within `recency_s`."""
    recency_s: Seconds = Field(default=3_600.0, exclude_if=(3_600.0).__eq__)
    """For how many seconds a success is fresh."""
    origin_skill_pack: float = Field(
        default=1.2, ge=0.0, le=10.0, exclude_if=(1.2).__eq__
    )
    """What multiplies a candidate that a pack brought."""
    origin_learned: float = Field(default=1.0, ge=0.0, le=10.0, exclude_if=(1.0).__eq__)
    """What multiplies one that was learnt from a model's answer."""
    origin_seeded: float = Field(default=0.8, ge=0.0, le=10.0, exclude_if=(0.8).__eq__)
    """What multiplies one that a person taught."""
    habituation: float = Field(default=0.8, ge=0.0, le=1.0, exclude_if=(0.8).__eq__)
    """What multiplies a candidate with each fire too many of late."""
    habituation_after: int = Field(
        default=3, ge=1, le=limits.RECENT_FIRES, exclude_if=(3).__eq__
    )
    """So many fires within `habituation_s` are not yet too many."""
    habituation_s: Seconds = Field(default=300.0, exclude_if=(300.0).__eq__)
    """For how many seconds a fire counts."""


def scored(
    candidates: Sequence[HeuristicCandidate],
    rank: Rank,
    weights: Weights,
    now: datetime | None,
) -> tuple[Scored, ...]:
    """Return each candidate's score; without `now` nothing counts as recent."""
    return tuple([_scored(each, rank, weights, now) for each in candidates])


def best_first(
    candidates: Sequence[HeuristicCandidate], scores: Sequence[Scored]
) -> tuple[HeuristicCandidate, ...]:
    """Return the eligible ones by score, then by confidence, then by the lowest id."""
    by_arm = {each.arm: each.score for each in scores}
    eligible = [each for each in candidates if each.eligible]
    eligible.sort(
        # The id last, so that equal scores come in one order everywhere.
        key=lambda each: (-by_arm[each.arm], -each.confidence, each.heuristic_id)
    )
    return tuple(eligible)


def factors(
    candidate: HeuristicCandidate, weights: Weights, now: datetime | None
) -> Factors:
    """Return the factors of the full score besides similarity and confidence."""
    return Factors(
        recency=_recency(candidate, weights, now),
        origin=_origin(candidate, weights),
        habituation=_habituation(candidate, weights, now),
    )


def _scored(
    candidate: HeuristicCandidate, rank: Rank, weights: Weights, now: datetime | None
) -> Scored:
    base = candidate.similarity * candidate.confidence
    if rank == "similarity_confidence":
        return Scored(candidate.arm, round6(base))
    held = factors(candidate, weights, now)
    score = base * held.recency * held.origin * held.habituation
    return Scored(candidate.arm, round6(score), held)


def _recency(
    candidate: HeuristicCandidate, weights: Weights, now: datetime | None
) -> float:
    recent = candidate.recent
    if now is None or recent is None:
        return 1.0
    is_fresh = recent.succeeded_within(weights.recency_s, now)
    return weights.recency if is_fresh else 1.0


def _origin(candidate: HeuristicCandidate, weights: Weights) -> float:
    by_origin = {
        "skill_pack": weights.origin_skill_pack,
        "learned": weights.origin_learned,
        "seeded": weights.origin_seeded,
    }
    return by_origin[candidate.origin]


def _habituation(
    candidate: HeuristicCandidate, weights: Weights, now: datetime | None
) -> float:
    recent = candidate.recent
    if now is None or recent is None:
        return 1.0
    # The answer that is weighed would be one fire more.
    count = recent.fires_within(weights.habituation_s, now) + 1
    too_many = max(0, count - weights.habituation_after)
    return round6(power(weights.habituation, too_many))


_NEAR_TIE = 0.03
"""Cosine similarities this close to the highest count as equal to it."""


def ranked(candidates: Sequence[HeuristicCandidate]) -> tuple[HeuristicCandidate, ...]:
    """Return the eligible candidates, best first.

    Among those within 0.03 of the highest similarity the most confident comes first, then
    the lowest id; the rest keep the order of similarity.
    """
    eligible = [candidate for candidate in candidates if candidate.eligible]
    if not eligible:
        return ()
    eligible.sort(key=lambda each: (-each.similarity, each.heuristic_id))
    # Rounded, or 0.9 - 0.03 would leave out a candidate at exactly 0.87.
    floor = round6(eligible[0].similarity - _NEAR_TIE)
    near = [each for each in eligible if each.similarity >= floor]
    best = min(near, key=lambda each: (-each.confidence, each.heuristic_id))
    return (best, *(each for each in eligible if each is not best))
