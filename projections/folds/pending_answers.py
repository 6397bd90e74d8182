"""Pending answers: what models were asked for and have not answered yet.

Each stands under its ask's id. A pending prediction replaces the pending answer that it
is about; once a decision is completed or dropped, nothing of it is pending.
"""

from datetime import datetime, timedelta

from immutables import Map
from msgspec.structs import replace

from projections.folds import timers
from projections.folds.executive import conversation
from projections.folds.fold_context import FoldContext
from schemas.messages.asks import ModelAsked, RecallAsked, UnpredictedWords
from schemas.messages.sensing import Sensed
from schemas.state.agent import AgentState, AskStatus, Pending, Timer
from schemas.state.lessons import Lesson
from schemas.state.triggers import Expectation, Trigger

MODEL_GRACE = timedelta(seconds=60)
"""How long after an answer's expiry one that never came is given up."""

RECALL_GRACE = timedelta(seconds=1)
"""How long after its expiry a memory that says nothing at all is waited for: it answers
itself that it failed, unless its program ended."""

ASKED_LIMIT = 1_000
"""How many characters of a prompt's beginning are kept while its answer is pending."""


def for_answer(
    state: AgentState,
    ask_id: str,
    message: ModelAsked,
    context: FoldContext,
    trigger: Trigger | None,
    lesson: Lesson | None = None,
    event: Sensed | None = None,
) -> AgentState:
    """Return the state with a pending answer; with a rival, also the race's timer.

    With `event`, whom that concerns and from whom it is hidden are kept, and its words
    where conversations are remembered.
    """
    remembers = context.remembers
    declared = context.appearance.domain.event_type if event is not None else None
    state = _waiting(
        state,
        Pending(
            ask_id=ask_id,
            decision_id=message.decision_id,
            event_id=context.input.id,
            expires_at=message.expires_at,
            channel=message.channel,
            response_type=message.response_type,
            urgency=message.urgency,
            priority=message.priority,
            matched_heuristic_id=message.matched_heuristic_id,
            prediction=message.prediction or "same",
            prompt=message.prompt if message.prediction == "separate" else None,
            rival=message.rival,
            trigger=trigger,
            lesson=lesson,
            goals=message.goals,
            asked=message.occasion[:ASKED_LIMIT],
            domain=message.domain,
            person=event.person if event is not None else None,
            speaker=event.speaker if event is not None else None,
            entities=event.entities if event is not None else (),
            heard=conversation.cut(event.text) if event and remembers else "",
            hidden_from=declared.hides(event) if declared and event else (),
            stream=bool(message.stream),
            acts=bool(message.acts),
            kept_until=_kept_until(message, context),
        ),
        Timer(due=message.expires_at + MODEL_GRACE, id=ask_id, purpose="model"),
    )
    return _racing(state, state.pending[ask_id])


def _kept_until(message: ModelAsked, context: FoldContext) -> datetime | None:
    """Return until when an answer may wait whose time to live is the usual one."""
    usual = timedelta(seconds=context.settings.ttl_s)
    kept = timedelta(seconds=context.settings.executive.queue_ttl_s)
    if message.expires_at != context.now + usual or kept <= usual:
        return None
    return context.now + kept


def recalling(state: AgentState, ask_id: str, message: RecallAsked) -> AgentState:
    """Return the state in which a pending answer waits for the memory first."""
    pending = replace(
        state.pending[ask_id], recalling=message.then, room=message.room or 0
    )
    due = message.expires_at + RECALL_GRACE
    left = tuple(
        each for each in state.timers if each.id != ask_id or each.purpose != "model"
    )
    return replace(
        state,
        pending=state.pending.set(ask_id, pending),
        timers=timers.added(left, Timer(due=due, id=ask_id, purpose="recall")),
    )


def recalled(
    state: AgentState, ask_id: str, message: ModelAsked, recall_id: str
) -> AgentState:
    """Return the state in which the model is asked what waited for the memory."""
    pending = replace(
        state.pending[recall_id],
        ask_id=ask_id,
        recalling=None,
        room=0,
        prompt=message.prompt if message.prediction == "separate" else None,
    )
    state = _waiting(
        _heard_or_late(state, recall_id),
        pending,
        Timer(due=message.expires_at + MODEL_GRACE, id=ask_id, purpose="model"),
    )
    return _racing(state, pending)


def for_prediction(
    state: AgentState, ask_id: str, message: ModelAsked, about: UnpredictedWords
) -> AgentState:
    """Return the state with a model's answer received and its prediction pending."""
    pending = state.pending[about.ask_id]
    return _waiting(
        over(state, about.ask_id, "answered"),
        replace(pending, ask_id=ask_id, prompt=None, about=about),
        Timer(due=message.expires_at, id=ask_id, purpose="prediction"),
    )


def spoken(state: AgentState, decision_id: str) -> AgentState:
    """Return the state after a decision is completed; answers still open are late."""
    for ask_id in of_decision(state, decision_id):
        state = _heard_or_late(state, ask_id)
    return state


def of_decision(state: AgentState, decision_id: str) -> tuple[str, ...]:
    """Return the ids of the pending asks of a decision, in order of id."""
    waiting = (state.pending[ask_id] for ask_id in sorted(state.pending))
    return tuple(each.ask_id for each in waiting if each.decision_id == decision_id)


def over(state: AgentState, ask_id: str, status: AskStatus) -> AgentState:
    """Return the state without this pending answer, whose ask ends in `status`."""
    state = replace(state, asks=state.asks.set(ask_id, status))
    if ask_id not in state.pending:
        return state
    pending: Map[str, Pending] = state.pending.delete(ask_id)
    return replace(state, pending=pending, timers=timers.without(state.timers, ask_id))


def trigger(state: AgentState, decision_id: str, now: datetime) -> Trigger:
    """Return the trigger of a decision that its rival answers, moved to `now`.

    What is expected of an answer is expected from when it is given, not from its event.
    """
    kept = state.pending[of_decision(state, decision_id)[0]].trigger
    assert kept is not None
    later = now - kept.at
    expectations = tuple(_later(each, later) for each in kept.expectations)
    return replace(kept, at=now, expectations=expectations)


def _later(expectation: Expectation, by: timedelta) -> Expectation:
    return replace(expectation, due=expectation.due + by)


def _waiting(state: AgentState, pending: Pending, timer: Timer) -> AgentState:
    return replace(
        state,
        asks=state.asks.set(pending.ask_id, "open"),
        pending=state.pending.set(pending.ask_id, pending),
        timers=timers.added(state.timers, timer),
    )


def _heard_or_late(state: AgentState, ask_id: str) -> AgentState:
    """Return the state without a pending answer; one that has not come is late from now."""
    is_heard = state.asks.get(ask_id) == "answered"
    return over(state, ask_id, "answered" if is_heard else "late")


def _racing(state: AgentState, pending: Pending) -> AgentState:
    """Return the state with the timer of a race, if a heuristic is in one."""
    if pending.rival is None:
        return state
    race = Timer(due=pending.rival.due_at, id=pending.ask_id, purpose="race")
    return replace(state, timers=timers.added(state.timers, race))
