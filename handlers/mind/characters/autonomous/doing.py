"""Doing what was decided: the action goes out to the world."""

from datetime import timedelta
from typing import Any

from handlers.mind.characters.acting import deliver
from handlers.mind.context import TurnContext
from schemas.messages.arms import Action
from schemas.messages.decisions import Decided
from schemas.packs.characters import CharacterMind


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
