"""The agent's time: the broker's, or in a session with `clock=event` that of its sensors.

It goes back in three cases alone: where a session's event clock takes over at its first
sensor event, where that session ends, and where the broker's clock was far ahead.
"""

from datetime import datetime, timedelta

from msgspec.structs import replace

from schemas.codec.envelope import Input
from schemas.messages.controls import SessionEnded, SessionStarted
from schemas.messages.results import ClockTicked
from schemas.messages.sensing import Sensed
from schemas.state.agent import AgentState
from schemas.values.subjects import AGENT_SOURCE

_BACK_LIMIT = timedelta(seconds=1)
"""How far an event may be before the session's time; sensors may overtake each other."""
_AHEAD_LIMIT = timedelta(hours=24)
"""How far an event may be ahead of the session's time; more is a fault of the sensor."""
_BEHIND_LIMIT = timedelta(hours=1)
"""From how far behind the agent's time the broker's is believed to be set back."""

BROKER = ""
"""The name of the broker's clock; a session's own clock has the session's id."""


class ClockFaultError(Exception):
    """An event's time is too far before or ahead of the session's."""


def agent_time(state: AgentState, input_: Input) -> datetime:
    """Return the agent's now at this input.

    Raises:
        ClockFaultError: an event clock would step back, or far ahead.
    """
    told = name(state, input_)
    if told == BROKER:
        return _broker_time(state, input_)
    return _event_time(state, input_, is_set=told_by(state) == told)


def name(state: AgentState, input_: Input) -> str:
    """Return the name of the clock in force at an input; `state` is in its session."""
    session = state.session
    if session is None or session.clock == "broker":
        return BROKER
    if isinstance(input_.message, SessionStarted | SessionEnded):
        return BROKER
    is_set = told_by(state) == session.id
    return session.id if is_set or _occurred_at(input_) is not None else BROKER


def told_by(state: AgentState) -> str:
    """Return the name of the clock in force at the agent's last input."""
    return state.clock or BROKER


def has_changed(
    last: AgentState, state: AgentState, input_: Input, now: datetime
) -> bool:
    """Tell whether the clock is another than at the last input, or was set back."""
    if last.now is None:
        return False
    return told_by(last) != name(state, input_) or now < last.now


def advance(state: AgentState, now: datetime, input_: Input) -> AgentState:
    """Return the state at `now`; a sensor's time sets an event clock."""
    session = state.session
    if session is not None:
        session = replace(session, last_at=now)
    told = name(state, input_)
    # A tick comes to end a session whose time stands still, and must not prolong it.
    is_tick = told != BROKER and isinstance(input_.message, ClockTicked)
    heard_at = state.heard_at if is_tick else input_.at
    return replace(state, now=now, session=session, clock=told, heard_at=heard_at)


def _broker_time(state: AgentState, input_: Input) -> datetime:
    if state.now is None or told_by(state) != BROKER:
        return input_.at
    # A little behind is jitter between servers: time stands still until it catches up.
    is_far_behind = input_.at < state.now - _BEHIND_LIMIT
    return input_.at if is_far_behind else max(state.now, input_.at)


def _event_time(state: AgentState, input_: Input, *, is_set: bool) -> datetime:
    previous = state.now or input_.at
    occurred_at = _occurred_at(input_)
    if occurred_at is None:
        return previous
    # The first event sets the clock, to any time: a recording may be years old.
    if not is_set:
        return occurred_at
    if occurred_at < previous and _is_agents(input_):
        return previous
    if occurred_at < previous - _BACK_LIMIT:
        raise ClockFaultError(f"{occurred_at} is before the session's time {previous}")
    if occurred_at > previous + _AHEAD_LIMIT:
        raise ClockFaultError(f"{occurred_at} is far ahead of the session's {previous}")
    return max(previous, occurred_at)


def _is_agents(input_: Input) -> bool:
    """Tell whether another agent tells it, which may be behind: nobody's clock is wrong."""
    message = input_.message
    return isinstance(message, Sensed) and message.source == AGENT_SOURCE


def _occurred_at(input_: Input) -> datetime | None:
    message = input_.message
    return message.occurred_at if isinstance(message, Sensed) else None
