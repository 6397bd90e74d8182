"""Events: the domain and the habit of one, and what is remembered of it once decided.

The domain is the pack that declares the event's type; a source that no pack declares is a
domain of its own. What is learnt in one domain never matches in another. A habit is a sort
of event that came lately; by it a like event matters less (`stages.salience`).
"""

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime

import orjson
from msgspec import Struct
from msgspec.structs import replace

from schemas.messages.sensing import Sensed
from schemas.packs import conditions
from schemas.packs.compiled import CompiledPack
from schemas.packs.event_types import EventType
from schemas.state import limits
from schemas.state.agent import AgentState, Habit, SourceMemory
from schemas.state.taught import Shelf
from schemas.values import ids, vectors
from schemas.values.bounded_map import Bounded
from schemas.values.by_identity import by_identity
from schemas.values.vectors import Vector

# The time constant of recovery from habituation, in seconds, by a pack's setting.
_TAU_S = {"game": 60.0, "work": 180.0, "home": 300.0, "other": 120.0}

_NAMED_LIMIT = 200
"""How many characters of fields' values a habit keeps; longer ones are hashed."""

BURST_COUNT = 5
"""So many like events in a short time are a burst, after which salience recovers sooner."""


class Domain(Struct, frozen=True):
    """The domain of an event: a pack, or an undeclared source."""

    name: str
    pack: CompiledPack | None = None
    event_type: EventType | None = None
    """How the pack declares the event's type."""

    @property
    def called(self) -> tuple[str, ...]:
        """What people call such events, as their pack says."""
        return self.event_type.called if self.event_type is not None else ()

    @property
    def is_ended(self) -> bool:
        """Whether its pack says of another type that it ends such events."""
        if self.event_type is None or self.pack is None:
            return False
        type_ = self.event_type.type
        return any(type_ in each.ends for each in self.pack.pack.events)

    @property
    def tau_s(self) -> float:
        """The time constant of recovery from habituation, in seconds."""
        if self.event_type is not None and self.event_type.tau_s is not None:
            return self.event_type.tau_s
        return _TAU_S[self.pack.pack.setting if self.pack else "other"]


def domain_of(packs: Sequence[CompiledPack], event: Sensed) -> Domain:
    """Return the domain of an event: the first pack declaring its type, else its source.

    `packs` are those in force, ordered by name.
    """
    for pack in packs:
        declared = pack.event_type(event.type, event.source)
        if declared is not None:
            return Domain(pack.pack.name, pack, declared)
    return Domain(event.source)


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
) -> Appearance:
    """Return the appearance of an event, given the packs in force.

    `duplicate` is the least cosine similarity of like events.
    """
    domain = domain_of(packs, event)
    sort = sort_of(event)
    named = _bounded_names(_named_values(domain, state.shelves.get(domain.name), event))
    known = state.habits.get(sort, ())
    index = None
    if vector is not None and known:
        index = nearest_habit(known, vector, named, duplicate)
    return Appearance(domain, sort, named, known, index)


def remembered(
    state: AgentState,
    event: Sensed,
    event_id: str,
    decision_id: str,
    vector: Vector | None,
    now: datetime,
) -> Bounded[str, SourceMemory]:
    """Return what is remembered by source after an event: id, decision, vector, time."""
    memory = state.sources.get(event.source) or SourceMemory()
    seen, recent, recent_at = memory.seen, memory.recent, memory.recent_at
    if vector is not None:
        recent = (*recent, vector)[-limits.RECENT_EVENTS :]
        recent_at = (*recent_at, now)[-limits.RECENT_EVENTS :]
    seen = seen.set(event_id, decision_id)
    return state.sources.set(
        event.source, SourceMemory(seen=seen, recent=recent, recent_at=recent_at)
    )


def unheard(state: AgentState, decision_id: str) -> AgentState:
    """Return the state in which nobody heard of what a decision was on.

    It is found by its time, so what came of its source in the same instant goes with it.
    """
    known = state.decisions.get(decision_id)
    memory = state.sources.get(known.source) if known is not None else None
    if known is None or memory is None:
        return state
    undated = len(memory.recent) - len(memory.recent_at)
    dated = zip(memory.recent[undated:], memory.recent_at, strict=True)
    left = [each for each in dated if each[1] != known.at]
    recent = (*memory.recent[:undated], *(vector for vector, _ in left))
    memory = replace(memory, recent=recent, recent_at=tuple(at for _, at in left))
    habits = state.habits
    for sort in habits.sorted_keys():
        fresh = tuple(_unpassed(each, known.at) for each in habits[sort])
        if sort.startswith(f"{known.source}.") and fresh != habits[sort]:
            habits = habits.set(sort, fresh)
    sources = state.sources.set(known.source, memory)
    return replace(state, sources=sources, habits=habits)


