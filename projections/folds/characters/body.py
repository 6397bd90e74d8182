"""Fold what a world reports of a character, and what the character does about it.

The mind looks at a character after the event that it decides on: it calls `sensed` itself,
and the decision's fold comes to the same.
"""

from collections.abc import Sequence
from datetime import datetime, timedelta

import msgspec
from immutables import Map
from msgspec.structs import replace

from projections.folds import timers
from projections.folds.characters import failing, hearing, places, plans
from projections.folds.fold_context import FoldContext
from schemas.messages.arms import reflex_of
from schemas.messages.asks import WakeupSet
from schemas.messages.decisions import Decided
from schemas.messages.sensing import EventRef, Fields, Sensed
from schemas.packs.characters import NO_TABLE, CharacterMind, Need
from schemas.packs.compiled import CompiledPack
from schemas.packs.conditions import field_value
from schemas.state import limits
from schemas.state.agent import AgentState, Timer
from schemas.state.character import Body, Character, Doing, Reading
from schemas.values.exact_math import clamp, round6

_THINK = "think"
"""The id of the timer by which a character thinks of its own accord."""

_MOST = 1e6
"""So much of something is brought at once at most."""


def mind_of(packs: Sequence[CompiledPack]) -> CharacterMind | None:
    """Return what makes the agent a character: the first pack's that has it, by name."""
    for each in packs:
        if each.pack.mind is not None:
            return each.pack.mind
    return None


def sensed(
    state: AgentState,
    mind: CharacterMind,
    event: Sensed,
    now: datetime,
    means: str | None,
) -> Character:
    """Return the character once an event came; `means` is what the pack says it tells."""
    before = plans.settled(state.character, now)
    body, since = before.body, before.since
    if means == "body":
        body = _reported(body, mind, event.fields, now)
        since = since or now
    if _has_talked(mind, before.body, body):
        before = plans.talked(before, now)
    before = replace(before, body=body, since=since)
    if mind.talker is not None:
        heard = hearing.sensed(before.heard, mind.talker, event, now, means)
        before = replace(before, heard=heard)
    doing = before.doing
    if doing is not None and event.outcome is not None:
        # Only the report on what is being done ends it; one on something earlier is late.
        if replied(state, event) != doing.decision_id:
            return before
        if doing.layer == plans.QUEUE:
            amount = _amount(mind, event.fields)
            return plans.ended(before, mind.tactics, event.outcome, amount, now)
        fails = failing.reported(
            before.failing, mind.backoff, doing.behaviour, event.outcome, now
        )
        return replace(before, doing=None, idle_since=now, failing=fails)
    if doing is None and before.idle_since is None:
        return replace(before, idle_since=now)
    return before


def decided(state: AgentState, context: FoldContext, message: Decided) -> AgentState:
    """Return the state after a decision of a character: its body, and what it does now."""
    mind = mind_of(context.packs)
    if mind is None:
        return state
    if mind.place is not None:
        return places.decided(state, context, message, mind.place)
    character = plans.settled(state.character, context.now)
    event = context.input.message
    if isinstance(event, Sensed) and message.event_id == context.input.id:
        declared = context.appearance.domain.event_type
        means = declared.means if declared is not None else None
        character = sensed(state, mind, event, context.now, means)
    kept = _kept_in_mind(mind, message)
    if kept is not None:
        character = plans.remembered(character, kept, context.now)
    elif message.layer in ("reflex", plans.QUEUE):
        begun = _begun if message.layer == "reflex" else _worked
        doing = begun(mind, context.output_id, message, context.now)
        character = replace(character, doing=doing, idle_since=None)
    return replace(state, character=character)


def woken(state: AgentState, message: WakeupSet) -> AgentState:
    """Return the state in which the character thinks next at another time."""
    left = timers.without(state.timers, _THINK)
    if message.due_at is not None:
        left = timers.added(left, Timer(due=message.due_at, id=_THINK, purpose="think"))
    character = replace(state.character, due=message.due_at)
    return replace(state, timers=left, character=character)


