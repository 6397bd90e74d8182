"""Timers on the agent's clock, and what becomes of all times when that clock changes.

Then what is about the moment ends: open fires, undo windows, habituation. All other times
keep their age, or the time left, on the new clock; an ask that is overdue there is given up
by its own timer, and reminders are instants, which `executive.reminders` keeps (ADR 0014).
"""

from bisect import insort
from collections.abc import Callable, Mapping
from datetime import UTC, datetime, timedelta
from functools import cache
from itertools import takewhile
from typing import Any, TypeVar, cast, get_args, get_origin, get_type_hints

from immutables import Map
from msgspec import Struct
from msgspec.structs import replace

from schemas.messages.notes import TimerFailed
from schemas.state.agent import AgentState, Habit, Timer, within
from schemas.values.base import Part
from schemas.values.bounded_map import Bounded

EARLIEST = datetime(1000, 1, 1, tzinfo=UTC)
LATEST = datetime(9000, 1, 1, tzinfo=UTC)
"""No time is moved out of these bounds, between which sensors' times are accepted."""

REMINDER = "reminder/"
"""What the ids of reminders' timers begin with: people name reminders as they like, and no
other timer may be meant."""

OPPORTUNITY = "opportunity/"
"""Likewise, of opportunities."""

_STAYS = ("now", "heard_at", "session", "slept")
"""Fields that keep their times: the clock itself, and reports of what is over."""

_T = TypeVar("_T")


def added(timers: tuple[Timer, ...], timer: Timer) -> tuple[Timer, ...]:
    """Return the timers with one more, in order of due time and id."""
    # Timers order by due time, then id: two due at once run alike on every machine.
    ordered = list(timers)
    insort(ordered, timer)
    return tuple(ordered)


def without(timers: tuple[Timer, ...], id_: str) -> tuple[Timer, ...]:
    """Return the timers without any about `id_`; an ask in a race has two."""
    return tuple(timer for timer in timers if timer.id != id_)


def failed(state: AgentState, message: TimerFailed) -> AgentState:
    """Return the state that no longer waits for what a failed timer was about.

    It calls no other fold, since any of them may be what failed.
    """
    id_ = message.timer_id
    asks = state.asks.set(id_, "late") if id_ in state.asks else state.asks
    state = replace(state, timers=without(state.timers, id_), asks=asks)
    # A newer program may have timers that this one does not know.
    forget = FAILED.get(message.purpose)
    return forget(state, id_) if forget is not None else state


def _fire(state: AgentState, id_: str) -> AgentState:
    kept = tuple(fire for fire in state.fires if fire.fire_id != id_)
    return replace(state, fires=kept)


def _pending(state: AgentState, id_: str) -> AgentState:
    known = id_ in state.pending
    return replace(state, pending=state.pending.delete(id_)) if known else state


def _forming(state: AgentState, id_: str) -> AgentState:
    known = id_ in state.forming
    return replace(state, forming=state.forming.delete(id_)) if known else state


def _held(state: AgentState, id_: str) -> AgentState:
    left = tuple(e for e in state.executive.waiting if e.decision_id != id_)
    return within(state, "executive", waiting=left)


def _reminder(state: AgentState, id_: str) -> AgentState:
    held = state.executive.reminders.awaited
    left = tuple(each for each in held if f"{REMINDER}{each.id}" != id_)
    return within(state, "executive", "reminders", awaited=left)


def _opportunity(state: AgentState, id_: str) -> AgentState:
    left = tuple(
        replace(each, due=None) if f"{OPPORTUNITY}{each.purpose}" == id_ else each
        for each in state.executive.initiative.opportunities
    )
    return within(state, "executive", "initiative", opportunities=left)


def _layer(state: AgentState, id_: str) -> AgentState:
    asked = state.character.asked
    failed_ = next((each for each in sorted(asked) if asked[each].ask_id == id_), None)
    if failed_ is None:
        return state
    return within(state, "character", asked=asked.delete(failed_))


FAILED: Mapping[str, Callable[[AgentState, str], AgentState]] = {
    "outcome": _fire,
    **dict.fromkeys(("model", "race", "prediction", "recall"), _pending),
    "formation": _forming,
    "reflection": lambda state, _: replace(state, sleeping=None),
    "sleep": lambda state, _: state,
    "held": _held,
    "reminder": _reminder,
    "opportunity": _opportunity,
    # It thinks again at the next event.
    "think": lambda state, _: within(state, "character", due=None),
    "layer": _layer,
}
"""What is no longer waited for once a timer of each purpose failed."""


def due(timers: tuple[Timer, ...], now: datetime) -> tuple[Timer, ...]:
    """Return the timers due at or before `now`, soonest first."""
    return tuple(takewhile(lambda timer: timer.due <= now, timers))


def carried(state: AgentState, at: datetime, now: datetime) -> AgentState:
    """Return the state on another clock, which shows `now` at the broker's time `at`.

    The old clock is assumed to have run on since the agent's last input at the broker's
    rate: a clock that stands still cannot say how long nothing happened.
    """
    assert state.now is not None
    passed = max(at - (state.heard_at or at), timedelta())
    by = now - (state.now + passed)
    waiting = tuple(each for each in state.timers if each.purpose != "outcome")
    state = replace(state, fires=(), shown=(), timers=waiting)
    # By type, not by a list of names: a time that is added later is not forgotten.
    names = [name for name in _timed(AgentState) if name not in _STAYS]
    return replace(state, **{name: _moved(getattr(state, name), by) for name in names})


def _moved(value: _T, by: timedelta) -> _T:
    """Return the value with every time in it moved."""
    moved: object = value
    match value:
        case datetime():
            moved = _later(value, by)
        case tuple():
            moved = tuple(_moved(each, by) for each in value)
        case Map():
            moved = Map({key: _moved(value[key], by) for key in sorted(value)})
        case Bounded():
            younger, older = _moved(value.younger, by), _moved(value.older, by)
            moved = Bounded(value.limit, younger, older)
        # The cases of a struct come in this order: a habit is forgotten, not moved.
        case Habit():
            moved = replace(value, passed_at=None, seen_at=())
        case Struct():
            moved = replace(value, **_moved_fields(value, by))
        case Part():
            moved = value.model_copy(update=_moved_fields(value, by))
        case _:
            pass
    return cast(_T, moved)


def _moved_fields(value: Struct | Part, by: timedelta) -> Mapping[str, object]:
    kind: type[Struct | Part] = type(value)
    return {name: _moved(getattr(value, name), by) for name in _timed(kind)}


def _later(at: datetime, by: timedelta) -> datetime:
    try:
        return min(max(at + by, EARLIEST), LATEST)
    except OverflowError:
        # Beyond what a datetime can hold, so beyond the bounds as well.
        return EARLIEST if by < timedelta() else LATEST


# Bounded by the number of struct types; annotations are slow to resolve.
@cache
def _timed(kind: type[Struct | Part]) -> tuple[str, ...]:
    """Return the fields of a struct or a part that hold times, however deep."""
    hints = get_type_hints(kind)
    return tuple(name for name in hints if _has_time(hints[name]))


def _has_time(hint: Any) -> bool:
    if get_origin(hint) is not None or not isinstance(hint, type):
        return any(_has_time(each) for each in get_args(hint))
    if issubclass(hint, Struct | Part):
        return bool(_timed(hint))
    return issubclass(hint, datetime)
