"""Thinking: a character's layers are asked in order, and the first that acts decides.

An occasion is an event, or a time at which its table of reflexes would act by itself. A time
at which nothing is due is none: the mind tells by `WakeupSet` when it thinks next.
"""

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any

from handlers.mind.characters import asking, reflexes
from handlers.mind.characters.reflexes import Finding
from handlers.mind.context import TurnContext
from projections.folds.characters import body
from schemas.messages.arms import REFLEX, SILENT, Action
from schemas.messages.asks import DeliveryAsked, WakeupSet
from schemas.messages.decisions import Candidate, Decided, LayerVerdict, Salience
from schemas.messages.results import ModelAnswered, ModelFailed
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


def run(turn: TurnContext, timer: Timer) -> None:
    """Run a due timer of a character: it thinks, or waits for a model no longer."""
    if timer.purpose == "layer":
        _give_up(turn, timer.id)
    else:
        _at_timer(turn, timer)


def _at_timer(turn: TurnContext, timer: Timer) -> None:
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


def heard(turn: TurnContext, result: ModelAnswered | ModelFailed) -> bool:
    """Hear a layer's model, and say whether the result was for one."""
    asked = asking.waiting(turn, result.ask_id)
    if asked is None:
        return False
    asking.heard(turn, asked, result)
    _wake_up(turn)
    return True


def _give_up(turn: TurnContext, ask_id: str) -> None:
    """End a layer's wait for its model."""
    asked = asking.waiting(turn, ask_id)
    assert asked is not None, "an ask and its timer come and go together"
    asking.give_up(turn, asked)
    _wake_up(turn)


def _wake_up(turn: TurnContext) -> None:
    mind = body.mind_of(turn.packs)
    if mind is not None:
        _wake(turn, mind)


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
    common = occasion | _common(turn, mind)
    if absent is not None:
        _unless_idle(turn, common, absent, is_event=is_event)
        _wake(turn, mind)
        return
    doing = reflexes.doing_at(character, turn.now)
    found = reflexes.find(mind, fields, doing)
    talks = asking.verdict(turn, mind, character, fields)
    if found.acts:
        # One thing at a time: whoever runs from a wolf says nothing yet.
        common["layers"] = (found.record(), *_not_asked(talks))
        _act(turn, mind, found, common)
    elif talks is not None and talks.verdict == "acts":
        common["layers"] = (found.record(), talks)
        _talk(turn, mind, character, fields, common)
    else:
        common["layers"] = (found.record(), *((talks,) if talks is not None else ()))
        _unless_idle(turn, common, "nothing_due", is_event=is_event)
    _wake(turn, mind)


def _not_asked(talks: LayerVerdict | None) -> tuple[LayerVerdict, ...]:
    if talks is None:
        return ()
    return (LayerVerdict(layer=talks.layer, verdict="not_asked", why="a reflex acts"),)


def _talk(
    turn: TurnContext,
    mind: CharacterMind,
    character: Character,
    fields: Mapping[str, object],
    common: dict[str, Any],
) -> None:
    """Ask the talker's model what to say."""
    layer = mind.talker
    assert layer is not None, "it came to a verdict"
    arm = asking.arm(turn, layer)
    asked = asking.ask(turn, mind, character, fields, turn.next_id)
    turn.emit(
        Decided(
            **common,
            path="llm",
            arm=arm,
            greedy_arm=arm,
            final=False,
            timing="queued",
            expires_at=asked.expires_at,
            candidates=(Candidate(arm=arm, probability=1.0),),
            layer=asking.TALKER,
            prompt_digest=asked.request_hash,
        )
    )
    turn.emit(asked)


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
    due = _next(turn, mind, character)
    if due != character.due:
        turn.emit(WakeupSet(due_at=due))


def _next(
    turn: TurnContext, mind: CharacterMind, character: Character
) -> datetime | None:
    """Return when a layer is due next, if no event comes before."""

    def is_due(tick: datetime, fields: Mapping[str, object]) -> bool:
        doing = reflexes.doing_at(character, tick)
        if reflexes.find(mind, fields, doing).acts:
            return True
        talks = asking.verdict(turn, mind, character, fields, tick)
        return talks is not None and talks.verdict == "acts"

    further = asking.times(turn, mind, character)
    return reflexes.due(character, mind, turn.now, is_due, further)


@by_identity(256)
def _digest(mind: CharacterMind) -> str:
    return digest(mind.model_dump_json(exclude_defaults=True).encode())
