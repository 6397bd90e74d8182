"""Thinking: a character's layers are asked in order, and the first that acts decides.

An occasion is an event, or a time at which its table of reflexes would act by itself. A time
at which nothing is due is none: the mind tells by `WakeupSet` when it thinks next.
"""

from datetime import timedelta
from typing import Any

from handlers.mind.characters import reflexes
from handlers.mind.characters.reflexes import Finding
from handlers.mind.context import TurnContext
from projections.folds.characters import body
from schemas.messages.arms import REFLEX, SILENT, Action
from schemas.messages.asks import DeliveryAsked, WakeupSet
from schemas.messages.decisions import Candidate, Decided, Salience
from schemas.messages.sensing import Sensed
from schemas.packs.characters import CharacterMind
from schemas.state.agent import Timer
from schemas.state.character import Character
from schemas.values.by_identity import by_identity
from schemas.values.exact_math import clamp
from schemas.values.ids import digest
from schemas.values.reasons import Silence

STRATEGY = "layers"
"""What chooses among a character's arms, in the place of a strategy's name."""
VERSION = 1

SOURCE = "echoic"
"""Who occasions what no sensor does, and its domain."""

_NOTHING_WEIGHED = Salience(dimensions={}, score=0.0, sensitivity=1.0, effective=0.0)
_MOST_URGENT = 100.0
"""The priority from which on a reflex is about survival, and so as urgent as can be."""


def on_event(turn: TurnContext, event: Sensed, mind: CharacterMind) -> None:
    """Decide on an event: what the character does after it, if it does anything new."""
    domain = turn.appearance.domain
    means = domain.event_type.means if domain.event_type is not None else None
    after = body.sensed(turn.state, mind, event, turn.now, means)
    occasion = {
        "event_id": turn.input.id,
        "source": event.source,
        "type": event.type,
        "domain": domain.name,
        "person": event.person,
    }
    _decide(turn, mind, after, occasion, is_event=True)


def at_timer(turn: TurnContext, timer: Timer) -> None:
    """Decide at a time that was told by `WakeupSet`."""
    mind = body.mind_of(turn.packs)
    if mind is None:
        # The pack that made it a character is gone.
        turn.emit(WakeupSet())
        return
    occasion = {
        "event_id": turn.next_id,
        "timer": timer.id,
        "source": SOURCE,
        "type": "think",
        "domain": SOURCE,
    }
    _decide(turn, mind, turn.state.character, occasion, is_event=False)


def _decide(
    turn: TurnContext,
    mind: CharacterMind,
    character: Character,
    occasion: dict[str, Any],
    *,
    is_event: bool,
) -> None:
    fields = reflexes.fields_at(character, mind, turn.now)
    absent = reflexes.absence(mind, fields)
    doing = reflexes.doing_at(character, turn.now)
    found = reflexes.find(mind, fields, doing)
    common = occasion | _common(turn, mind)
    if absent is not None:
        _unless_idle(turn, common, absent, is_event=is_event)
    elif found.acts:
        _act(turn, mind, found, common)
    else:
        common["layers"] = (found.record(),)
        _unless_idle(turn, common, "nothing_due", is_event=is_event)
    _wake(turn, mind)


def _unless_idle(
    turn: TurnContext, common: dict[str, Any], why: Silence, *, is_event: bool
) -> None:
    """Record that nothing is done about an event; a time with nothing to do is no occasion."""
    if not is_event:
        return
    turn.emit(
        Decided(
            **{"layers": (), **common},
            path="none",
            arm=SILENT,
            greedy_arm=SILENT,
            silence=why,
            final=True,
        )
    )


def _act(
    turn: TurnContext, mind: CharacterMind, found: Finding, common: dict[str, Any]
) -> None:
    best = found.best
    assert best is not None, "what acts is a reflex"
    arm = f"{REFLEX}{best.name}"
    urgency = clamp(mind.priority(best) / _MOST_URGENT, 0.0, 1.0)
    expires_at = turn.now + timedelta(seconds=turn.settings.ttl_s)
    action = Action(type=best.behaviour, target=best.target)
    decision_id = turn.emit(
        Decided(
            **common,
            path="reflex",
            arm=arm,
            greedy_arm=arm,
            final=True,
            text=best.behaviour,
            action=action,
            urgency=urgency,
            expires_at=expires_at,
            candidates=_candidates(found),
            layer=reflexes.LAYER,
            layers=(found.record(),),
        )
    )
    turn.emit(
        DeliveryAsked(
            decision_id=decision_id,
            event_id=common["event_id"],
            channel=mind.channel,
            text=best.behaviour,
            response_type="observation",
            urgency=urgency,
            path="reflex",
            action=action,
            output="action",
            priority=urgency,
            expires_at=expires_at,
            ttl_s=turn.settings.ttl_s,
        )
    )


def _candidates(found: Finding) -> tuple[Candidate, ...]:
    """Return the reflexes that hold: the best is taken for certain, no draw is needed."""
    return tuple(
        Candidate(
            arm=f"{REFLEX}{each.name}", probability=1.0 if each is found.best else 0.0
        )
        for each in found.holding
    )


def _common(turn: TurnContext, mind: CharacterMind) -> dict[str, Any]:
    session = turn.state.session
    return {
        "strategy": STRATEGY,
        "strategy_version": VERSION,
        "config_hash": _digest(mind),
        "salience": _NOTHING_WEIGHED,
        "probability": 1.0,
        "session_id": session.id if session else None,
        "chain": turn.state.chain,
    }


def _wake(turn: TurnContext, mind: CharacterMind) -> None:
    """Tell when the character thinks next of its own accord, if that has changed."""
    character = turn.state.character
    due = reflexes.due(character, mind, turn.now)
    if due != character.due:
        turn.emit(WakeupSet(due_at=due))


@by_identity(256)
def _digest(mind: CharacterMind) -> str:
    return digest(mind.model_dump_json(exclude_defaults=True).encode())
