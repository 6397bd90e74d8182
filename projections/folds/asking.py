"""Fold what models are asked, and what the memory is asked before.

An ask of the memory holds the model's call that follows, so that the answer is pending from
then on: a race, a kill or a newer decision end it as they end any other.
"""

from projections.folds import experiments, fires, formation, pending_answers, reflection
from projections.folds.characters import asks as layer_asks
from projections.folds.fold_context import FoldContext
from schemas.messages.asks import ModelAsked, RecallAsked
from schemas.messages.feedback import FeedbackGiven
from schemas.messages.sensing import Sensed
from schemas.state.agent import AgentState
from schemas.state.lessons import Lesson
from schemas.values.vectors import Vector


def asked(
    state: AgentState, context: FoldContext, message: ModelAsked | RecallAsked
) -> AgentState:
    """Return the state that awaits the answer to an ask of a model or of the memory."""
    id_ = context.output_id
    if isinstance(message, RecallAsked):
        if message.then is None:
            return state
        state = _for_answer(state, context, id_, message.then)
        return pending_answers.recalling(state, id_, message)
    event = context.input.message
    # A reflection is on a past event, and a vote asks for a rule: neither has an event at
    # hand, so both are told apart before anything reads one.
    if layer_asks.is_of_layer(message):
        return layer_asks.asked(state, context, message)
    if message.purpose == "reflection":
        return reflection.asked(state, id_, message)
    if message.recall_id is not None:
        return pending_answers.recalled(state, id_, message, message.recall_id)
    if isinstance(event, FeedbackGiven):
        return formation.asked(state, id_, message, context)
    if message.about is not None:
        text = message.about.text
        words = context.aids.of(text)
        state = reflection.asked_about(state, message.decision_id, text, words)
        return pending_answers.for_prediction(state, id_, message, message.about)
    return _for_answer(state, context, id_, message)


def event_vector(context: FoldContext) -> Vector:
    """Return the event's vector; empty if none was made."""
    return context.aids.vector or b""


def _for_answer(
    state: AgentState, context: FoldContext, id_: str, message: ModelAsked
) -> AgentState:
    event, trigger, lesson, whose = context.input.message, None, None, None
    if isinstance(event, Sensed):
        lesson = _lesson(context, event)
        whose = event
    if message.rival is not None and isinstance(event, Sensed):
        trigger = fires.trigger(context, event)
    state = pending_answers.for_answer(
        state, id_, message, context, trigger, lesson, whose
    )
    return experiments.asked(state, id_)


def _lesson(context: FoldContext, event: Sensed) -> Lesson | None:
    """Return the lesson that a model's answer to the event would be; None if unused."""
    if not (context.settings.formation or context.settings.endorsement):
        return None
    return formation.of_event(
        event, context.appearance.domain.name, event_vector(context)
    )
