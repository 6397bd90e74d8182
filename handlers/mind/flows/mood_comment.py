"""Commenting on a mood: say a word to somebody who seems to feel bad, once for each sign."""

from datetime import timedelta

from handlers.mind.context import TurnContext
from handlers.mind.flows.initiate import Initiative
from handlers.mind.flows.openings import Kind, Opening, Saying, phrased
from handlers.mind.stages import opportunity
from projections.folds.executive import opportunities
from projections.folds.executive.signs import SENTIMENT_BELOW, STRUGGLE_HOLDS
from schemas.messages.arms import MOOD_COMMENT
from schemas.state.executive import EVERYBODY, Sign
from schemas.values.executive_settings import ExecutiveSettings


def _opening(
    turn: TurnContext, settings: ExecutiveSettings, about: str
) -> Opening | None:
    found = _sign(turn)
    begin = opportunity.settled(turn.state, turn.now) if found is not None else None
    if found is None or begin is None:
        return None
    _, sign = found
    before = opportunities.find(turn.state.executive, MOOD_COMMENT)
    taken = before.taken_at if before is not None else None
    first = max(begin, turn.now)
    if taken is not None:
        if taken >= sign.at:
            return None
        first = max(first, taken + timedelta(seconds=settings.check_in_interval_s))
    return Opening(first) if first <= sign.at + STRUGGLE_HOLDS else None


def _sign(turn: TurnContext) -> tuple[str, Sign] | None:
    """Return who felt bad last, and the sign of it; None if it is too long ago."""
    signs = turn.state.executive.personality.sentiments
    known = ((each, signs[each]) for each in signs.sorted_keys())
    bad = [
        (person, sign)
        for person, sign in known
        if sign.value < SENTIMENT_BELOW
        and sign.at <= turn.now <= sign.at + STRUGGLE_HOLDS
    ]
    return max(bad, key=lambda each: each[1].at, default=None)


def _words(turn: TurnContext, about: str) -> tuple[str, ...]:
    return phrased(turn, lambda phrases: phrases.mood_comments)


def _initiative(turn: TurnContext, saying: Saying) -> Initiative:
    found = _sign(turn)
    person = found[0] if found is not None else EVERYBODY
    return Initiative(
        timer=saying.timer.id,
        kind=MOOD_COMMENT,
        arm=MOOD_COMMENT,
        text=saying.text,
        response_type="check_in",
        urgency=0.0,
        expires_at=turn.now + STRUGGLE_HOLDS,
        person=person or None,
    )


KIND = Kind(
    MOOD_COMMENT, lambda settings: settings.mood_comment, _opening, _words, _initiative
)
