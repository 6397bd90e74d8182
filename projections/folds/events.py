"""Events: their domain and habit to an agent, and what is remembered once decided."""

from collections.abc import Sequence
from datetime import datetime

from msgspec import Struct
from msgspec.structs import replace

from projections.folds import domains, habits
from projections.folds.domains import Domain
from schemas.messages.sensing import Sensed
from schemas.packs.manifest import CompiledPack
from schemas.state import limits
from schemas.state.agent import AgentState, Habit, SourceMemory
from schemas.values.vectors import Vector


class Appearance(Struct, frozen=True):
    """What is known of an event at its arrival: domain, sort and like habit."""

    domain: Domain
    sort: str
    """The key under which habits of such events stand."""
    named: str
    """The values of the fields that conditions name."""
    known: tuple[Habit, ...]
    """The habits of its sort."""
    index: int | None
    """The index in `known` of the habit that the event is like; None if of none."""

    @property
    def habit(self) -> Habit | None:
        """The habit that the event is like."""
        return None if self.index is None else self.known[self.index]


def sort_of(event: Sensed) -> str:
    """Return the key under which habits of such events stand."""
    return f"{event.source}.{event.type}"


def appearance(
    state: AgentState,
    packs: Sequence[CompiledPack],
    event: Sensed,
    vector: Vector | None,
    duplicate: float,
    *,
    is_bounded: bool = False,
) -> Appearance:
    """Return the appearance of an event, given the packs in force.

    `duplicate` is the least cosine similarity of like events; with `is_bounded` long
    values of named fields are hashed.
    """
    domain = domains.of_event(packs, event)
    sort = sort_of(event)
    named = domains.named_values(domain, state.shelves.get(domain.name), event)
    named = habits.kept(named) if is_bounded else named
    known = state.habits.get(sort, ())
    index = None
    if vector is not None and known:
        index = habits.find(known, vector, named, duplicate)
    return Appearance(domain, sort, named, known, index)


def remembered(
    state: AgentState,
    event: Sensed,
    event_id: str,
    decision_id: str,
    vector: Vector | None,
    now: datetime,
) -> AgentState:
    """Return the state with an event remembered: its id, decision, vector and time."""
    memory = state.sources.get(event.source) or SourceMemory()
    memory = replace(memory, seen=memory.seen.set(event_id, decision_id))
    if vector is not None:
        memory = replace(
            memory,
            recent=(*memory.recent, vector)[-limits.RECENT_EVENTS :],
            recent_at=(*memory.recent_at, now)[-limits.RECENT_EVENTS :],
        )
    return replace(state, sources=state.sources.set(event.source, memory))


def habituated(
    state: AgentState,
    appearance: Appearance,
    vector: Vector,
    now: datetime,
    *,
    passed: bool,
) -> AgentState:
    """Return the state with the event's habit renewed or begun.

    Only an event that `passed` the gate habituates; others count toward a burst.
    """
    known = habits.seen(
        appearance.known, appearance.index, vector, appearance.named, now, passed
    )
    return replace(state, habits=state.habits.set(appearance.sort, known))
