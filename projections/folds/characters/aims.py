"""Fold what a character is after."""

from msgspec.structs import replace

from projections.folds.fold_context import Origin
from schemas.messages.characters import AimsSet
from schemas.state.agent import AgentState
from schemas.values.bounded_map import EMPTY


def applied(state: AgentState, control: AimsSet, origin: Origin) -> AgentState:
    """Return the state in which a character is after what the control says."""
    before = state.character
    aims = before.aims if control.aims is None else control.aims
    priorities = before.priorities
    if control.priorities is not None:
        priorities = EMPTY.update(
            {name: control.priorities[name] for name in sorted(control.priorities)}
        )
    changed = aims != before.aims or priorities != before.priorities
    character = replace(
        before,
        aims=aims,
        priorities=priorities,
        aimed_at=origin.at if changed else before.aimed_at,
    )
    return replace(state, character=character)


def own(before: AgentState, after: AgentState) -> AgentState:
    """Return the state in which a change is the executor's own, which asks it nothing."""
    if after.character is before.character:
        return after
    aimed_at = before.character.aimed_at
    return replace(after, character=replace(after.character, aimed_at=aimed_at))
