"""Opportunities: when may the companion speak of its own accord?

ADR-0014 §8.2 draws at each tick: nothing within the interval, then success with probability
p times the trait. The tick of the first success has a geometric law, so it is drawn at once,
and nothing happens at the ticks before. That law has no memory: what moves the chance or the
interval has only the rest drawn anew, and the whole is the same law as a draw each tick.
"""

from datetime import datetime, timedelta

from projections.folds.executive import opportunities, people
from schemas.state.agent import AgentState
from schemas.values.exact_math import log, power, round6
from schemas.values.executive_settings import ExecutiveSettings

TICK = timedelta(seconds=1)
_SETTLING_IN = timedelta(minutes=10)
"""So long after the start of a session nobody is spoken to unasked."""
_HOUR = timedelta(hours=1)
_LONGEST = 1_000.0
"""How many times as long a check-in waits, at most."""
_GONE = timedelta(hours=2)
"""After so long without a sign of anybody, nobody is there."""


def first_success(value: float, chance: float) -> int:
    """Return the tick of the first success, from 1, by a draw in [0, 1).

    `chance` of a success at each tick is over 0. The tick is k with probability
    chance (1 - chance)^(k - 1): the inverse of the geometric distribution.
    """
    if chance >= 1.0:
        return 1
    return 1 + int(log(1.0 - value) / log(1.0 - chance))


def due(first: datetime, value: float, chance: float) -> datetime:
    """Return the time of the first success, if the first tick that counts is at `first`."""
    return first + (first_success(value, chance) - 1) * TICK


def chance(settings: ExecutiveSettings, proactive: float, unanswered: int = 0) -> float:
    """Return the probability of a remark at a tick, by how proactive the companion is.

    It is less for each of so many that nobody answered, as check-ins are.
    """
    rarer = power(settings.check_in_backoff, float(unanswered))
    return round6(settings.check_in_probability * proactive / rarer)


def free_from(
    state: AgentState, settings: ExecutiveSettings, now: datetime
) -> datetime | None:
    """Return from when on the hour has room for another remark that nobody asked for.

    None until somebody says a word, if nobody did for the last few of them.
    """
    unheeded = settings.unasked_unanswered
    if unheeded and opportunities.unanswered(state.executive) >= unheeded:
        return None
    most, known = settings.unasked_per_hour, state.executive.initiative.unasked
    return now if not most or len(known) < most else max(now, known[-most].at + _HOUR)


def _somebody_since(state: AgentState, now: datetime) -> datetime | None:
    """Return the last sign of anybody there; None if nobody seems to be."""
    sign = people.last_sign(state.executive)
    return sign if sign is not None and now - sign <= _GONE else None


def settled(state: AgentState, now: datetime) -> datetime | None:
    """Return from when on somebody may be spoken to unasked; None if nobody is there."""
    if state.session is None or _somebody_since(state, now) is None:
        return None
    return state.session.started_at + _SETTLING_IN


def first_tick(
    state: AgentState, settings: ExecutiveSettings, now: datetime
) -> datetime | None:
    """Return the first tick at which a check-in may be; None if nobody is there for one."""
    begin = settled(state, now)
    if begin is None:
        return None
    held = state.executive
    spoken = [held.presence.heard_at] if held.presence.heard_at is not None else []
    spoken += [each.at for each in held.sayings.said[-1:]]
    interval = interval_of(state, settings)
    # One that is still waiting to be said is enough.
    waits = [
        each.answer.expires_at
        for each in held.waiting
        if each.answer.response_type == "check_in"
    ]
    return max(begin, *(each + interval for each in spoken), *waits, now)


def interval_of(state: AgentState, settings: ExecutiveSettings) -> timedelta:
    """Return how long nothing is said before a check-in, longer for each unanswered one."""
    unanswered = float(opportunities.unanswered(state.executive))
    times = min(power(settings.check_in_backoff, unanswered), _LONGEST)
    return timedelta(seconds=settings.check_in_interval_s * times)
