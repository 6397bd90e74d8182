"""Checking in: ask how things are, when somebody is there and nothing was said for a while.

The draw of when is a message, so what comes of it can be repeated and explained. It is made
when a person is first noticed, after each check-in, and when the chance changes; with nobody
there, there is neither timer nor message. That somebody spoke meanwhile is looked at when
the time has come: by the law's lack of memory nothing else need be drawn anew.
"""

from datetime import datetime, timedelta

from handlers.mind.context import TurnContext
from handlers.mind.flows import initiate
from handlers.mind.flows.initiate import Initiative
from handlers.mind.stages import opportunity, personality
from projections.folds.executive import opportunities
from schemas.messages.arms import CHECK_IN
from schemas.messages.notes import OpportunityDrawn
from schemas.state.agent import Timer
from schemas.values import ids
from schemas.values.executive_settings import ExecutiveSettings

TTL_S = 600.0
"""How long a check-in that waits for a break is worth saying."""
_WORDS = "check_in_words"


def consider(turn: TurnContext, *, is_changed: bool = False) -> None:
    """Draw when to check in, if somebody is there and nothing is drawn yet.

    What was drawn is drawn anew if something changed (`is_changed`) that moves the chance.
    """
    settings = turn.settings.executive
    if settings is None or not settings.check_in:
        return
    known = opportunities.find(turn.state.executive, CHECK_IN)
    is_drawn = known is not None and known.due is not None
    if is_drawn and not is_changed:
        return
    first = opportunity.first_tick(turn.state, settings, turn.now)
    # With nobody there the traits are not looked at: events of sensors come often.
    chance = _chance(turn, settings) if first is not None else 0.0
    if first is None or chance <= 0.0:
        if is_drawn:
            _draw(turn, None, chance)
    elif known is None or known.due is None or known.chance != chance:
        _draw(turn, max(first, turn.now + opportunity.TICK), chance)


def run(turn: TurnContext, timer: Timer) -> None:
    """Check in, unless somebody spoke meanwhile or nobody is there any more."""
    settings = turn.settings.executive
    first = chance = None
    if settings is not None and settings.check_in:
        first = opportunity.first_tick(turn.state, settings, turn.now)
        chance = _chance(turn, settings)
    if settings is None or first is None or not chance:
        _draw(turn, None, chance or 0.0)
        return
    if first <= turn.now:
        _check_in(turn, timer)
        interval = timedelta(seconds=settings.check_in_interval_s)
        first = turn.now + interval
    _draw(turn, first, chance)


def _chance(turn: TurnContext, settings: ExecutiveSettings) -> float:
    if not _words(turn):
        return 0.0
    traits = personality.traits_in_force(turn.state, settings, turn.packs, turn.now)
    return opportunity.chance(settings, traits.values["proactive"])


def _check_in(turn: TurnContext, timer: Timer) -> None:
    words = _words(turn)
    text = words[int(_value(turn, _WORDS) * len(words))]
    initiate.take(
        turn,
        Initiative(
            timer=timer.id,
            kind="check_in",
            arm=CHECK_IN,
            text=text,
            response_type="check_in",
            urgency=0.0,
            expires_at=turn.now + timedelta(seconds=TTL_S),
        ),
    )


def _words(turn: TurnContext) -> tuple[str, ...]:
    """Return what may be asked: what packs know, else in the first language."""
    settings = turn.settings.executive
    own = settings.phrases if settings is not None else ()
    of_packs = tuple(each for pack in turn.packs for each in pack.pack.phrases)
    known = (each.check_ins for each in (*of_packs, *own) if each.check_ins)
    return next(known, ())


def _draw(turn: TurnContext, first: datetime | None, chance: float) -> None:
    value = _value(turn, CHECK_IN)
    turn.emit(
        OpportunityDrawn(
            purpose=CHECK_IN,
            count=_count(turn),
            due_at=None if first is None else opportunity.due(first, value, chance),
            chance=chance,
            value=None if first is None else value,
        )
    )


def _count(turn: TurnContext) -> int:
    known = opportunities.find(turn.state.executive, CHECK_IN)
    return 1 if known is None else known.count + 1


def _value(turn: TurnContext, purpose: str) -> float:
    """Return the next draw for a purpose: its key is seed|agent|purpose|count."""
    count = str(_count(turn))
    return ids.draw(turn.settings.seed, turn.input.agent, purpose, count)
