"""What moves the traits: the template chosen, overrides, mood, and signs of a context.

Signs and mood follow from decisions, outcomes, votes and what people's events feel like.
"""

from datetime import datetime, timedelta

from immutables import Map
from msgspec.structs import replace

from projections.folds import clock
from projections.folds.fold_context import FoldContext, Origin
from schemas.codec.catalogue import OutputMessage
from schemas.messages.decisions import Decided
from schemas.messages.executive import (
    PersonalitySelected,
    TraitAdjusted,
    UserStateChanged,
)
from schemas.messages.learning import FeedbackApplied, OutcomeObserved
from schemas.messages.notes import ControlApplied
from schemas.messages.sensing import Sensed
from schemas.state import limits
from schemas.state.agent import AgentState
from schemas.state.executive import (
    EVERYBODY,
    Executive,
    Mood,
    Override,
    Personality,
    Sign,
)
from schemas.values.bounded_map import EMPTY
from schemas.values.exact_math import power, round6

THREAT_FROM = 0.7
"""The threat from which the context is `high_threat`."""
OPPORTUNITY_FROM = 0.6

_PULL = 0.3
"""How far a signal pulls the mood towards itself; ours, the seed gives no number."""
_FADED = 0.000001


def selected(
    executive: Executive, message: PersonalitySelected, _: Origin
) -> Executive:
    """Return the executive's state with another template."""
    personality = replace(executive.personality, template=message.template)
    return replace(executive, personality=personality)


def adjusted(executive: Executive, message: TraitAdjusted, origin: Origin) -> Executive:
    """Return the executive's state with a trait moved, or no longer."""
    personality, who = executive.personality, message.person or EVERYBODY
    # Dropped here, since no timer is worth that: one that ended is in nobody's way.
    own = lasting(personality.overrides.get(who, EMPTY), origin.at)
    if message.by_amount is not None:
        until = None
        if message.for_s is not None:
            until = origin.at + timedelta(seconds=message.for_s)
        moved = Override(
            amount=message.by_amount, until=until, since=origin.at, by=message.by
        )
        own = own.set(message.trait, moved)
    elif message.trait in own:
        own = own.delete(message.trait)
    personality = replace(personality, overrides=personality.overrides.set(who, own))
    return replace(executive, personality=personality)


def lasting(own: Map[str, Override], now: datetime) -> Map[str, Override]:
    """Return a person's overrides, by trait, that have not ended."""
    for trait in sorted(own):
        until = own[trait].until
        if until is not None and until <= now:
            own = own.delete(trait)
    return own


def felt(state: AgentState, context: FoldContext, message: OutputMessage) -> AgentState:
    """Return the state after what an output shows of contexts and mood."""
    match message:
        case Decided():
            return _decided(state, context, message)
        case OutcomeObserved(outcome="success" | "fail"):
            return _turned_out(state, context, message)
        case FeedbackApplied() if not message.is_passed_on:
            return _moved(state, context, message.value)
        case ControlApplied():
            return _told(state, context)
        case _:
            return state


def mood_at(mood: Mood | None, now: datetime, half_life_s: float) -> Mood | None:
    """Return the mood as of `now`: it fades by half each half-life; None once neutral."""
    if mood is None:
        return None
    # An agent's clock may be set back: then nothing has faded.
    elapsed_s = max(0.0, (now - mood.at).total_seconds())
    left = power(0.5, elapsed_s / half_life_s)
    valence, arousal = round6(mood.valence * left), round6(mood.arousal * left)
    if abs(valence) <= _FADED and arousal <= _FADED:
        return None
    return Mood(valence=valence, arousal=arousal, at=now)


def moved(mood: Mood | None, signal: float, now: datetime, half_life_s: float) -> Mood:
    """Return the mood pulled towards a signal, from -1 bad to 1 good.

    valence += 0.3 (signal - valence), arousal += 0.3 (|signal| - arousal), so both keep
    their bounds whatever comes.
    """
    was = mood_at(mood, now, half_life_s)
    valence, arousal = (was.valence, was.arousal) if was is not None else (0.0, 0.0)
    return Mood(
        valence=round6(valence + _PULL * (signal - valence)),
        arousal=round6(arousal + _PULL * (abs(signal) - arousal)),
        at=now,
    )


def _decided(state: AgentState, context: FoldContext, message: Decided) -> AgentState:
    event, id_ = context.input.message, context.input.id
    # A timer's decision is on no event, and shows nothing.
    if not isinstance(event, Sensed) or message.event_id != id_:
        return state
    personality = _begun(state, context.now)
    weighed = message.salience.dimensions
    threat, opportunity = weighed.get("threat", 0.0), weighed.get("opportunity", 0.0)
    if threat >= THREAT_FROM:
        sign = Sign(at=context.now, value=threat, cause=id_)
        personality = replace(personality, threat=sign)
    if opportunity >= OPPORTUNITY_FROM:
        sign = Sign(at=context.now, value=opportunity, cause=id_)
        personality = replace(personality, opportunity=sign)
    if personality is not state.executive.personality:
        state = _with(state, personality)
    feels = event.feels(context.settings.executive.feeling)
    if feels is None:
        return state
    return _feels(state, context, event.person, feels)


def _begun(state: AgentState, now: datetime) -> Personality:
    """Return the personality, with the time of the first decision by a session's clock."""
    personality, session = state.executive.personality, state.session
    if session is None or session.clock == "broker":
        return personality
    # Its start was told by another clock, which may be years apart (ADR 0014).
    if personality.began_in == session.id or clock.told_by(state) != session.id:
        return personality
    return replace(personality, began_in=session.id, began_at=now)


def session_began(state: AgentState) -> datetime | None:
    """Return when the session began by the clock in force; None if that is not known."""
    session, personality = state.session, state.executive.personality
    if session is None or clock.told_by(state) != session.id:
        return session.started_at if session is not None else None
    return personality.began_at if personality.began_in == session.id else None


def _told(state: AgentState, context: FoldContext) -> AgentState:
    told = context.input.message
    if not isinstance(told, UserStateChanged) or told.sentiment is None:
        return state
    return _feels(state, context, told.person, told.sentiment)


def _feels(
    state: AgentState, context: FoldContext, person: str | None, value: float
) -> AgentState:
    personality, who = state.executive.personality, person or EVERYBODY
    sign = Sign(at=context.now, value=round6(value), cause=context.input.id)
    sentiments = personality.sentiments.set(who, sign)
    state = _with(state, replace(personality, sentiments=sentiments))
    return _moved(state, context, value)


def _turned_out(
    state: AgentState, context: FoldContext, message: OutcomeObserved
) -> AgentState:
    if message.outcome == "success":
        return _moved(state, context, 1.0)
    personality = state.executive.personality
    sign = Sign(at=context.now, value=1.0, cause=message.fire_id)
    failures = (*personality.failures, sign)[-limits.FAILURES :]
    state = _with(state, replace(personality, failures=failures))
    return _moved(state, context, -1.0)


def _moved(state: AgentState, context: FoldContext, signal: float) -> AgentState:
    how = context.settings.executive
    assert how is not None
    personality = state.executive.personality
    mood = moved(personality.mood, signal, context.now, how.mood_half_life_s)
    return _with(state, replace(personality, mood=mood))


def _with(state: AgentState, personality: Personality) -> AgentState:
    executive = replace(state.executive, personality=personality)
    return replace(state, executive=executive)
