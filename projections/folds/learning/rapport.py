"""Rapport: how well a person and the agent get on, 0 to 1, moved by that person's votes.

r starts at 0.5. A positive vote v adds 0.05 v (1 - r), a negative one takes 0.10 |v| r.
Before each vote r decays toward 0.5 with a half-life of 30 days, unless set otherwise.
"""

from datetime import datetime

from msgspec.structs import replace

from schemas.state.agent import Rapport
from schemas.values.exact_math import clamp, power, round6
from schemas.values.rapport_pace import USUAL, Pace

NEUTRAL = 0.5
_DAY_S = 24 * 3600.0


def value_at(rapport: Rapport, now: datetime, pace: Pace = USUAL) -> float:
    """Return rapport as of `now`, decayed toward neutral since the last vote."""
    if rapport.at is None:
        return rapport.value
    # An agent's clock may be set back: no decay then, rather than growth.
    elapsed = max(0.0, (now - rapport.at).total_seconds())
    kept = power(0.5, elapsed / (pace.half_life_days * _DAY_S))
    return round6(NEUTRAL + (rapport.value - NEUTRAL) * kept)


def voted(
    rapport: Rapport, decision_id: str, vote: float, now: datetime, pace: Pace = USUAL
) -> Rapport:
    """Return rapport after a vote, which replaces the person's earlier one on the decision."""
    # The earlier vote is taken back by the delta that was stored: computed again from
    # today's value it would be another number.
    r = value_at(rapport, now, pace) - (rapport.deltas.get(decision_id) or 0.0)
    r = clamp(r, 0.0, 1.0)
    delta = pace.gain * vote * (1.0 - r) if vote > 0 else pace.loss * vote * r
    return replace(
        rapport,
        value=round6(clamp(r + delta, 0.0, 1.0)),
        at=now,
        deltas=rapport.deltas.set(decision_id, round6(delta)),
    )
