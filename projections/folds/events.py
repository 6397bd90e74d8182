"""What is remembered of an event once it was decided on: its id, its text, its sort."""

from datetime import datetime

from msgspec.structs import replace

from projections.folds import habits
from schemas.sensing import Sensed
from schemas.state import RECENT_LIMIT, AgentState, SourceMemory
from schemas.vectors import Vector


def sort_of(event: Sensed) -> str:
    """The key under which habits of such events stand."""
    return f"{event.source}.{event.type}"


def decided(
    state: AgentState,
    event: Sensed,
    *,
    event_id: str,
    decision_id: str,
    vector: Vector | None,
    named: str,
    now: datetime,
    passed: bool,
    duplicate: float,
) -> AgentState:
    """The state that remembers an event, and whether it passed the gates."""
    memory = state.sources.get(event.source, SourceMemory())
    memory = replace(memory, seen=memory.seen.set(event_id, decision_id))
    if vector is None:
        return replace(state, sources=state.sources.set(event.source, memory))
    memory = replace(memory, recent=(*memory.recent, vector)[-RECENT_LIMIT:])
    sort = sort_of(event)
    known = state.habits.get(sort, ())
    index = habits.find(known, vector, named, duplicate)
    return replace(
        state,
        sources=state.sources.set(event.source, memory),
        habits=state.habits.set(
            sort, habits.seen(known, index, vector, named, now, passed)
        ),
    )
