"""Fold what a character is after."""

from msgspec.structs import replace

from schemas.messages.characters import AimsSet
from schemas.state.agent import AgentState
from schemas.values.bounded_map import EMPTY


def applied(state: AgentState, control: AimsSet) -> AgentState:
    """Return the state in which a character is after what the control says."""
    before = state.character
    aims = before.aims if control.aims is None else control.aims
    priorities = before.priorities
    if control.priorities is not None:
        priorities = EMPTY.update(
            {name: control.priorities[name] for name in sorted(control.priorities)}
        )
    return replace(state, character=replace(before, aims=aims, priorities=priorities))
