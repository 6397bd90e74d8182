"""Matching: which heuristics know a situation like this one?

Those of the event's domain whose condition's text is near the event's, nearest first. One
whose `when` does not hold, or that is frozen, is named with the reason and not eligible.
"""

from collections.abc import Callable
from dataclasses import dataclass
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
    judge = _Judge(state, event, belief_of, learning)
    found = [
        *_of_pack(domain.pack, judge, vector, at_least),
        *_of_shelf(state.shelves.get(domain.name), judge, vector, at_least),
    ]
    # Near misses are worth naming, but never in the place of what is eligible.
    found.sort(key=lambda each: (not each.eligible, *_nearness(each)))
    return tuple(sorted(found[:MATCH_LIMIT], key=_nearness))


def _nearness(candidate: HeuristicCandidate) -> tuple[float, str]:
    return -candidate.similarity, candidate.heuristic_id


@dataclass(frozen=True, slots=True)
class _Judge:
    """Whether a heuristic that is near may answer the event, and what it is trusted with."""

    state: AgentState
    event: Sensed
    belief_of: BeliefOf
    learning: LearningSettings

    def of(
        self, heuristic_id: str, content_hash: str, when: When | None
    ) -> tuple[float, str | None]:
        """The confidence it has earned, and the reason if it is not eligible."""
        belief = self.belief_of(heuristic_id, content_hash)
        reason = _failure(when, self.event)
        if reason is None:
            by_hand = heuristic_id in self.state.frozen
            life = beliefs.lifecycle(belief, by_hand, self.learning)
            reason = "frozen" if life == "frozen" else None
        return belief.confidence, reason


def _of_pack(
    pack: CompiledPack | None, judge: _Judge, vector: Vector, at_least: float
) -> list[HeuristicCandidate]:
    if pack is None:
        return []
    return [
        _from_pack(pack, row, similarity, judge)
        for row, similarity in vectors.top(
            pack.conditions, vector, SCAN_LIMIT, at_least
        )
    ]


def _from_pack(
    pack: CompiledPack, row: int, similarity: float, judge: _Judge
) -> HeuristicCandidate:
    heuristic_id, content_hash = pack.ids[row], pack.content_hashes[row]
    heuristic = pack.pack.heuristics[row]
    confidence, reason = judge.of(heuristic_id, content_hash, pack.whens[row])
    return HeuristicCandidate(
        heuristic_id=heuristic_id,
        content_hash=content_hash,
        condition_text=heuristic.condition,
        suggested_action=heuristic.action.text,
        confidence=confidence,
        similarity=similarity,
        eligible=reason is None,
        reason=reason,
        response_type=heuristic.action.type,
        action=heuristic.action.action,
        urgency=heuristic.urgency,
    )


def _of_shelf(
    shelf: Shelf | None, judge: _Judge, vector: Vector, at_least: float
) -> list[HeuristicCandidate]:
    if shelf is None:
        return []
    taught, matrix = _stacked(shelf)
    return [
        _from_taught(taught[row], similarity, judge)
        for row, similarity in vectors.top(matrix, vector, SCAN_LIMIT, at_least)
    ]


@lru_cache(maxsize=256)
def _stacked(shelf: Shelf) -> tuple[tuple[Taught, ...], Matrix]:
    taught = tuple(shelf.heuristics[id_] for id_ in sorted(shelf.heuristics))
    return taught, vectors.stack([each.vector for each in taught])


def _from_taught(
    heuristic: Taught, similarity: float, judge: _Judge
) -> HeuristicCandidate:
    confidence, reason = judge.of(
        heuristic.id, heuristic.content_hash, _parsed(heuristic.when)
    )
    return HeuristicCandidate(
        heuristic_id=heuristic.id,
        content_hash=heuristic.content_hash,
        condition_text=heuristic.condition,
        suggested_action=heuristic.text,
        confidence=confidence,
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
    if when is None:
        return None
    because = conditions.explain_failure(when, event.type, event.source, event.fields)
    return f"when: {because}" if because else None
