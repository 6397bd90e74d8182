"""Recall: which episodes a model is told of."""

from collections.abc import Sequence
from datetime import datetime

from projections.folds.characters import situations
from schemas.state.autonomy import Act
from schemas.values.exact_math import power, round6

TOP = 5
_RECENCY, _IMPORTANCE, _RELEVANCE = 0.4, 0.3, 0.3
"""Upstream's weights."""
_HALF_LIFE_S = 600.0
"""Ten minutes of the world's time."""


def recalled(
    acts: Sequence[Act], situation: str, now: datetime, top: int = TOP
) -> tuple[Act, ...]:
    """Return the episodes worth most here and now, best first; of equal ones the newest.

    Of what happened at one time the later of `acts` is the newer one.
    """
    # `sorted` keeps the order of equal ones, so the newest come first to begin with.
    ended = [each for each in acts[::-1] if each.outcome is not None]
    newest = sorted(ended, key=lambda act: act.at, reverse=True)
    best = sorted(newest, key=lambda act: -worth(act, situation, now))
    return tuple(best[:top])


def worth(act: Act, situation: str, now: datetime) -> float:
    """Return how much an episode is worth: by its age, its importance, and how alike it is."""
    age_s = max((now - act.at).total_seconds(), 0.0)
    return round6(
        _RECENCY * power(2.0, -age_s / _HALF_LIFE_S)
        + _IMPORTANCE * act.importance
        + _RELEVANCE * situations.relevance(act.situation, situation)
    )
