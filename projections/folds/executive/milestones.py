"""Count the events of which packs declare milestones."""

from collections.abc import Iterator

from projections.folds.fold_context import FoldContext
from schemas.messages.sensing import Sensed
from schemas.packs.event_types import Milestone
from schemas.state.agent import AgentState, within

_LONGEST = 200
"""How many characters of a field's value tell it apart."""


def counted(state: AgentState, context: FoldContext, event: Sensed) -> AgentState:
    """Return the state with one more such event counted, for each milestone of its type."""
    domain = context.appearance.domain
    declared = domain.event_type.milestones if domain.event_type is not None else ()
    if not declared:
        return state
    held = state.executive.initiative.counters
    for key, _, _ in keys(declared, domain.name, event):
        held = held.set(key, (held.get(key) or 0) + 1)
    if held is state.executive.initiative.counters:
        return state
    return within(state, "executive", "initiative", counters=held)


def keys(
    declared: tuple[Milestone, ...], domain: str, event: Sensed
) -> Iterator[tuple[str, Milestone, str]]:
    """Yield the key of each counter that the event moves, its milestone and its value."""
    for place, each in enumerate(declared):
        value = "" if each.field is None else event.fields.get(each.field)
        # What has no such field is not counted.
        if isinstance(value, str | int) and not isinstance(value, bool):
            told = str(value)[:_LONGEST]
            yield f"{domain}/{event.type}/{place}/{told}", each, told
