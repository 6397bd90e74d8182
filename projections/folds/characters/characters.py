"""Fold what decisions mean to a character: what it does now, and what it waits for."""

from msgspec.structs import replace

from projections.folds.characters import asks, autonomy, body, failing
from projections.folds.characters.body import mind_of
from projections.folds.fold_context import FoldContext
from schemas.messages.decisions import ActionChoice, Completed, Decided, Dropped
from schemas.state import limits
from schemas.state.agent import AgentState
from schemas.state.character import RememberedWords


def noticed(
    state: AgentState, context: FoldContext, message: Decided | Completed | Dropped
) -> AgentState:
    """Return the state after a decision or the end of one; a companion's is as it was."""
    match message:
        case Decided() if message.layers is not None:
            mind = body.mind_of(context.packs)
            if mind is not None and mind.autonomous is not None:
                return autonomy.decided(state, context, message)
            return body.decided(state, context, message)
        case Completed(choice=ActionChoice()):
            state = asks.over(state, message.decision_id)
            return autonomy.completed(state, context, message)
        case Completed() if state.character.asked:
            state = _said(state, context, message)
            return asks.over(_judged(state, context, message), message.decision_id)
        case Dropped() if state.character.asked:
            return asks.over(_judged(state, context, message), message.decision_id)
        case _:
            return state


def _judged(
    state: AgentState, context: FoldContext, message: Completed | Dropped
) -> AgentState:
    if not context.settings.characters.falls_back:
        return state
    return failing.ended(state, message)


_LAYERS = ("talker", "single")
"""The layers that talk."""


def _said(state: AgentState, context: FoldContext, message: Completed) -> AgentState:
    """Return the state with what a layer that talks said and thought.

    Its talker is told of it later. Before its ask is forgotten.
    """
    character, mind = state.character, mind_of(context.packs)
    asks = (character.asked.get(each) for each in _LAYERS)
    if not any(each and each.decision_id == message.decision_id for each in asks):
        return state
    if mind is None or mind.talker is None or not mind.talker.words:
        return state
    if not (message.text or message.thought):
        return state
    latest = RememberedWords(said=message.text, thought=message.thought or "")
    words = (*character.words, latest)[-limits.WORDS :]
    return replace(state, character=replace(character, words=words))