def _kept_in_mind(mind: CharacterMind, message: Decided) -> str | None:
    """Return what a decision keeps in mind; None if it asks the world for something."""
    known, action = mind.tactics, message.action
    if known is None or known.remember is None or message.layer != plans.QUEUE:
        return None
    if action is None or action.type != known.remember:
        return None
    return str(action.params.get("text") or action.target or "")


def _has_talked(mind: CharacterMind, before: Body, after: Body) -> bool:
    """Tell whether a conversation is over, after which the executor may be asked."""
    if mind.executor is None or mind.talker is None:
        return False
    name = mind.talker.conversation
    return before.fields.get(name) is True and after.fields.get(name) is not True


def _reported(body: Body, mind: CharacterMind, fields: Fields, now: datetime) -> Body:
    needs, told = body.needs, body.fields
    for name in mind.needs:
        reading = _reading(mind.needs[name], fields, needs.get(name), now)
        if reading is not None:
            needs = needs.set(name, reading)
    for name in fields:
        told = _kept(told, name, fields[name])
    return Body(needs=needs, fields=told, at=now)


def _reading(
    need: Need, fields: Fields, before: Reading | None, now: datetime
) -> Reading | None:
    """Return a need as reported; None if nothing of it was."""
    value, rate = _number(need.field, fields), None
    if need.rate is not None:
        rate = _number(need.rate, fields)
    if value is None and rate is None:
        return None
    if value is not None:
        level = need.satisfaction(value)
    else:
        level = min(max(before.now(now), 0.0), 1.0) if before is not None else 1.0
    if rate is not None:
        speed = need.speed(rate)
    else:
        speed = before.rate if before is not None else 0.0
    return Reading(value=round6(level), at=now, rate=speed)


def _number(name: str, fields: Fields) -> float | None:
    known, value = field_value(name, fields)
    # A bool is an int in Python, and no number of a sensor's.
    if not known or isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return float(value)


def _kept(told: Map[str, object], name: str, value: object) -> Map[str, object]:
    """Return the fields with one more, unless that is too large, or one too many."""
    if name not in told and len(told) >= limits.BODY_FIELDS:
        return told
    size = len(msgspec.json.encode(value))
    return told if size > limits.BODY_FIELD_BYTES else told.set(name, value)


def replied(state: AgentState, event: Sensed) -> str | None:
    """Return the decision that an event reports on; None if it reports on none."""
    reference = event.in_reply_to
    if isinstance(reference, EventRef):
        memory = state.sources.get(reference.source)
        return memory.seen.get(reference.event_id) if memory is not None else None
    return reference


def _begun(
    mind: CharacterMind, id_: str, message: Decided, now: datetime
) -> Doing | None:
    name = reflex_of(message.arm)
    reflex = next((each for each in mind.reflexes if each.name == name), None)
    if reflex is None:
        return None
    behaviour = mind.behaviours[reflex.behaviour]
    return Doing(
        decision_id=id_,
        behaviour=reflex.behaviour,
        priority=mind.priority(reflex),
        since=now,
        until=now + timedelta(seconds=behaviour.lasts_s),
    )


def _worked(
    mind: CharacterMind, id_: str, message: Decided, now: datetime
) -> Doing | None:
    """Return the step of a plan that a decision begins."""
    action = message.action
    if action is None:
        return None
    behaviour = mind.behaviours.get(action.type, NO_TABLE)
    build, amount = action.params.get("for"), action.params.get("amount")
    return Doing(
        decision_id=id_,
        behaviour=action.type,
        priority=behaviour.priority,
        since=now,
        until=now + timedelta(seconds=behaviour.lasts_s),
        layer=plans.QUEUE,
        build=build if isinstance(build, str) else None,
        amount=amount if isinstance(amount, int) else 0,
        is_last=mind.tactics is not None and action.type == mind.tactics.build,
    )


def _amount(mind: CharacterMind, fields: Fields) -> int | None:
    told = _number(mind.tactics.amount, fields) if mind.tactics is not None else None
    return None if told is None else int(clamp(told, 0.0, _MOST))
