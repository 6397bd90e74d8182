"""Checking in: ask how things are, when somebody is there and nothing was said for a while."""

from datetime import timedelta

from handlers.mind.context import TurnContext
from handlers.mind.flows.initiate import Initiative
from handlers.mind.flows.openings import Kind, Opening, Saying, phrased
from handlers.mind.stages import opportunity
from schemas.messages.arms import CHECK_IN
from schemas.values.executive_settings import ExecutiveSettings

TTL_S = 600.0
"""How long a check-in that waits for a break is worth saying."""


def _opening(
    turn: TurnContext, settings: ExecutiveSettings, about: str
) -> Opening | None:
    first = opportunity.first_tick(turn.state, settings, turn.now)
    return None if first is None else Opening(first)


def _words(turn: TurnContext, about: str) -> tuple[str, ...]:
    return phrased(turn, lambda phrases: phrases.check_ins)


def _initiative(turn: TurnContext, saying: Saying) -> Initiative:
    return Initiative(
        timer=saying.timer.id,
        kind=CHECK_IN,
        arm=CHECK_IN,
        text=saying.text,
        response_type="check_in",
        urgency=0.0,
        expires_at=turn.now + timedelta(seconds=TTL_S),
    )


KIND = Kind(
    CHECK_IN,
    lambda settings: settings.check_in,
    _opening,
    _words,
    _initiative,
    lambda settings: settings.check_in_interval_s,
)
