"""Rapport: how a person and the companion stand, moved by that person's votes.

r starts at 0.5. A positive vote of weight w adds 0.05 w (1 - r), a negative one takes
0.10 w r. Before each vote r drifts toward 0.5 with a half-life of 30 days.
"""

from dataclasses import dataclass
from datetime import datetime

from msgspec.structs import replace

from schemas.state.agent import Rapport
from schemas.values.exact_math import clamp, power, round6

NEUTRAL = 0.5
_DAY_S = 24 * 3600.0


@dataclass(frozen=True, slots=True)
class Pace:
    """How fast rapport moves."""

    gain: float = 0.05
    """What a positive vote adds, of what is missing to 1."""
    loss: float = 0.10
    """What a negative vote takes, of what there is."""
    half_life_days: float = 30.0
    """In how many days half of it is gone that no vote renewed."""


USUAL = Pace()


def value_at(rapport: Rapport, now: datetime, pace: Pace = USUAL) -> float:
    """Rapport as of now: what no vote renewed drifts toward neutral."""
    if rapport.at is None:
        return rapport.value
    elapsed = max(0.0, (now - rapport.at).total_seconds())
    kept = power(0.5, elapsed / (pace.half_life_days * _DAY_S))
    return round6(NEUTRAL + (rapport.value - NEUTRAL) * kept)


def voted(
    rapport: Rapport,
    decision_id: str,
    vote: float,
    now: datetime,
    pace: Pace = USUAL,
) -> Rapport:
    """Rapport after a vote on a decision, which replaces the person's earlier one on it."""
    r = value_at(rapport, now, pace) - (rapport.deltas.get(decision_id) or 0.0)
    r = clamp(r, 0.0, 1.0)
    delta = pace.gain * vote * (1.0 - r) if vote > 0 else pace.loss * vote * r
    return replace(
        rapport,
        value=round6(clamp(r + delta, 0.0, 1.0)),
        at=now,
        deltas=rapport.deltas.set(decision_id, round6(delta)),
    )
