"""Speaking unasked: draw when an opportunity is taken, and take it when its time has come.

The draw of when is a message, so what comes of it can be repeated and explained. It is made
when there is an opportunity and somebody to speak to, and when the chance changes; with
nobody there, there is neither timer nor message. That somebody spoke meanwhile is looked at
when the time has come: by the law's lack of memory nothing else need be drawn anew.
"""

from datetime import datetime, timedelta

from handlers.mind.context import TurnContext
from handlers.mind.flows import check_in, initiate, mood_comment, observe
from handlers.mind.flows.openings import Kind, Saying
from handlers.mind.stages import opportunity, personality
from projections.folds.executive import opportunities
from schemas.messages.notes import OpportunityDrawn
from schemas.state.agent import Timer
from schemas.values import ids
from schemas.values.executive_settings import ExecutiveSettings

_KINDS = (check_in.KIND, observe.KIND, mood_comment.KIND)


def consider(turn: TurnContext, *, is_changed: bool = False) -> None:
    """Draw when to speak, for each opportunity that is there and not drawn yet.

    What was drawn is drawn anew if something changed (`is_changed`) that moves the chance.
    """
    settings = turn.settings.executive
    for kind in _KINDS:
        if kind.is_on(settings):
            _consider(turn, settings, kind, is_changed=is_changed)


def _consider(
    turn: TurnContext, settings: ExecutiveSettings, kind: Kind, *, is_changed: bool
) -> None:
    known = opportunities.find(turn.state.executive, kind.purpose)
    is_drawn = known is not None and known.due is not None
    if is_drawn and not is_changed:
        return
    about = known.about if known is not None and is_drawn else ""
    opening = kind.opening(turn, settings, about)
    # With nothing to take the traits are not looked at: events of sensors come often.
    chance = 0.0 if opening is None else _chance(turn, settings, kind, opening.about)
    if opening is None or chance <= 0.0:
        if is_drawn:
            _draw(turn, kind, None, chance)
    elif known is None or known.due is None or known.chance != chance:
        first = max(opening.first, turn.now + opportunity.TICK)
        _draw(turn, kind, first, chance, opening.about)


def run(turn: TurnContext, timer: Timer) -> None:
    """Take an opportunity whose time has come, unless it is there no more."""
    purpose, settings = opportunities.purpose_of(timer.id), turn.settings.executive
    kind = next(each for each in _KINDS if each.purpose == purpose)
    known = opportunities.find(turn.state.executive, kind.purpose)
    about = known.about if known is not None else ""
    opening = chance = None
    if kind.is_on(settings):
        opening = kind.opening(turn, settings, about)
        chance = _chance(turn, settings, kind, about)
    if opening is None or not chance:
        _draw(turn, kind, None, chance or 0.0)
        return
    first: datetime | None = opening.first
    if opening.first <= turn.now:
        words = kind.words(turn, about)
        word = words[int(_value(turn, kind, f"{kind.purpose}_words") * len(words))]
        initiate.take(turn, kind.initiative(turn, Saying(timer, word, about)))
        first = None
        if kind.next_in_s is not None:
            first = turn.now + timedelta(seconds=kind.next_in_s(settings))
    _draw(turn, kind, first, chance, about if first is not None else "")


def _chance(
    turn: TurnContext, settings: ExecutiveSettings, kind: Kind, about: str
) -> float:
    if not kind.words(turn, about):
        return 0.0
    traits = personality.traits_in_force(turn.state, settings, turn.packs, turn.now)
    return opportunity.chance(settings, traits.values["proactive"])


def _draw(
    turn: TurnContext,
    kind: Kind,
    first: datetime | None,
    chance: float,
    about: str = "",
) -> None:
    value = _value(turn, kind, kind.purpose)
    turn.emit(
        OpportunityDrawn(
            purpose=kind.purpose,
            count=_count(turn, kind),
            due_at=None if first is None else opportunity.due(first, value, chance),
            chance=chance,
            value=None if first is None else value,
            about=about or None,
        )
    )


def _count(turn: TurnContext, kind: Kind) -> int:
    known = opportunities.find(turn.state.executive, kind.purpose)
    return 1 if known is None else known.count + 1


def _value(turn: TurnContext, kind: Kind, purpose: str) -> float:
    """Return the next draw for a purpose: its key is seed|agent|purpose|count."""
    count = str(_count(turn, kind))
    return ids.draw(turn.settings.seed, turn.input.agent, purpose, count)
