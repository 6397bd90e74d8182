"""Matching: which heuristics know a situation like this one?

Those of the event's domain whose condition's text is near the event's, nearest first. One
whose `when` does not hold, or that is frozen, is named with the reason and not eligible.
"""

from collections.abc import Callable
from functools import lru_cache

from msgspec import Struct
from msgspec.structs import replace

from projections.folds.events import Domain
from projections.folds.learning import beliefs, vote_targets
from schemas.messages.sensing import Sensed
from schemas.packs import conditions
from schemas.packs.compiled import CompiledPack
from schemas.packs.conditions import ParsedWhen
from schemas.ports.decision_context import HeuristicCandidate
from schemas.state.agent import AgentState
from schemas.state.evidence import Belief
from schemas.state.taught import Shelf, Taught
from schemas.values import vectors
from schemas.values.exact_math import round6
from schemas.values.learning_settings import LearningSettings
from schemas.values.vectors import Matrix, Vector, VectorBatch

MATCH_LIMIT = 10
"""How many heuristics become candidates of a decision."""

_SCAN_LIMIT = 64
"""How many of the nearest conditions have their `when` tested: a bound on the work of one
event in a repertoire of any size."""

_BeliefOf = Callable[[str, str], Belief]
"""Returns the belief about a heuristic id and content hash."""


def candidates(
    state: AgentState,
    domain: Domain,
    event: Sensed,
    vector: Vector | None,
    belief_of: _BeliefOf,
    learning: LearningSettings,
    at_least: float,
    batch: VectorBatch | None = None,
) -> tuple[HeuristicCandidate, ...]:
    """Return up to `MATCH_LIMIT` candidates, the most similar first, then by id.

    `at_least` is the least cosine similarity. `batch` may hold the vectors of
    other inputs: products with a pack are computed for all of them at once.
    """
    if vector is None:
        return ()
    judge = _Judge(state, event, belief_of, learning, at_least)
    near = [
        *_of_pack(domain.pack, vector, at_least, batch),
        *_of_shelf(state.shelves.get(domain.name), vector, at_least),
    ]
    if state.fits:
        # After the scan, which compares texts alone: a fit may put one below the limit.
        near = [_fitted(state, each) for each in near]
    near.sort(key=_nearness)
    if len(near) > MATCH_LIMIT:
        # Near misses are worth naming, but never in the place of what is eligible.
        near.sort(key=lambda each: not judge.may_answer(each))
        # The sort before is stable, so within both halves the nearest come first.
        near = sorted(near[:MATCH_LIMIT], key=_nearness)
    return tuple([_candidate(each, judge) for each in near])


class _Near(Struct, frozen=True):
    """A heuristic whose condition is near the event."""

    heuristic: Taught
    similarity: float
    """Cosine similarity of event and condition, times `fit`."""
    when: ParsedWhen | None
    fit: float = 1.0
    """How much of the similarity counts, by people's votes on the condition; 1 is all."""


def _nearness(near: _Near) -> tuple[float, str]:
    return -near.similarity, near.heuristic.heuristic_id


class _Judge(Struct, frozen=True):
    """Judges whether a near heuristic may answer the event, and by which belief."""

    state: AgentState
    event: Sensed
    belief_of: _BeliefOf
    learning: LearningSettings
    at_least: float

    def may_answer(self, near: _Near) -> bool:
        """Tell whether its `when` holds and it is not frozen."""
        event, when = self.event, near.when
        holds = when is None or conditions.holds(
            when, event.type, event.source, event.fields
        )
        is_near = near.similarity >= self.at_least
        return holds and is_near and not self._is_frozen(near, self.belief(near))

    def belief(self, near: _Near) -> Belief:
        """Return the belief about it."""
        return self.belief_of(near.heuristic.heuristic_id, near.heuristic.content_hash)

    def reason(self, near: _Near, belief: Belief) -> str | None:
        """Return why it is not eligible; None if it is."""
        event = self.event
        if near.when is not None:
            because = conditions.explain_failure(
                near.when, event.type, event.source, event.fields
            )
            if because:
                return f"when: {because}"
        if near.similarity < self.at_least:
            return f"condition: by its fit of {near.fit:.2f} it is not near enough"
        return "frozen" if self._is_frozen(near, belief) else None

    def _is_frozen(self, near: _Near, belief: Belief) -> bool:
        by_hand = near.heuristic.heuristic_id in self.state.frozen
        return beliefs.lifecycle(belief, by_hand, self.learning) == "frozen"


def _fitted(state: AgentState, near: _Near) -> _Near:
    """Return a near heuristic with its similarity scaled by its fit."""
    fit = vote_targets.fit(
        state, near.heuristic.heuristic_id, near.heuristic.content_hash
    )
    if fit == 1.0:
        return near
    return replace(near, similarity=round6(near.similarity * fit), fit=fit)


def _candidate(near: _Near, judge: _Judge) -> HeuristicCandidate:
    heuristic, belief = near.heuristic, judge.belief(near)
    reason = judge.reason(near, belief)
    return HeuristicCandidate(
        heuristic_id=heuristic.heuristic_id,
        content_hash=heuristic.content_hash,
        condition_text=heuristic.condition,
        suggested_action=heuristic.text,
        confidence=belief.confidence,
        alpha=belief.alpha,
        beta=belief.beta,
        declared=heuristic.confidence,
        similarity=near.similarity,
        eligible=reason is None,
        reason=reason,
        response_type=heuristic.response_type,
        action=heuristic.action,
        urgency=heuristic.urgency,
        origin=heuristic.origin,
        recent=belief.recent,
    )


def _of_pack(
    pack: CompiledPack | None,
    vector: Vector,
    at_least: float,
    batch: VectorBatch | None,
) -> list[_Near]:
    if pack is None:
        return []
    # int8 vectors with exact products: the same similarity on every machine (ADR 0004).
    matrix = pack.conditions
    products = batch.products(matrix, vector) if batch else None
    known = pack.heuristics
    return [
        _Near(known[row], similarity, pack.whens[row])
        for row, similarity in vectors.top(
            matrix, vector, _SCAN_LIMIT, at_least, products
        )
    ]


def _of_shelf(shelf: Shelf | None, vector: Vector, at_least: float) -> list[_Near]:
    if shelf is None:
        return []
    taught, matrix = _stacked(shelf)
    return [
        _Near(taught[row], similarity, _parsed(taught[row].when))
        for row, similarity in vectors.top(matrix, vector, _SCAN_LIMIT, at_least)
    ]


# Keyed by the shelf, a persistent value: a changed shelf is another key.
@lru_cache(maxsize=256)
def _stacked(shelf: Shelf) -> tuple[tuple[Taught, ...], Matrix]:
    known = (shelf.heuristics[id_] for id_ in sorted(shelf.heuristics))
    taught = tuple(each for each in known if not each.is_silence)
    return taught, vectors.stack([each.vector for each in taught])


# Parsing a `when` costs more than testing it; the text alone is the key.
@lru_cache(maxsize=4096)
def _parsed(when: str | None) -> ParsedWhen | None:
    return conditions.parse(when) if when else None
