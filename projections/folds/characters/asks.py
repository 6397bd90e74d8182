"""Fold what layers of a character ask their models, and the end of each ask."""

from datetime import timedelta
from typing import get_args

from msgspec.structs import replace

from projections.folds import timers
from projections.folds.fold_context import FoldContext
from schemas.messages.asks import ModelAsked, TurnAsked
from schemas.messages.learning import Retrospect
from schemas.state.agent import AgentState, Timer
from schemas.state.character import LayerAsk

_SINGLE = "single"
"""One model that is talker and executor at once."""

_LAYERS = ("talker", "executor", _SINGLE, "autonomous", "review")
"""The purposes of asks that are layers'."""

BACKWARD: tuple[Retrospect, ...] = get_args(Retrospect)
"""Those by which a character looks back."""

_CALLED = {_SINGLE: ("talker", "executor")}
"""Whose turn it was when a layer was asked, if not its own."""

_GRACE = timedelta(seconds=60)
"""How long after its expiry an answer that never came is given up."""


def asked(
    state: AgentState, context: FoldContext, message: ModelAsked | TurnAsked
) -> AgentState:
    """Return the state in which a layer waits for its model, or for its turn to ask it."""
    ask_id, event_id, now = context.output_id, context.input.id, context.now
    is_turn, before = isinstance(message, TurnAsked), state.character
    layer = message.layer if isinstance(message, TurnAsked) else message.purpose
    first = before.asked.get(layer)
    is_same = first is not None and first.decision_id == message.decision_id
    ask = LayerAsk(
        ask_id=ask_id,
        decision_id=message.decision_id,
        event_id=first.event_id if first is not None and is_same else event_id,
        expires_at=message.expires_at,
        is_turn=is_turn,
        is_again=first is not None and is_same and not first.is_turn,
        reason=message.reason or "" if is_turn or layer in BACKWARD else "",
    )
    if first is not None and first.is_turn and is_same:
        ask = replace(ask, answers=first.answers)
    heard = before.heard
    talks = layer == "talker" or (layer == _SINGLE and message.reason is None)
    if heard is not None and talks and heard.is_asked:
        # Asked once, whatever comes of it; what is asked later answers nothing of this.
        if now < heard.until:
            ask = replace(ask, answers=(heard.conversation, heard.turn))
        heard = replace(heard, is_asked=False)
    character = replace(
        before,
        heard=heard,
        asked=before.asked.set(layer, ask),
        called=before.called.update(dict.fromkeys(_CALLED.get(layer, (layer,)), now)),
    )
    due = Timer(due=message.expires_at + _GRACE, id=ask_id, purpose="layer")
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
        if asked[layer].decision_id == decision_id and layer not in BACKWARD:
            return no_more(state, layer)
    return state


def no_more(state: AgentState, layer: str) -> AgentState:
    """Return the state in which a layer waits for nothing."""
    asked = state.character.asked.get(layer)
    if asked is None:
        return state
    left = timers.without(state.timers, asked.ask_id)
    others = state.character.asked.delete(layer)
    # Given up, its answer comes too late; one that was heard stays so.
    is_open = state.asks.get(asked.ask_id) == "open"
    asks = state.asks.set(asked.ask_id, "late") if is_open else state.asks
    character = replace(state.character, asked=others)
    return replace(state, character=character, timers=left, asks=asks)


def is_of_layer(message: ModelAsked) -> bool:
    """Tell whether a layer asks; the reflection of a sleep gives no reason."""
    if message.purpose == "reflection":
        return message.reason is not None
    return message.purpose in _LAYERS
