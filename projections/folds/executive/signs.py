"""Contexts that hold: the one switched to, and those that recent events show.

Each names what shows it, so that a decision can be explained.
"""

from collections.abc import Iterator, Mapping
from datetime import datetime, timedelta
from typing import Literal

from msgspec import Struct

from projections.folds.executive.personality import OPPORTUNITY_FROM, THREAT_FROM
from schemas.messages.sensing import Dimension
from schemas.messages.voices import ContextInForce
from schemas.state.agent import AgentState
from schemas.state.executive import EVERYBODY, Personality, Sign
from schemas.state.limits import FAILURES
from schemas.values.exact_math import round6

_THREAT_HOLDS = timedelta(seconds=10)
_OPPORTUNITY_HOLDS = timedelta(seconds=30)
STRUGGLE_HOLDS = timedelta(seconds=300)
SENTIMENT_BELOW = -0.3
"""What each detected context asks for; who fails three times within `STRUGGLE_HOLDS`, or
feels worse than that, struggles."""


class Moment(Struct, frozen=True, kw_only=True):
    """The event at hand, as far as it shows a context itself."""

    id: str = ""
    dimensions: Mapping[Dimension, float] = {}
    """Its salience."""
    sentiment: float | None = None
    person: str | None = None
    """The person addressed; None: everybody."""


NO_EVENT = Moment()


def contexts(
    state: AgentState, now: datetime, moment: Moment
) -> Iterator[ContextInForce]:
    """Yield each context that holds: the active one, then those that events show."""
    active, own = state.executive.context, state.executive.personality
    if active is not None:
        yield ContextInForce(name=active.name, by="switched", cause=active.by)
    weighed = moment.dimensions
    threat = _latest(weighed.get("threat", 0.0), THREAT_FROM, own.threat, now, moment)
    if threat is not None and _is_within(threat, _THREAT_HOLDS, now):
        yield _detected("high_threat", "threat", threat)
    chance = _latest(
        weighed.get("opportunity", 0.0), OPPORTUNITY_FROM, own.opportunity, now, moment
    )
    if chance is not None and _is_within(chance, _OPPORTUNITY_HOLDS, now):
        yield _detected("opportunity", "opportunity", chance)
    struggle = _struggle(own, now, moment)
    if struggle is not None:
        yield struggle


def _detected(
    name: str, by: Literal["threat", "opportunity", "failures", "sentiment"], sign: Sign
) -> ContextInForce:
    return ContextInForce(name=name, by=by, value=sign.value, cause=sign.cause)


def _latest(
    value: float, least: float, sign: Sign | None, now: datetime, moment: Moment
) -> Sign | None:
    """Return what shows a context: the event at hand if it does, else an earlier one."""
    if value < least:
        return sign
    return Sign(at=now, value=value, cause=moment.id)


def _struggle(own: Personality, now: datetime, moment: Moment) -> ContextInForce | None:
    name = "user_struggling"
    if len(own.failures) >= FAILURES:
        failed = [e for e in own.failures if _is_within(e, STRUGGLE_HOLDS, now)]
        if len(failed) >= FAILURES:
            sign = Sign(at=now, value=float(len(failed)), cause=failed[-1].cause)
            return _detected(name, "failures", sign)
    feels = own.sentiments.get(moment.person or EVERYBODY)
    if moment.sentiment is not None:
        feels = Sign(at=now, value=round6(moment.sentiment), cause=moment.id)
    if feels is None or feels.value >= SENTIMENT_BELOW:
        return None
    if not _is_within(feels, STRUGGLE_HOLDS, now):
        return None
    return _detected(name, "sentiment", feels)


def _is_within(sign: Sign, holds: timedelta, now: datetime) -> bool:
    # What is still to come is of another time: a recording played again.
    return sign.at <= now <= sign.at + holds
