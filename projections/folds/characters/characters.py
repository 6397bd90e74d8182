"""Fold what decisions mean to a character: what it does now, and what it waits for."""

from projections.folds.characters import (
    asks,
    autonomy,
    body,
    failing,
    places,
    retrospects,
    words,
)
from projections.folds.fold_context import FoldContext
from schemas.codec.catalogue import OutputMessage
from schemas.messages.conversations import ConversationMoved
from schemas.messages.decisions import ActionChoice, Completed, Decided, Dropped
from schemas.messages.learning import InsightFormed
from schemas.messages.notes import TimerFailed
from schemas.state.agent import AgentState


def noticed(
    state: AgentState, context: FoldContext, id_: str, message: OutputMessage
) -> AgentState:
    """Return the state after a decision or the end of one; a companion's is as it was."""
    match message:
        case Decided() if message.layers is not None:
            mind = body.mind_of(context.packs)
            if mind is not None and mind.autonomous is not None:
                return autonomy.decided(state, context, id_, message)
            return body.decided(state, context, id_, message)
        case Completed(choice=ActionChoice()):
            state = asks.over(state, message.decision_id)
            return autonomy.completed(state, context, message)
        case Completed() if state.character.asked:
            state = words.said(state, context, message)
            return asks.over(_judged(state, context, message), message.decision_id)
        case Dropped() if state.character.asked:
            return asks.over(_judged(state, context, message), message.decision_id)
        case TimerFailed(purpose="layer"):
            return asks.broken(state, message.timer_id)
        case InsightFormed():
            return retrospects.formed(state, context, message)
        case ConversationMoved():
            return places.moved(state, message)
        case _:
            return state


def _judged(
    state: AgentState, context: FoldContext, message: Completed | Dropped
) -> AgentState:
    if not context.settings.characters.falls_back:
        return state
    return failing.ended(state, message)
