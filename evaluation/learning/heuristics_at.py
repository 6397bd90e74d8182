"""List an agent's heuristics at a point of the log, with their confidence there.

Contents come from what is in force, confidences from the facts folded so far.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from evaluation.evidence.refold import BeliefFold
from projections.folds.learning import beliefs
from projections.folds.learning.heuristics import all_heuristics
from replay.recording.in_force import InForce
from schemas.state.evidence import belief_key
from schemas.state.taught import Taught
from schemas.values.reasons import Lifecycle, Origin


@dataclass(frozen=True, slots=True, kw_only=True)
class Known:
    """One heuristic as it stands."""

    id: str
    name: str
    domain: str
    origin: Origin
    content_hash: str
    condition: str
    text: str
    declared: float
    confidence: float
    fires: int
    successes: int
    life: Lifecycle


def known(in_force: InForce, believing: BeliefFold) -> Mapping[str, Known]:
    """Return the agent's heuristics by id."""
    found = all_heuristics(in_force.agent, in_force.packs)
    return {each.heuristic_id: _one(in_force, believing, each) for each in found}


def trust(
    in_force: InForce, believing: BeliefFold, heuristic_id: str, content_hash: str
) -> float:
    """Return what is believed of a content of a heuristic, of what stands there now."""
    start = beliefs.declared_confidence(in_force.agent, in_force.packs, heuristic_id)
    return believing.confidence(belief_key(heuristic_id, content_hash), start)


def _one(in_force: InForce, believing: BeliefFold, each: Taught) -> Known:
    key = belief_key(each.heuristic_id, each.content_hash)
    held = believing.believed.get(key)
    start = beliefs.declared_confidence(
        in_force.agent, in_force.packs, each.heuristic_id
    )
    by_hand = in_force.agent.frozen.get(each.heuristic_id, False)
    is_frozen = by_hand or believing.is_frozen(key, start)
    return Known(
        id=each.heuristic_id,
        name=each.name,
        domain=each.domain,
        origin=each.origin,
        content_hash=each.content_hash,
        condition=each.condition,
        text=each.text,
        declared=each.confidence,
        confidence=believing.confidence(key, start),
        fires=held.fire_count if held else 0,
        successes=held.success_count if held else 0,
        life="frozen" if is_frozen else believing.lifecycle(key),
    )
