"""Acting: a layer that needs no model decides, and the world is asked to do it."""

from datetime import datetime, timedelta
from typing import Any, Literal

from msgspec import Struct

from handlers.mind.context import TurnContext
from schemas.messages.arms import Action
from schemas.messages.asks import DeliveryAsked
from schemas.messages.decisions import Candidate, Decided
from schemas.packs.characters import CharacterMind
from schemas.values.exact_math import clamp
from schemas.values.reasons import Path

_USUAL = 0.5
"""The priority of a delivery that is not urgent."""

_MOST_URGENT = 100.0
"""The priority from which on an action is about survival, and so as urgent as can be."""


class Deed(Struct, frozen=True, kw_only=True):
    """What a layer does."""

    layer: Literal["reflex", "queue"]
    arm: str
    action: Action
    priority: float
    candidates: tuple[Candidate, ...]
    is_inward: bool = False
    """Whether the character does it by itself, without its world."""


def act(
    turn: TurnContext, mind: CharacterMind, deed: Deed, common: dict[str, Any]
) -> None:
    """Decide to do something, and ask the world for it if it is concerned.

    `common` is what all decisions hold.
    """
    urgency = clamp(deed.priority / _MOST_URGENT, 0.0, 1.0)
    expires_at = turn.now + timedelta(seconds=turn.settings.ttl_s)
    words = deed.action.type
    decision_id = turn.emit(
        Decided(
            **common,
            path=deed.layer,
            arm=deed.arm,
            greedy_arm=deed.arm,
            final=True,
            text=words,
            action=deed.action,
            urgency=urgency,
            expires_at=expires_at,
            candidates=deed.candidates,
            layer=deed.layer,
        )
    )
    if deed.is_inward:
        return
    event_id = common["event_id"]
    deliver(
        turn, mind, deed.action, decision_id, event_id, deed.layer, expires_at, urgency
    )


def deliver(
    turn: TurnContext,
    mind: CharacterMind,
    action: Action,
    decision_id: str,
    event_id: str,
    path: Path,
    expires_at: datetime,
    urgency: float | None = None,
) -> None:
    """Ask the world to do something; without an urgency it is served as most things are."""
    turn.emit(
        DeliveryAsked(
            decision_id=decision_id,
            event_id=event_id,
            channel=mind.channel,
            text=action.type,
            response_type="observation",
            urgency=urgency or 0.0,
            path=path,
            action=action,
            output="action",
            priority=_USUAL if urgency is None else urgency,
            expires_at=expires_at,
            ttl_s=turn.settings.ttl_s,
        )
    )
