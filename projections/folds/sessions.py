"""Sessions: from a start, or the first input while none is open, to an end or a long gap."""

from datetime import datetime, timedelta

from msgspec.structs import replace

from schemas import identity
from schemas.controls import SessionEnded, SessionStarted
from schemas.envelope import Input
from schemas.state import AgentState, Session

GAP = timedelta(minutes=30)
"""So long without an input of the agent's ends a session."""


def before(state: AgentState, taken: Input) -> AgentState:
    """The state whose session the input falls into: a lapsed one is closed first."""
    session = state.session
    lapsed = session is not None and _lapsed(session, taken)
    return replace(state, session=None) if lapsed else state


def after(state: AgentState, taken: Input, now: datetime) -> AgentState:
    """The state with the session open that this input starts, or without one it ends."""
    message = taken.message
    if isinstance(message, SessionEnded):
        return replace(state, session=None)
    if isinstance(message, SessionStarted):
        return replace(state, session=_started(message, taken, now))
    if state.session is None:
        return replace(state, session=_opened(taken, now))
    return state


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
