"""Fold who is where at a place, and the conversations that it owns."""

from datetime import datetime

from immutables import Map
from msgspec.structs import replace

from projections.folds.fold_context import FoldContext
from schemas.messages.conversations import ConversationMoved
from schemas.messages.decisions import Decided
from schemas.messages.sensing import Fields, Sensed
from schemas.packs.characters import Place
from schemas.state import limits
from schemas.state.agent import AgentState
from schemas.state.character import Present
from schemas.values.exact_math import clamp, round6

AGENT = "agent"
"""The field that tells whom an event is about."""


def sensed(
    present: Map[str, Present], rules: Place, event: Sensed, now: datetime
) -> Map[str, Present]:
    """Return who is where once an event came."""
    agent = event.fields.get(AGENT)
    if not isinstance(agent, str):
        return present
    if event.type == rules.gone:
        return present.delete(agent) if agent in present else present
    if event.type != rules.position:
        return present
    x, y = number(event.fields, "x"), number(event.fields, "y")
    if x is None or y is None:
        return present
    if agent not in present and len(present) >= limits.PRESENT:
        # Whoever has not been heard of for longest is forgotten.
        oldest = min(sorted(present), key=lambda each: present[each].at)
        present = present.delete(oldest)
    before, told = present.get(agent), number(event.fields, "extraversion")
    known = before.extraversion if before is not None else 0.5
    extraversion = known if told is None else round6(clamp(told, 0.0, 1.0))
    here = Present(x=round6(x), y=round6(y), extraversion=extraversion, at=now)
    return present.set(agent, here)


def decided(
    state: AgentState, context: FoldContext, message: Decided, rules: Place
) -> AgentState:
    """Return the state after a decision of a place."""
    event, before = context.input.message, state.character
    if not isinstance(event, Sensed) or message.event_id != context.input.id:
        return state
    present = sensed(before.place.present, rules, event, context.now)
    place = replace(before.place, present=present)
    return replace(state, character=replace(before, place=place))


def moved(state: AgentState, message: ConversationMoved) -> AgentState:
    """Return the state in which a conversation goes on differently, or is over."""
    before, after = state.character.place, message.after
    others = before.conversations
    if after is None:
        left = tuple(each for each in others if each.id != message.conversation_id)
    elif any(each.id == after.id for each in others):
        left = tuple(after if each.id == after.id else each for each in others)
    else:
        left = (*others, after)[-limits.CONVERSATIONS :]
    place = replace(before, conversations=left)
    return replace(state, character=replace(state.character, place=place))


def number(fields: Fields, name: str) -> float | None:
    """Return a field that is a number; None if it is none."""
    value = fields.get(name)
    # A bool is an int in Python.
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return float(value)
