"""Fold what nobody heeds: each shown answer whose outcome never came makes such events
matter less, until time or a success makes that good.

Each multiplies the share of salience that counts by 0.9, down to 0.1; of what was lost,
e^(-t/3600) is left after t seconds.
"""

from datetime import datetime

from projections.folds.fold_context import FoldContext
from schemas.codec.catalogue import OutputMessage
from schemas.messages.learning import FeedbackApplied, OutcomeExpired, OutcomeObserved
from schemas.state.agent import AgentState, within
from schemas.state.executive import Ignored
from schemas.values.exact_math import exp, round6

_FRUITLESS = 0.9
_LEAST = 0.1
_RECOVERY_S = 3_600.0


def noticed(
    state: AgentState, context: FoldContext, message: OutputMessage
) -> AgentState:
    """Return the state after what an output tells of answers that were heeded or not."""
    if not context.settings.executive.modulates:
        return state
    match message:
        case OutcomeExpired(decision_id=id_):
            return _fruitless(state, id_, context.now)
        case OutcomeObserved(decision_id=id_, outcome="success"):
            return _heeded(state, id_, context.now)
        case FeedbackApplied(decision_id=str(id_), value=value) if value > 0.0:
            return _heeded(state, id_, context.now)
        case _:
            return state


def kept(ignored: Ignored | None, now: datetime) -> float:
    """Return the share of salience that counts for events of a sort."""
    if ignored is None:
        return 1.0
    # A clock may be set back: then nothing is made good yet.
    elapsed_s = max(0.0, (now - ignored.at).total_seconds())
    return round6(1.0 - (1.0 - ignored.kept) * exp(-elapsed_s / _RECOVERY_S))


def _fruitless(state: AgentState, decision_id: str, now: datetime) -> AgentState:
    remembered = state.decisions.get(decision_id)
    sort = _sort(state, decision_id)
    # Whoever judged an answer did not ignore it.
    if not sort or remembered is None or remembered.is_judged:
        return state
    known = state.executive.peace.ignored
    share = max(_LEAST, round6(kept(known.get(sort), now) * _FRUITLESS))
    return _with(state, sort, Ignored(kept=share, at=now))


def _heeded(state: AgentState, decision_id: str, now: datetime) -> AgentState:
    sort, known = _sort(state, decision_id), state.executive.peace.ignored
    if sort not in known:
        return state
    return _with(state, sort, Ignored(kept=1.0, at=now))


def _with(state: AgentState, sort: str, ignored: Ignored) -> AgentState:
    known = state.executive.peace.ignored
    return within(state, "executive", "peace", ignored=known.set(sort, ignored))


def _sort(state: AgentState, decision_id: str) -> str:
    """Return the sort of the event that a response answered; empty if it is forgotten."""
    said = (
        each for each in state.executive.sayings.said if each.decision_id == decision_id
    )
    return next((each.sort for each in said), "")
