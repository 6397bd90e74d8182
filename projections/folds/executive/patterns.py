"""Count how often events of each sort come, in windows of equal length, and how novel it is."""

from datetime import datetime, timedelta

from msgspec.structs import replace

from projections.folds.events import sort_of
from projections.folds.fold_context import FoldContext
from schemas.messages.sensing import Sensed
from schemas.state.agent import AgentState, within
from schemas.state.executive import Pattern
from schemas.values.exact_math import round6
from schemas.values.executive_settings import ExecutiveSettings


def counted(state: AgentState, context: FoldContext, event: Sensed) -> AgentState:
    """Return the state with one more event of its sort, where observations are on."""
    settings = context.settings.executive
    # What a person says is no pattern of the world.
    if not settings.observation or event.is_persons:
        return state
    held, sort = state.executive.initiative.patterns, sort_of(event)
    window = timedelta(seconds=settings.observation_interval_s)
    held = held.set(sort, _after(held.get(sort), context.now, window))
    return within(state, "executive", "initiative", patterns=held)


def _after(known: Pattern | None, now: datetime, window: timedelta) -> Pattern:
    # One that begins later is of another clock.
    if known is None or not known.begun <= now < known.begun + 2 * window:
        return Pattern(begun=now, at=now, count=1)
    if now < known.begun + window:
        return replace(known, at=now, count=known.count + 1)
    return Pattern(begun=known.begun + window, at=now, count=1, before=known.count)


def _novelty(pattern: Pattern) -> float:
    """Return how new it is that so many came: 1 if none did before, 0 if as many did."""
    return round6(max(0.0, 1.0 - pattern.before / pattern.count))


def is_worth_a_word(pattern: Pattern, settings: ExecutiveSettings) -> bool:
    """Tell whether events came often, and did not before."""
    is_often = pattern.count >= settings.observation_events
    return is_often and _novelty(pattern) >= settings.observation_novelty
