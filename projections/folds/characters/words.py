"""Fold what a character said and thought, as far as its talker is told of it later."""

from msgspec.structs import replace

from projections.folds.characters.body import mind_of
from projections.folds.fold_context import FoldContext
from schemas.messages.decisions import Completed
from schemas.state import limits
from schemas.state.agent import AgentState
from schemas.state.character import Words

LAYERS = ("talker", "single")
"""The layers that talk."""


def said(state: AgentState, context: FoldContext, message: Completed) -> AgentState:
    """Return the state after a layer's model answered; before its ask is forgotten."""
    character, mind = state.character, mind_of(context.packs)
    asks = (character.asked.get(each) for each in LAYERS)
    if not any(each and each.decision_id == message.decision_id for each in asks):
        return state
    if mind is None or mind.talker is None or not mind.talker.words:
        return state
    if not (message.text or message.thought):
        return state
    latest = Words(said=message.text, thought=message.thought or "")
    words = (*character.words, latest)[-limits.WORDS :]
    return replace(state, character=replace(character, words=words))
