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


def remembered(
    state: AgentState,
    event: Sensed,
    event_id: str,
    decision_id: str,
    vector: Vector | None,
) -> AgentState:
    """The state that remembers an event: its id, what it was decided as, its text."""
    memory = state.sources.get(event.source, SourceMemory())
    recent = memory.recent if vector is None else (*memory.recent, vector)
    memory = replace(
        memory,
        seen=memory.seen.set(event_id, decision_id),
        recent=recent[-RECENT_LIMIT:],
    )
    return replace(state, sources=state.sources.set(event.source, memory))


def habituated(
    state: AgentState,
    event: Sensed,
    vector: Vector,
    named: str,
    now: datetime,
    *,
    passed: bool,
    duplicate: float,
) -> AgentState:
    """The state that is used to such events a little more, if this one passed."""
    sort = sort_of(event)
    known = state.habits.get(sort, ())
    index = habits.find(known, vector, named, duplicate)
    known = habits.seen(known, index, vector, named, now, passed)
    return replace(state, habits=state.habits.set(sort, known))
