"""The agent's time: the broker's, or the sensors' in a session that says so.

Now never goes back, but where a session's event clock takes over from the broker's, at
its first sensor event, and where it ends.
"""

from datetime import datetime, timedelta

from msgspec.structs import replace

from schemas.controls import SessionEnded, SessionStarted
from schemas.envelope import Input
from schemas.sensing import Sensed
from schemas.state import AgentState

BACK_LIMIT = timedelta(seconds=1)
AHEAD_LIMIT = timedelta(hours=24)


class ClockFaultError(Exception):
    """An event's time that the session's clock cannot take."""


def agent_time(state: AgentState, taken: Input) -> datetime:
    """The agent's now at this input.

    Raises:
        ClockFaultError: an event clock would step back, or far ahead.
    """
    if state.session is None or state.session.clock == "broker":
        return max(state.now, taken.at) if state.now else taken.at
    if isinstance(taken.message, SessionStarted | SessionEnded):
        return taken.at
    return _event_time(state, taken)


def advance(state: AgentState, now: datetime, taken: Input) -> AgentState:
    """The state at `now`; a sensor's time has then set an event clock."""
    session = state.session
    if session is None:
        return replace(state, now=now)
    is_set = session.clock_set or _occurred_at(taken) is not None
    return replace(
        state, now=now, session=replace(session, last_at=now, clock_set=is_set)
    )


def _event_time(state: AgentState, taken: Input) -> datetime:
    previous = state.now or taken.at
    occurred_at = _occurred_at(taken)
    if occurred_at is None:
        return previous
    if state.session is not None and not state.session.clock_set:
        return occurred_at
    if occurred_at < previous - BACK_LIMIT:
        raise ClockFaultError(f"{occurred_at} is before the session's time {previous}")
    if occurred_at > previous + AHEAD_LIMIT:
        raise ClockFaultError(f"{occurred_at} is far ahead of the session's {previous}")
    return max(previous, occurred_at)


def _occurred_at(taken: Input) -> datetime | None:
    message = taken.message
    return message.occurred_at if isinstance(message, Sensed) else None
