"""Timers: what is due at a time of the agent, soonest first."""

from bisect import insort
from datetime import datetime
from itertools import takewhile

from schemas.state import Timer


def added(timers: tuple[Timer, ...], timer: Timer) -> tuple[Timer, ...]:
    """The timers with one more, in order of due time and id."""
    ordered = list(timers)
    insort(ordered, timer)
    return tuple(ordered)


def without(timers: tuple[Timer, ...], id_: str) -> tuple[Timer, ...]:
    """The timers but for the one about `id_`."""
    return tuple(timer for timer in timers if timer.id != id_)


def due(timers: tuple[Timer, ...], now: datetime) -> tuple[Timer, ...]:
    """The timers due at or before now."""
    return tuple(takewhile(lambda timer: timer.due <= now, timers))
