"""Formation: models' answers are kept as lessons until a vote makes heuristics of them.

Each lesson has one attempt: once a model was asked to form a heuristic of it, no further
vote asks again, whatever the result.
"""

import orjson
from msgspec.structs import replace

from projections.folds import pending_answers, timers
from projections.folds.fold_context import FoldContext
from schemas.messages.asks import ModelAsked
from schemas.messages.decisions import Completed
from schemas.messages.feedback import FeedbackGiven
from schemas.messages.learning import FeedbackApplied
from schemas.messages.sensing import Sensed
from schemas.state.agent import AgentState, Timer
from schemas.state.lessons import Forming, Lesson, Reinforced
from schemas.values.vectors import Vector


def of_event(event: Sensed, domain: str, vector: Vector = b"") -> Lesson:
    """Return the lesson that an answer to an event would be; `vector` is of its text."""
    return Lesson(
        domain=domain,
        source=event.source,
        type=event.type,
        text=event.text,
        fields=orjson.dumps(event.fields, option=orjson.OPT_SORT_KEYS).decode(),
        vector=vector,
    )


def completed(state: AgentState, message: Completed) -> AgentState:
    """Return the state with a model's answer kept as a lesson.

    To be folded before the decision's pending answer is removed, which holds the lesson.
    """
    waiting = pending_answers.of_decision(state, message.decision_id)
    if message.path != "llm" or not waiting:
        return state
    lesson = state.pending[waiting[0]].lesson
    if lesson is None:
        return state
    learnt = replace(lesson, said=message.text)
    return replace(state, lessons=state.lessons.set(message.decision_id, learnt))


def known(state: AgentState, decision_id: str) -> Lesson | None:
    """Return the lesson of a decision; None if it is forgotten or had its attempt."""
    return state.lessons.get(decision_id)


def asked(
    state: AgentState, ask_id: str, message: ModelAsked, context: FoldContext
) -> AgentState:
    """Return the state with a heuristic being formed of a lesson."""
    vote = context.input.message
    lesson = known(state, message.decision_id)
    assert isinstance(vote, FeedbackGiven)
    assert lesson is not None
    forming = Forming(
        ask_id=ask_id,
        decision_id=message.decision_id,
        actor=vote.actor,
        value=vote.signed,
        lesson=lesson,
    )
    due = message.expires_at + pending_answers.MODEL_GRACE
    timer = Timer(due=due, id=ask_id, purpose="formation")
    return replace(
        state,
        asks=state.asks.set(ask_id, "open"),
        # Set to None, not deleted: an older generation of the map may still hold it.
        lessons=state.lessons.set(message.decision_id, None),
        forming=state.forming.set(ask_id, forming),
        timers=timers.added(state.timers, timer),
    )


def voted(state: AgentState, vote: FeedbackApplied) -> AgentState:
    """Return the state in which the voter whose vote led to a formation voted again."""
    waiting = _of_decision(state, vote.decision_id)
    if waiting is None or waiting.actor != vote.actor:
        return state
    changed = replace(waiting, value=vote.value)
    return replace(state, forming=state.forming.set(waiting.ask_id, changed))


def over(state: AgentState, decision_id: str) -> AgentState:
    """Return the state in which no heuristic of this decision is being formed."""
    waiting = _of_decision(state, decision_id)
    if waiting is None:
        return state
    is_heard = state.asks.get(waiting.ask_id) == "answered"
    return replace(
        state,
        asks=state.asks.set(waiting.ask_id, "answered" if is_heard else "late"),
        forming=state.forming.delete(waiting.ask_id),
        timers=timers.without(state.timers, waiting.ask_id),
    )


def reinforced(state: AgentState, vote: FeedbackApplied) -> AgentState:
    """Return the state in which votes on a model's answer count for a heuristic, too."""
    decision_id, id_, content_hash = vote.through, vote.heuristic_id, vote.content_hash
    if decision_id is None or id_ is None or content_hash is None or vote.is_passed_on:
        return state
    state = over(state, decision_id)
    remembered = state.decisions.get(decision_id)
    if remembered is None:
        return state
    counts_for = Reinforced(heuristic_id=id_, content_hash=content_hash)
    remembered = replace(remembered, reinforced=counts_for)
    return replace(state, decisions=state.decisions.set(decision_id, remembered))


def _of_decision(state: AgentState, decision_id: str | None) -> Forming | None:
    waiting = (state.forming[ask_id] for ask_id in sorted(state.forming))
    return next((each for each in waiting if each.decision_id == decision_id), None)
