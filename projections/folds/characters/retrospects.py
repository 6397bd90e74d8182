"""Fold how an autonomous character looks back: what is due, and what it remembers of it."""

from datetime import datetime
from typing import get_args

from msgspec.structs import replace

from projections.folds.characters import asks, body, situations
from projections.folds.characters.situations import Surroundings
from projections.folds.fold_context import FoldContext
from schemas.messages.learning import InsightFormed, RetrospectCause
from schemas.packs.autonomous import Autonomous, Reflections
from schemas.state import limits
from schemas.state.agent import AgentState
from schemas.state.autonomy import Act, Autonomy
from schemas.state.character import LayerAsk
from schemas.values.exact_math import round6, total

_IMPORTANCE = 1.0
"""Of an insight (upstream)."""

_ACTION = "Reflect"
"""What stands as an insight's action among the episodes."""


def unreflected(autonomy: Autonomy) -> tuple[Act, ...]:
    """Return the actions that ended since the last reflection, oldest first."""
    since: list[Act] = []
    for each in reversed(autonomy.acts):
        if each.decision_id == autonomy.reflected:
            break
        if each.outcome is not None:
            since.append(each)
    return tuple(reversed(since))


def due(autonomy: Autonomy, how: Reflections) -> RetrospectCause | None:
    """Return why it is time to reflect; None if it is not.

    Insights have no part in it, so that none leads to the next.
    """
    since = unreflected(autonomy)
    if len(since) >= how.every:
        return "actions"
    weight = round6(total(each.importance for each in since))
    return "importance" if weight >= how.importance else None


def cause_of(asked: LayerAsk) -> RetrospectCause:
    """Return why a model was asked to look back."""
    causes = (each for each in get_args(RetrospectCause) if each == asked.reason)
    return next(causes, "asked")


def formed(
    state: AgentState, context: FoldContext, message: InsightFormed
) -> AgentState:
    """Return the state in which a character remembers what it found; it asks no more."""
    state = asks.no_more(state, message.of)
    mind = body.mind_of(context.packs)
    if mind is None or mind.autonomous is None:
        return state
    how, character = mind.autonomous, state.character
    here = situations.surroundings(how, character.body.fields)
    known = found(character.autonomy, how, here, message, context.now)
    return replace(state, character=replace(character, autonomy=known))


def found(
    known: Autonomy,
    how: Autonomous,
    here: Surroundings,
    message: InsightFormed,
    now: datetime,
) -> Autonomy:
    """Return what is known once something was found by looking back."""
    if message.of == "reflection":
        known = replace(known, reflected=message.until)
    else:
        known = replace(known, reviewed=known.count)
    if not message.text:
        return known
    insight = Act(
        decision_id=message.until,
        at=now,
        action=_ACTION,
        by="reflection",
        situation=situations.fingerprint(how, here, known.acts),
        importance=_IMPORTANCE,
        outcome="succeeded",
        thought=message.text[: limits.INSIGHT],
        position=here.position,
    )
    return replace(known, insights=(*known.insights, insight)[-limits.INSIGHTS :])
