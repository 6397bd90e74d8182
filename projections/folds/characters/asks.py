"""Fold what layers of a character ask their models, and the end of each ask."""

from datetime import datetime, timedelta

from msgspec.structs import replace

from projections.folds import timers
from schemas.messages.asks import ModelAsked
from schemas.state.agent import AgentState, Timer
from schemas.state.character import LayerAsk

LAYERS = ("talker", "executor")
"""The purposes of asks that are layers'."""

GRACE = timedelta(seconds=60)
"""How long after its expiry an answer that never came is given up."""


def asked(
    state: AgentState, ask_id: str, message: ModelAsked, event_id: str, now: datetime
) -> AgentState:
    """Return the state in which a layer waits for its model."""
    ask = LayerAsk(
        ask_id=ask_id,
        decision_id=message.decision_id,
        event_id=event_id,
        expires_at=message.expires_at,
    )
    layer, before = message.purpose, state.character
    heard = before.heard
    if heard is not None and layer == "talker" and heard.is_asked:
        # Asked once, whatever comes of it; what is asked later answers nothing of this.
        if now < heard.until:
            ask = replace(ask, answers=(heard.conversation, heard.turn))
        heard = replace(heard, is_asked=False)
    character = replace(
        before,
        heard=heard,
        asked=before.asked.set(layer, ask),
        called=before.called.set(layer, now),
    )
    due = Timer(due=message.expires_at + GRACE, id=ask_id, purpose="layer")
    return replace(
        state,
        character=character,
        asks=state.asks.set(ask_id, "open"),
        timers=timers.added(state.timers, due),
    )


def over(state: AgentState, decision_id: str) -> AgentState:
    """Return the state in which nothing of a decision is waited for by a layer."""
    asked = state.character.asked
    for layer in sorted(asked):
        if asked[layer].decision_id == decision_id:
            left = timers.without(state.timers, asked[layer].ask_id)
            character = replace(state.character, asked=asked.delete(layer))
            return replace(state, character=character, timers=left)
    return state
