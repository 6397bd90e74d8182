"""Observing: remark that a kind of event comes often lately, which it did not before."""

from datetime import timedelta

from handlers.mind.context import TurnContext
from handlers.mind.flows.check_in import TTL_S
from handlers.mind.flows.initiate import Initiative
from handlers.mind.flows.openings import Kind, Opening, Saying, phrased
from handlers.mind.stages import opportunity
from projections.folds.events import sort_of
from projections.folds.executive import opportunities, patterns
from schemas.messages.arms import OBSERVE
from schemas.messages.sensing import Sensed
from schemas.values.executive_settings import ExecutiveSettings


def _opening(
    turn: TurnContext, settings: ExecutiveSettings, about: str
) -> Opening | None:
    """Return the opening that a pattern of events makes.

    Whether it is new is asked when it shows; afterwards whether it goes on.
    """
    event, held = turn.input.message, turn.state.executive
    sort = about or (sort_of(event) if isinstance(event, Sensed) else "")
    pattern = held.patterns.get(sort)
    begin = opportunity.settled(turn.state, turn.now)
    if pattern is None or begin is None:
        return None
    if not about and not patterns.is_worth_a_word(pattern, settings):
        return None
    window = timedelta(seconds=settings.observation_interval_s)
    before = opportunities.find(held, OBSERVE)
    taken = before.taken_at if before is not None else None
    first = (
        max(begin, turn.now) if taken is None else max(begin, turn.now, taken + window)
    )
    return Opening(first, sort) if first <= pattern.at + window else None


def _words(turn: TurnContext, about: str) -> tuple[str, ...]:
    source, _, type_ = about.partition(".")
    declared = (pack.event_type(type_, source) for pack in turn.packs)
    own = (each.observation for each in declared if each and each.observation)
    word = next(own, None)
    if word is not None:
        return (word,)
    return phrased(turn, lambda phrases: phrases.observations)


def _initiative(turn: TurnContext, saying: Saying) -> Initiative:
    pattern = turn.state.executive.patterns.get(saying.about)
    count = str(pattern.count + pattern.before) if pattern is not None else ""
    type_ = saying.about.partition(".")[2].replace("_", " ").replace("-", " ")
    return Initiative(
        timer=saying.timer.id,
        kind=OBSERVE,
        arm=OBSERVE,
        text=saying.text.replace("{count}", count).replace("{type}", type_),
        response_type="observation",
        urgency=0.0,
        expires_at=turn.now + timedelta(seconds=TTL_S),
    )


KIND = Kind(
    OBSERVE, lambda settings: settings.observation, _opening, _words, _initiative
)
