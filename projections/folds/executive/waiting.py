"""Answers that are ready and wait for their time: a break, a lull, or an end."""

from datetime import datetime

from msgspec.structs import replace

from projections.folds import fires, timers
from projections.folds.executive import conversation
from projections.folds.fold_context import FoldContext
from schemas.messages.decisions import Held
from schemas.messages.sensing import Sensed
from schemas.state.agent import AgentState, Timer
from schemas.state.executive import Waiting
from schemas.state.triggers import Trigger
from schemas.values.vectors import Vector


def taken(state: AgentState, context: FoldContext, message: Held) -> AgentState:
    """Return the state after an answer was held, be it for the first time or again."""
    event, before = context.input.message, find(state, message.decision_id)
    if before is not None:
        vector, waits_for = before.vector, before.trigger
    elif message.answer.path == "proactive":
        # A timer's, whatever input it ran with.
        vector, waits_for = b"", None
    elif isinstance(event, Sensed):
        vector, waits_for = context.aids.vector or b"", fires.trigger(context, event)
    else:
        # The model's answer: its event came before.
        lesson = state.pending[message.ask_id].lesson
        vector, waits_for = (lesson.vector if lesson else b""), None
    # What the model has answered is not awaited any more; its lesson is.
    left = timers.without(state.timers, message.ask_id)
    heard = _heard(state, context, message)
    return held(replace(state, timers=left), message, vector, waits_for, heard)


def _heard(state: AgentState, context: FoldContext, message: Held) -> str:
    """Return how the event of an answer began; empty if that is not remembered."""
    event, before = context.input.message, find(state, message.decision_id)
    # Logs of before it could be asked why nothing was said answer as they did.
    if not context.tells_silences or message.answer.path == "proactive":
        return ""
    if before is not None:
        return before.heard
    if isinstance(event, Sensed):
        return conversation.cut(event.text)
    pending = state.pending.get(message.ask_id)
    return pending.heard if pending is not None else ""


def held(
    state: AgentState,
    message: Held,
    vector: Vector,
    trigger: Trigger | None,
    heard: str = "",
) -> AgentState:
    """Return the state with one more answer that waits, and its timer."""
    waiting = Waiting(
        decision_id=message.decision_id,
        ask_id=message.ask_id,
        timing=message.timing,
        due=message.due_at,
        answer=message.answer,
        heuristic=message.heuristic,
        vector=vector,
        trigger=trigger,
        heard=heard,
    )
    others = without(state, message.decision_id)
    executive = replace(others.executive, waiting=(*others.executive.waiting, waiting))
    timer = Timer(due=message.due_at, id=message.decision_id, purpose="held")
    return replace(
        others, executive=executive, timers=timers.added(others.timers, timer)
    )


def without(state: AgentState, decision_id: str) -> AgentState:
    """Return the state in which a decision's answer does not wait any more."""
    kept = tuple(
        each for each in state.executive.waiting if each.decision_id != decision_id
    )
    if len(kept) == len(state.executive.waiting):
        return state
    executive = replace(state.executive, waiting=kept)
    left = timers.without(state.timers, decision_id)
    return replace(state, executive=executive, timers=left)


def find(state: AgentState, decision_id: str) -> Waiting | None:
    """Return a decision's answer that waits."""
    found = (e for e in state.executive.waiting if e.decision_id == decision_id)
    return next(found, None)


def trigger(waiting: Waiting, now: datetime) -> Trigger | None:
    """Return what the fire waits for, counted from `now`, when the words are said."""
    kept = waiting.trigger
    if kept is None:
        return None
    later = now - kept.at
    expected = tuple(replace(e, due=e.due + later) for e in kept.expectations)
    return replace(kept, at=now, expectations=expected)
