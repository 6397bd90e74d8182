"""Timers of an agent, on the agent's clock, soonest first."""

from bisect import insort
from datetime import datetime
from itertools import takewhile

from msgspec.structs import replace

from schemas.messages.notes import TimerFailed
from schemas.state.agent import AgentState, Timer


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
    return replace(
        state,
        timers=without(state.timers, id_),
        fires=tuple(fire for fire in state.fires if fire.fire_id != id_),
        pending=state.pending.delete(id_) if id_ in state.pending else state.pending,
        forming=state.forming.delete(id_) if id_ in state.forming else state.forming,
        asks=asks,
        sleeping=None if message.purpose == "reflection" else state.sleeping,
    )


def due(timers: tuple[Timer, ...], now: datetime) -> tuple[Timer, ...]:
    """Return the timers due at or before `now`, soonest first."""
    return tuple(takewhile(lambda timer: timer.due <= now, timers))
