"""Sessions: from a start, or an input while none is open, to an end or a long gap."""

from datetime import datetime, timedelta

from msgspec.structs import replace

from projections.folds import clock
from projections.folds.executive import reminders
from projections.folds.fold_context import Origin
from schemas.codec.envelope import Input
from schemas.messages.controls import SessionEnded, SessionStarted
from schemas.messages.results import ClockTicked, Result
from schemas.state.agent import AgentState, Session
from schemas.values import ids

_BEGINS_NONE = (SessionStarted, SessionEnded, Result, ClockTicked)

GAP = timedelta(minutes=30)
"""How long without an input of the agent ends a session."""


def before(state: AgentState, input_: Input) -> AgentState:
    """Return the state in whose session an input falls; a lapsed one is closed."""
    lapses = _lapses_at(state)
    lapsed = lapses is not None and input_.at >= lapses
    return replace(state, session=None) if lapsed else state


def _lapses_at(state: AgentState) -> datetime | None:
    """Return the broker's time at which the session lapses if no input comes.

    None without a session.
    """
    session = state.session
    if session is None:
        return None
    if session.clock == "broker":
        return session.last_at + GAP
    return None if state.heard_at is None else state.heard_at + GAP


def next_due(state: AgentState) -> datetime | None:
    """Return the broker's time from which a tick has something to do; None if never.

    Timers on an event clock cannot be due by the broker's: only the lapse can come then, and
    reminders of the broker's clock.
    """
    session = state.session
    if session is None or session.clock == "broker" or state.clock == clock.BROKER:
        return state.timers[0].due if state.timers else None
    reminds_at = reminders.next_elsewhere(state)
    if not state.timers:
        return reminds_at
    lapses = _lapses_at(state)
    return min((each for each in (lapses, reminds_at) if each), default=None)


def opened(state: AgentState, input_: Input, now: datetime) -> AgentState:
    """Return the state with a session open, begun by this input if there was none.

    Late results and ticks begin none: they belong to an earlier session.
    """
    if state.session is not None or isinstance(input_.message, _BEGINS_NONE):
        return state
    return replace(state, session=_opened(input_, now))


def applied(
    state: AgentState, message: SessionStarted | SessionEnded, origin: Origin
) -> AgentState:
    """Return the state after a session was started or ended on purpose."""
    input_ = origin.context.input
    if isinstance(message, SessionEnded):
        return replace(state, session=None)
    return replace(state, session=_started(message, input_, state.now or input_.at))


def _started(message: SessionStarted, input_: Input, now: datetime) -> Session:
    return Session(
        id=message.session_id,
        title=message.title,
        clock=message.clock,
        first_sequence=input_.sequence,
        started_at=now,
        last_at=now,
        world=message.world,
    )


def _opened(input_: Input, now: datetime) -> Session:
    return Session(
        id=ids.digest(input_.id.encode(), str(input_.sequence).encode()),
        title="",
        clock="broker",
        first_sequence=input_.sequence,
        started_at=now,
        last_at=now,
    )
