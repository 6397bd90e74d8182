"""Changes of the repertoire, applied and reverted exactly.

A heuristic that goes is frozen by hand for the agent; one that comes is formed by a message
of its own. Evidence on either stays, since it belongs to a content.
"""

from collections.abc import Sequence

from msgspec.structs import replace

from projections.folds.controls import content_in_force
from projections.folds.learning import heuristics
from schemas.messages.repertoire import RepertoireChange, Stand
from schemas.packs.manifest import CompiledPack
from schemas.state.agent import AgentState
from schemas.values.unicode_text import quoted


def applied(state: AgentState, change: RepertoireChange) -> AgentState:
    """Return the state with the heuristics that go frozen."""
    frozen = state.frozen
    for each in change.going:
        frozen = frozen.set(each.heuristic_id, True)
    return replace(state, frozen=frozen)


def reverted(state: AgentState, change: RepertoireChange) -> AgentState:
    """Return the state with the frozen heuristics released and the formed one removed."""
    frozen = state.frozen
    for each in change.going:
        frozen = frozen.delete(each.heuristic_id)
    state = replace(state, frozen=frozen)
    if change.formed is None:
        return state
    return heuristics.forgotten(state, change.formed.heuristic_id)


def outdated(
    state: AgentState, packs: Sequence[CompiledPack], change: RepertoireChange
) -> str | None:
    """Return why a change cannot be applied any more; None if it can."""
    for each in change.before:
        if not _is_same(state, packs, each):
            return f"{quoted(each.name)} is not what it was"
        if each.heuristic_id in state.frozen:
            return f"{quoted(each.name)} is frozen"
    formed = change.formed
    if formed is not None and heuristics.find(state, formed.heuristic_id) is not None:
        return f"{quoted(formed.name)} is there already"
    return None


def moved_on(
    state: AgentState, packs: Sequence[CompiledPack], change: RepertoireChange
) -> str | None:
    """Return why a change cannot be reverted any more; None if it can."""
    for each in change.going:
        if not _is_same(state, packs, each) or each.heuristic_id not in state.frozen:
            return f"{quoted(each.name)} was changed or released since"
    if change.formed is not None and not _is_same(state, packs, change.after[-1]):
        return f"{quoted(change.formed.name)} was edited since"
    return None


def _is_same(state: AgentState, packs: Sequence[CompiledPack], stand: Stand) -> bool:
    content_hash = content_in_force(state, packs, stand.heuristic_id)
    return content_hash == stand.content_hash
