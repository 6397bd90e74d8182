"""Habituation: an event like one that passed lately matters less, and recovers.

s = 1 - 0.9 e^(-t/tau) since the last like event that passed the gate: 0.1 at once, 1 in
the end. tau is 60 s in games, 180 s at work, 300 s at home, 120 s elsewhere, and 30 s in a
burst of 5 like events within 10 s.
"""

from collections.abc import Sequence
from datetime import datetime

from msgspec.structs import replace

from schemas.state import limits
from schemas.state.agent import Habit
from schemas.values import ids, vectors
from schemas.values.exact_math import exp, round6
from schemas.values.vectors import Vector

BOUNDED_SINCE = 2
"""The first edition of the rules in which a habit keeps no more than `NAMED_LIMIT`."""

NAMED_LIMIT = 200
"""How many characters of fields' values a habit keeps; longer ones are hashed."""

# An event just repeated keeps 1 - 0.9 of its salience, so that it is never wholly muted.
_DEPTH = 0.9
_BURST_COUNT = 5
_BURST_WINDOW_S = 10.0
_BURST_TAU_S = 30.0


def kept(named: str) -> str:
    """Return what a habit keeps of fields' values; they are only ever compared."""
    is_short = len(named) <= NAMED_LIMIT
    return named if is_short else f"#{ids.digest(named.encode())}"


def find(
    habits: Sequence[Habit], vector: Vector, named: str, duplicate: float
) -> int | None:
    """Return the index of the nearest habit with equal named fields; None if too far.

    `duplicate` is the least cosine similarity of an event that is alike.
    """
    same = [index for index, habit in enumerate(habits) if habit.named == named]
    nearest = vectors.nearest([habits[index].vector for index in same], vector)
    if nearest is None or nearest[1] < duplicate:
        return None
    return same[nearest[0]]


def sensitivity(habit: Habit | None, now: datetime, tau_s: float) -> float:
    """Return the factor of salience, 0.1 (just repeated) to 1 (not habituated).

    `tau_s` is the time constant of recovery, in seconds.
    """
    if habit is None or habit.passed_at is None or habit.passed_at > now:
        # A pass that is still to come is of another time: a recording played again.
        return 1.0
    elapsed = (now - habit.passed_at).total_seconds()
    tau = min(tau_s, _BURST_TAU_S) if _in_burst(habit, now) else tau_s
    return round6(1.0 - _DEPTH * exp(-elapsed / tau))


def seen(
    habits: tuple[Habit, ...],
    index: int | None,
    vector: Vector,
    named: str,
    now: datetime,
    passed: bool,
) -> tuple[Habit, ...]:
    """Return the habits after one more event, the one it renews moved to the end.

    So the first is the least recent one, and goes when there are too many.
    """
    if index is None:
        fresh = Habit(
            vector=vector,
            named=named,
            passed_at=now if passed else None,
            seen_at=(now,),
        )
        # Unpassed events are kept as well: a burst counts all that came.
        return (*habits, fresh)[-limits.HABITS :]
    held = habits[index]
    renewed = replace(
        held,
        passed_at=now if passed else held.passed_at,
        seen_at=(*held.seen_at, now)[-_BURST_COUNT:],
    )
    return (*habits[:index], *habits[index + 1 :], renewed)


def _in_burst(habit: Habit, now: datetime) -> bool:
    # One less than a burst, since the event at hand is not among them yet.
    latest = habit.seen_at[-(_BURST_COUNT - 1) :]
    full = len(latest) == _BURST_COUNT - 1
    return full and 0.0 <= (now - latest[0]).total_seconds() <= _BURST_WINDOW_S
