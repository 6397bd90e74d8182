"""The columns of a heuristic: its content, and the present belief in it."""

from collections.abc import Sequence
from functools import lru_cache

from projections.folds.learning import beliefs
from projections.rows import confidence_changes
from projections.rows.changes import Row, json_text, vector_text
from schemas.messages.arms import Action
from schemas.packs.compiled import CompiledPack
from schemas.state.agent import AgentState
from schemas.state.taught import Taught
from schemas.values.learning_settings import LearningSettings
from schemas.values.vectors import Vector


def standing(
    agent: AgentState,
    packs: Sequence[CompiledPack],
    learning: LearningSettings,
    heuristic_id: str,
    content_hash: str,
) -> Row:
    """Return the columns of the belief in a heuristic and of its lifecycle."""
    held = beliefs.bounded_belief(agent, packs, learning, heuristic_id, content_hash)
    by_hand = heuristic_id in agent.frozen
    life = beliefs.lifecycle(held, by_hand, learning)
    its = beliefs.learning_under(learning, beliefs.terms_of(agent, packs, heuristic_id))
    # Counted by the heuristic's own terms, and not rounded as those in the state are.
    alpha, beta = confidence_changes.counts(held, its)
    return {
        "declared": held.declared,
        "confidence": held.confidence,
        "alpha": alpha,
        "beta": beta,
        "fire_count": held.fire_count,
        "success_count": held.success_count,
        "last_fired": held.last_fired,
        "lifecycle": life,
        "frozen": life == "frozen",
        "frozen_by_hand": by_hand,
    }


# A pack may bring thousands of heuristics, and each new agent of it asks for all of them.
@lru_cache(maxsize=16)
def of_pack(pack: CompiledPack) -> tuple[Row, ...]:
    """Return the content columns of a pack's heuristics, by row; equal for all agents."""
    return tuple(map(of_taught, pack.heuristics))


def of_taught(heuristic: Taught) -> Row:
    """Return the content columns of a taught heuristic."""
    return {
        "name": heuristic.name,
        "domain": heuristic.domain,
        "condition": _condition(heuristic.condition, heuristic.when),
        "action": _action(
            heuristic.response_type, heuristic.text, heuristic.action, heuristic.urgency
        ),
        "in_force": True,
        "origin": heuristic.origin,
        "origin_id": heuristic.origin_id,
        "content_hash": heuristic.content_hash,
        **_embedding(heuristic.vector),
    }


def _condition(text: str, when: str | None) -> str | None:
    return json_text({"text": text} if when is None else {"text": text, "when": when})


def _action(type_: str, text: str, action: Action | None, urgency: float) -> str | None:
    fields: dict[str, object] = {"type": type_, "text": text, "urgency": urgency}
    if action is not None:
        fields["action"] = action.as_fields()
    return json_text(fields)


def _embedding(vector: Vector) -> Row:
    """Return a vector as pgvector reads it, and its dimension; None for an empty one."""
    return {
        "condition_embedding": vector_text(vector) if vector else None,
        "dimension": len(vector) or None,
    }
