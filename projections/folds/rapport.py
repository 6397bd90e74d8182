"""Rapport: how a person and the companion stand, moved by that person's votes.

r starts at 0.5. A positive vote of weight w adds 0.05 w (1 - r), a negative one takes
0.10 w r. Before each vote r drifts toward 0.5 with a half-life of 30 days.
"""

from datetime import datetime

from msgspec.structs import replace

from schemas.numbers import clamp, power, round6
from schemas.state import Rapport

NEUTRAL = 0.5
_GAIN = 0.05
_LOSS = 0.10
_HALF_LIFE_S = 30 * 24 * 3600.0


def value_at(rapport: Rapport, now: datetime) -> float:
    """Rapport as of now: what no vote renewed drifts toward neutral."""
    if rapport.at is None:
        return rapport.value
    elapsed = max(0.0, (now - rapport.at).total_seconds())
    kept = power(0.5, elapsed / _HALF_LIFE_S)
    return round6(NEUTRAL + (rapport.value - NEUTRAL) * kept)


def voted(rapport: Rapport, decision_id: str, vote: float, now: datetime) -> Rapport:
    """Rapport after a vote on a decision, which replaces the person's earlier one on it."""
    r = value_at(rapport, now) - (rapport.deltas.get(decision_id) or 0.0)
    r = clamp(r, 0.0, 1.0)
    delta = _GAIN * vote * (1.0 - r) if vote > 0 else _LOSS * vote * r
    return replace(
        rapport,
        value=round6(clamp(r + delta, 0.0, 1.0)),
        at=now,
        deltas=rapport.deltas.set(decision_id, round6(delta)),
    )
