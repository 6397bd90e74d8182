"""Matching: which heuristics know a situation like this one?

Those of the event's domain whose condition's text is near the event's, nearest first. One
whose `when` does not hold, or that is frozen, is named with the reason and not eligible.
"""

from collections.abc import Callable
from dataclasses import replace
from functools import lru_cache

from projections.folds import beliefs
from projections.folds.domains import Domain
from schemas import conditions, vectors
from schemas.conditions import When
from schemas.context import HeuristicCandidate
from schemas.packs import CompiledPack
from schemas.sensing import Sensed
from schemas.settings import LearningSettings
from schemas.state import AgentState, Belief, Shelf, Taught
from schemas.vectors import Matrix, Vector

MATCH_LIMIT = 10
"""How many heuristics are weighed."""

SCAN_LIMIT = 64
"""How many of the nearest conditions have their `when` tested."""

BeliefOf = Callable[[str, str], Belief]
"""What is believed of a heuristic id and content hash."""


def candidates(
    state: AgentState,
    domain: Domain,
    event: Sensed,
    vector: Vector | None,
    belief_of: BeliefOf,
    learning: LearningSettings,
    at_least: float,
) -> tuple[HeuristicCandidate, ...]:
    """Up to ten candidates, the most similar first, then by id."""
    if vector is None:
        return ()
    found = [
        *_of_pack(domain.pack, event, vector, at_least),
        *_of_shelf(state.shelves.get(domain.name), event, vector, at_least),
    ]
    # Near misses are worth naming, but never in the place of what is eligible.
    found.sort(key=lambda each: (not each.eligible, *_nearness(each)))
    weighed = sorted(found[:MATCH_LIMIT], key=_nearness)
    return tuple(_believed(state, each, belief_of, learning) for each in weighed)


def _nearness(candidate: HeuristicCandidate) -> tuple[float, str]:
    return -candidate.similarity, candidate.heuristic_id


def _of_pack(
    pack: CompiledPack | None, event: Sensed, vector: Vector, at_least: float
) -> list[HeuristicCandidate]:
    if pack is None:
        return []
    return [
        _from_pack(pack, row, similarity, event)
        for row, similarity in vectors.top(pack.conditions, vector, SCAN_LIMIT, at_least)
    ]


def _from_pack(
    pack: CompiledPack, row: int, similarity: float, event: Sensed
) -> HeuristicCandidate:
    heuristic = pack.pack.heuristics[row]
    reason = _failure(pack.whens[row], event)
    return HeuristicCandidate(
        heuristic_id=pack.ids[row],
        content_hash=pack.content_hashes[row],
        condition_text=heuristic.condition,
        suggested_action=heuristic.action.text,
        confidence=heuristic.confidence,
        similarity=similarity,
        eligible=reason is None,
        reason=reason,
        response_type=heuristic.action.type,
        action=heuristic.action.action,
        urgency=heuristic.urgency,
    )


def _of_shelf(
    shelf: Shelf | None, event: Sensed, vector: Vector, at_least: float
) -> list[HeuristicCandidate]:
    if shelf is None:
        return []
    taught, matrix = _stacked(shelf)
    return [
        _from_taught(taught[row], similarity, event)
        for row, similarity in vectors.top(matrix, vector, SCAN_LIMIT, at_least)
    ]


@lru_cache(maxsize=256)
def _stacked(shelf: Shelf) -> tuple[tuple[Taught, ...], Matrix]:
    taught = tuple(shelf.heuristics[id_] for id_ in sorted(shelf.heuristics))
    return taught, vectors.stack([each.vector for each in taught])


def _from_taught(
    heuristic: Taught, similarity: float, event: Sensed
) -> HeuristicCandidate:
    reason = _failure(_parsed(heuristic.when), event)
    return HeuristicCandidate(
        heuristic_id=heuristic.id,
        content_hash=heuristic.content_hash,
        condition_text=heuristic.condition,
        suggested_action=heuristic.text,
        confidence=heuristic.declared,
        similarity=similarity,
        eligible=reason is None,
        reason=reason,
        response_type=heuristic.response_type,
        action=heuristic.action,
        urgency=heuristic.urgency,
    )


@lru_cache(maxsize=4096)
def _parsed(when: str | None) -> When | None:
    return conditions.parse(when) if when else None


def _failure(when: When | None, event: Sensed) -> str | None:
    if when is None or conditions.holds(when, event.type, event.source, event.fields):
        return None
    because = conditions.explain_failure(when, event.type, event.source, event.fields)
    return f"when: {because}"


def _believed(
    state: AgentState,
    candidate: HeuristicCandidate,
    belief_of: BeliefOf,
    learning: LearningSettings,
) -> HeuristicCandidate:
    """The candidate with the confidence it has earned, ineligible if it is frozen."""
    belief = belief_of(candidate.heuristic_id, candidate.content_hash)
    by_hand = candidate.heuristic_id in state.frozen
    life = beliefs.lifecycle(belief, by_hand, learning)
    candidate = replace(candidate, confidence=belief.confidence)
    if life == "frozen" and candidate.eligible:
        return replace(candidate, eligible=False, reason="frozen")
    return candidate
