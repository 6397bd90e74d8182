"""Sessions: from a start, or the first input while none is open, to an end or a long gap."""

from datetime import datetime, timedelta

from msgspec.structs import replace

from schemas import identity
from schemas.controls import SessionEnded, SessionStarted
from schemas.envelope import Input
from schemas.results import ClockTicked, Result
from schemas.state import AgentState, Session

_BEGINS_NONE = (SessionStarted, SessionEnded, Result, ClockTicked)

GAP = timedelta(minutes=30)
"""So long without an input of the agent's ends a session."""


def before(state: AgentState, taken: Input) -> AgentState:
    """The state whose session the input falls into: a lapsed one is closed first."""
    session = state.session
    lapsed = session is not None and _lapsed(session, taken)
    return replace(state, session=None) if lapsed else state


def opened(state: AgentState, taken: Input, now: datetime) -> AgentState:
    """The state with a session open: an input that finds none open begins one.

    What only echoes an earlier session begins none: a late result, a timer's tick.
    """
    if state.session is not None or isinstance(taken.message, _BEGINS_NONE):
        return state
    return replace(state, session=_opened(taken, now))


def applied(
    state: AgentState, message: SessionStarted | SessionEnded, taken: Input
) -> AgentState:
    """The state after a session was started or ended on purpose."""
    if isinstance(message, SessionEnded):
        return replace(state, session=None)
    return replace(state, session=_started(message, taken, state.now or taken.at))


def _lapsed(session: Session, taken: Input) -> bool:
    # An event clock stands still between events, so only its own events can end it.
    return session.clock == "broker" and taken.at - session.last_at >= GAP


def _started(message: SessionStarted, taken: Input, now: datetime) -> Session:
    return Session(
        id=message.session_id,
        title=message.title,
        clock=message.clock,
        first_sequence=taken.sequence,
        started_at=now,
        last_at=now,
    )


def _opened(taken: Input, now: datetime) -> Session:
    return Session(
        id=identity.digest(taken.id.encode(), str(taken.sequence).encode()),
        title="",
        clock="broker",
        first_sequence=taken.sequence,
        started_at=now,
        last_at=now,
    )