def habituated(
    state: AgentState,
    appearance: Appearance,
    vector: Vector,
    now: datetime,
    *,
    passed: bool,
    counts: bool = False,
) -> Bounded[str, tuple[Habit, ...]]:
    """Return the habits, with the event's renewed or begun.

    Only an event that `passed` the gate habituates; others count toward a burst. Whether
    all that came are counted depends on `counts`.
    """
    known = renewed(
        appearance.known,
        appearance.index,
        vector,
        appearance.named,
        now,
        passed,
        counts=counts,
    )
    return state.habits.set(appearance.sort, known)


def nearest_habit(
    habits: Sequence[Habit], vector: Vector, named: str, duplicate: float
) -> int | None:
    """Return the index of the nearest habit with equal named fields; None if too far.

    `duplicate` is the least cosine similarity of an event that is alike.
    """
    same = [index for index, habit in enumerate(habits) if habit.named == named]
    if not same:
        return None
    nearest = vectors.nearest([habits[index].vector for index in same], vector)
    if nearest is None or nearest[1] < duplicate:
        return None
    return same[nearest[0]]


def renewed(
    habits: tuple[Habit, ...],
    index: int | None,
    vector: Vector,
    named: str,
    now: datetime,
    passed: bool,
    *,
    counts: bool = False,
) -> tuple[Habit, ...]:
    """Return the habits after one more event, the one it renews moved to the end.

    So the first is the least recent one, and goes when there are too many.
    """
    if index is None:
        fresh = Habit(
            vector=vector,
            named=named,
            passed_at=now if passed else None,
            seen_at=(now,),
            count=1 if counts else 0,
        )
        # Unpassed events are kept as well: a burst counts all that came.
        return (*habits, fresh)[-limits.HABITS :]
    held = habits[index]
    # Those of before anybody counted are known as far as their times are.
    so_far = max(held.count, len(held.seen_at))
    again = replace(
        held,
        passed_at=now if passed else held.passed_at,
        seen_at=(*held.seen_at, now)[-BURST_COUNT:],
        count=so_far + 1 if counts else held.count,
    )
    return (*habits[:index], *habits[index + 1 :], again)


def _unpassed(habit: Habit, at: datetime | None) -> Habit:
    return replace(habit, passed_at=None) if habit.passed_at == at else habit


def _named_values(domain: Domain, shelf: Shelf | None, event: Sensed) -> str:
    """Return the values of those fields that some condition of the domain names, as JSON."""
    roots = _names_by_root(domain.pack.fields_named if domain.pack else (), shelf)
    present = [name for root in event.fields for name in roots.get(root, ())]
    values = []
    for name in sorted(present):
        found, value = conditions.field_value(name, event.fields)
        if found:
            values.append([name, value])
    return orjson.dumps(values, option=orjson.OPT_SORT_KEYS).decode()


# Asked for at each event; packs and shelves are frozen and stay the same object between
# changes, so identity serves as the key where hashing a shelf would be slow.
@by_identity(256)
def _names_by_root(
    of_pack: tuple[str, ...], shelf: Shelf | None
) -> Mapping[str, tuple[str, ...]]:
    """Return the field names in conditions, by the top-level field that they begin with."""
    names: dict[str, tuple[str, ...]] = {}
    for name in sorted({*of_pack, *(_fields_named(shelf) if shelf else ())}):
        root = name.partition(".")[0]
        names[root] = (*names.get(root, ()), name)
    return names


def _fields_named(shelf: Shelf) -> Iterator[str]:
    for id_ in sorted(shelf.heuristics):
        when, is_silence = shelf.heuristics[id_].when, shelf.heuristics[id_].is_silence
        if when is not None and not is_silence:
            yield from conditions.fields_named(conditions.parse(when))


def _bounded_names(named: str) -> str:
    """Return what a habit keeps of fields' values; they are only ever compared."""
    is_short = len(named) <= _NAMED_LIMIT
    return named if is_short else f"#{ids.digest(named.encode())}"
