"""Deadlines belong to a clock: what becomes of them when an agent's clock changes.

The one rule. What is about the moment ends: open fires, what may be taken back, what the
mind got used to. Whatever else remembers a time keeps its age, or the time it has left, on
the new clock; so an ask that is overdue there is given up by its own timer, in words.
"""

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from functools import cache
from typing import Any, TypeVar, cast, get_args, get_origin, get_type_hints

from immutables import Map
from msgspec import Struct
from msgspec.structs import replace

from schemas.state.agent import AgentState, Habit
from schemas.values.base import Part
from schemas.values.bounded_map import Bounded

EARLIEST = datetime(1000, 1, 1, tzinfo=UTC)
LATEST = datetime(9000, 1, 1, tzinfo=UTC)
"""The calendar of sensors lies between: no time is moved out of it."""

_STAYS = ("now", "heard_at", "session", "slept")
"""What keeps its times: the clock itself, and reports of what is over."""

T = TypeVar("T")


def carried(state: AgentState, at: datetime, now: datetime) -> AgentState:
    """Return the state on another clock, which shows `now` at the broker's time `at`.

    The old clock is taken to have run on since the agent's last input as the broker's did.
    """
    assert state.now is not None
    passed = max(at - (state.heard_at or at), timedelta())
    by = now - (state.now + passed)
    waiting = tuple(each for each in state.timers if each.purpose != "outcome")
    state = replace(state, fires=(), shown=(), timers=waiting)
    names = [name for name in _timed(AgentState) if name not in _STAYS]
    return replace(state, **{name: _moved(getattr(state, name), by) for name in names})


def _moved(value: T, by: timedelta) -> T:
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
        case Habit():
            moved = replace(value, passed_at=None, seen_at=())
        case Struct():
            moved = replace(value, **_moved_fields(value, by))
        case Part():
            moved = value.model_copy(update=_moved_fields(value, by))
        case _:
            pass
    return cast(T, moved)


def _moved_fields(value: Struct | Part, by: timedelta) -> Mapping[str, object]:
    kind: type[Struct | Part] = type(value)
    return {name: _moved(getattr(value, name), by) for name in _timed(kind)}


def _later(at: datetime, by: timedelta) -> datetime:
    try:
        return min(max(at + by, EARLIEST), LATEST)
    except OverflowError:
        return EARLIEST if by < timedelta() else LATEST


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
