"""Occasions of a character's decisions: an event, or a time that it told before."""

from typing import Any

from handlers.mind.context import TurnContext
from schemas.messages.arms import SILENT
from schemas.messages.decisions import Decided, Salience
from schemas.messages.sensing import Sensed
from schemas.packs.characters import CharacterMind
from schemas.state.agent import Timer
from schemas.values.by_identity import by_identity
from schemas.values.ids import digest
from schemas.values.reasons import Silence

STRATEGY = "layers"
"""What chooses among a character's arms, in the place of a strategy's name."""
VERSION = 1

_SOURCE = "echoic"
"""Who occasions what no sensor does, and its domain."""

_NOTHING_WEIGHED = Salience(dimensions={}, score=0.0, sensitivity=1.0, effective=0.0)


def meaning(turn: TurnContext) -> str | None:
    """Return what the event at hand tells besides, as its pack declares it."""
    declared = turn.appearance.domain.event_type
    return declared.means if declared is not None else None


def of_event(turn: TurnContext, event: Sensed) -> dict[str, Any]:
    """Return the fields by which a decision names its event."""
    return {
        "event_id": turn.input.id,
        "source": event.source,
        "type": event.type,
        "domain": turn.appearance.domain.name,
        "person": event.person,
    }


def of_timer(turn: TurnContext, timer: Timer) -> dict[str, Any]:
    """Return the fields by which a decision names its time."""
    return {
        "event_id": turn.next_id,
        "timer": timer.id,
        "source": _SOURCE,
        "type": "think",
        "domain": _SOURCE,
    }


def common(
    turn: TurnContext, mind: CharacterMind, strategy: str = STRATEGY
) -> dict[str, Any]:
    """Return the fields that all decisions of a character have."""
    session = turn.state.session
    return {
        "strategy": strategy,
        "strategy_version": VERSION,
        "config_hash": _digest(mind),
        "salience": _NOTHING_WEIGHED,
        "probability": 1.0,
        "session_id": session.id if session else None,
        "chain": turn.state.chain,
    }


def unless_idle(
    turn: TurnContext, common: dict[str, Any], why: Silence, *, is_event: bool
) -> None:
    """Record that nothing is done about an event; a time with nothing to do is no occasion."""
    if is_event:
        silent(turn, common, why)


def silent(turn: TurnContext, common: dict[str, Any], why: Silence) -> None:
    """Record that nothing is done."""
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


@by_identity(256)
def _digest(mind: CharacterMind) -> str:
    return digest(mind.model_dump_json(exclude_defaults=True).encode())
