"""Doing what was decided: the action goes out to the world."""

from datetime import datetime, timedelta
from typing import Any

from handlers.mind.context import TurnContext
from schemas.messages.arms import Action
from schemas.messages.asks import DeliveryAsked
from schemas.messages.decisions import Decided
from schemas.packs.characters import CharacterMind
from schemas.values.reasons import Path

_PRIORITY = 0.5


def do(
    turn: TurnContext,
    mind: CharacterMind,
    action: Action,
    arm: str,
    common: dict[str, Any],
) -> None:
    """Decide on an action without a model, and have the world perform it."""
    expires_at = turn.now + timedelta(seconds=turn.settings.ttl_s)
    decision_id = turn.emit(
        Decided(
            **{"greedy_arm": arm, **common},
            path="autonomous",
            arm=arm,
            final=True,
            text=action.type,
            action=action,
            expires_at=expires_at,
        )
    )
    deliver(
        turn, mind, action, decision_id, common["event_id"], "autonomous", expires_at
    )


def deliver(
    turn: TurnContext,
    mind: CharacterMind,
    action: Action,
    decision_id: str,
    event_id: str,
    path: Path,
    expires_at: datetime,
) -> None:
    """Send an action to the world."""
    turn.emit(
        DeliveryAsked(
            decision_id=decision_id,
            event_id=event_id,
            channel=mind.channel,
            text=action.type,
            response_type="observation",
            urgency=0.0,
            path=path,
            action=action,
            output="action",
            priority=_PRIORITY,
            expires_at=expires_at,
            ttl_s=turn.settings.ttl_s,
        )
    )
