"""Timing: is an answer said at once, at the next break, or at a natural opportunity?

Alerts, answers to a person's own words and what is urgent (0.7) are said at once. While the
person is busy everything else waits for a break. Otherwise small talk of little urgency (below
0.3) waits until nobody has spoken for 15 seconds, unless it matters much (0.8) to an
enthusiastic companion (0.7).
"""

from datetime import datetime, timedelta
from typing import Literal

from msgspec import Struct

from projections.folds.executive import people
from schemas.state.executive import Executive
from schemas.values.reasons import ResponseType

URGENT = 0.7
_ENTHUSIASTIC = 0.7
_MATTERS_MUCH = 0.8
_NOT_URGENT = 0.3
_LULL_S = 15.0
"""So long after the last words of anybody is a natural opportunity."""

SMALL_TALK: frozenset[ResponseType] = frozenset({"quip", "check_in", "question"})


class Ready(Struct, frozen=True):
    """What timing must know of an answer that is ready."""

    response_type: ResponseType
    urgency: float
    relevance: float
    person: str | None
    is_addressed: bool
    """Whether it answers a person's own words."""
    enthusiasm: float = 0.5
    """The companion's trait."""
    hidden_from: tuple[str, ...] = ()
    """Who must not hear it, by name, or `guests`."""
    is_asked_for: bool = False
    """Whether somebody asked for it to be said at this time, or it is said always."""
    is_aloud: bool = True
    """Whether it goes to the usual channel, which all who are there hear."""


def timing(
    executive: Executive, answer: Ready, now: datetime
) -> Literal["immediate", "queued", "deferred"]:
    """Return when an answer that is ready is to be said."""
    if is_immediate(answer):
        return "immediate"
    if people.is_busy(executive, answer.person, now):
        return "queued"
    if _can_wait(answer) and lull(executive, now) > now:
        return "deferred"
    return "immediate"


def is_immediate(answer: Ready) -> bool:
    """Tell whether an answer is said at once, whatever the person does."""
    is_alert = answer.response_type == "alert"
    return is_alert or answer.is_addressed or answer.urgency >= URGENT


def _can_wait(answer: Ready) -> bool:
    is_keen = answer.enthusiasm >= _ENTHUSIASTIC and answer.relevance >= _MATTERS_MUCH
    is_small_talk = answer.response_type in SMALL_TALK and answer.urgency < _NOT_URGENT
    return is_small_talk and not is_keen


def lull(executive: Executive, now: datetime) -> datetime:
    """Return when nobody will have spoken for `_LULL_S`, if nobody speaks; may be past."""
    times = [executive.sayings.said[-1].at] if executive.sayings.said else []
    if executive.presence.heard_at is not None:
        times.append(executive.presence.heard_at)
    # Times ahead are of another clock.
    last = max((each for each in times if each <= now), default=None)
    return now if last is None else last + timedelta(seconds=_LULL_S)
