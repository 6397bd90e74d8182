"""Fold what layers of a character ask their models, and the end of each ask."""

from datetime import datetime, timedelta

from msgspec.structs import replace

from projections.folds import timers
from schemas.messages.asks import ModelAsked
from schemas.state.agent import AgentState, Timer
from schemas.state.character import LayerAsk

LAYERS = ("talker", "executor", "autonomous")
"""The purposes of asks that are layers'."""

GRACE = timedelta(seconds=60)
"""How long after its expiry an answer that never came is given up."""


def asked(
    state: AgentState, ask_id: str, message: ModelAsked, event_id: str, now: datetime
) -> AgentState:
    """Return the state in which a layer waits for its model."""
    layer, before = message.purpose, state.character
    first = before.asked.get(layer)
    is_again = first is not None and first.decision_id == message.decision_id
    ask = LayerAsk(
        ask_id=ask_id,
        decision_id=message.decision_id,
        event_id=first.event_id if first is not None and is_again else event_id,
        expires_at=message.expires_at,
        is_again=is_again,
    )
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
    left = state.timers
    if first is not None:
        left = timers.without(left, first.ask_id)
    return replace(
        state,
        character=character,
        asks=state.asks.set(ask_id, "open"),
        timers=timers.added(left, due),
    )


def over(state: AgentState, decision_id: str) -> AgentState:
    """Return the state in which nothing of a decision is waited for by a layer."""
    asked = state.character.asked
    for layer in sorted(asked):
        if asked[layer].decision_id == decision_id:
            id_ = asked[layer].ask_id
            left = timers.without(state.timers, id_)
            character = replace(state.character, asked=asked.delete(layer))
            # Given up, its answer comes too late; one that was heard stays so.
            is_open = state.asks.get(id_) == "open"
            asks = state.asks.set(id_, "late") if is_open else state.asks
            return replace(state, character=character, timers=left, asks=asks)
    return state
