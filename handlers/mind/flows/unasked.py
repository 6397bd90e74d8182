"""Speaking unasked: draw when an opportunity is taken, and take it when its time has come.

The draw of when is a message, so what comes of it can be repeated and explained. It is made
when there is an opportunity and somebody to speak to, and when the chance changes; with
nobody there, there is neither timer nor message. That somebody spoke meanwhile is looked at
when the time has come: by the law's lack of memory nothing else need be drawn anew.
"""

from collections.abc import Callable, Iterator
from datetime import datetime, timedelta

from msgspec import Struct, structs

from handlers.mind.context import TurnContext
from handlers.mind.flows import initiate, reminding
from handlers.mind.stages import opportunity, personality
from projections.folds.events import sort_of
from projections.folds.executive import opportunities, patterns, signs
from schemas.messages.arms import CHECK_IN, MOOD_COMMENT, OBSERVE
from schemas.messages.notes import OpportunityDrawn
from schemas.messages.sensing import Sensed
from schemas.state.agent import Timer
from schemas.state.executive import EVERYBODY, Sign
from schemas.values import ids
from schemas.values.executive_settings import ExecutiveSettings
from schemas.values.phrases import CheckedOn, Phrases, filled
from schemas.values.reasons import ResponseType

_WAITS = timedelta(minutes=10)
"""How long what waits for a break is worth saying."""


_AHEAD = timedelta(days=1)
"""Of reminders so far ahead a check-in may speak."""


_PEACE = timedelta(hours=1)
"""How long nothing is said unasked after any wish for quiet, understood or not."""


class _Opening(Struct, frozen=True):
    """An opportunity that is there."""

    first: datetime
    """The first second at which it may be taken."""
    about: str = ""
    """The sort of events that it is about, if it is about one."""


class _Line(Struct, frozen=True):
    """Something that may be said, as it is said."""

    text: str
    person: str | None = None
    """To whom; None: to everybody."""


class _Kind(Struct, frozen=True):
    """One kind of opportunity."""

    purpose: str
    """Its name, which is also its arm and its decisions' type."""
    is_on: Callable[[ExecutiveSettings], bool]
    opening: Callable[[TurnContext, ExecutiveSettings, str], _Opening | None]
    """Return it if it is there: about what is given, or what the input shows."""
    lines: Callable[[TurnContext, str], tuple[_Line, ...]]
    """Return what may be said about something; nothing: it is never taken."""
    response_type: ResponseType
    lasts: timedelta = _WAITS
    """How long it is worth saying where it waits for a break."""
    is_regular: bool = False
    """Whether there is a next one by itself; else events must show it."""


def consider(turn: TurnContext, *, is_changed: bool = False) -> None:
    """Draw when to speak, for each opportunity that is there and not drawn yet.

    What was drawn is drawn anew if something changed (`is_changed`) that moves the chance.
    """
    settings = turn.settings.executive
    for kind in _KINDS:
        if kind.is_on(settings):
            _consider(turn, settings, kind, is_changed=is_changed)


def _consider(
    turn: TurnContext, settings: ExecutiveSettings, kind: _Kind, *, is_changed: bool
) -> None:
    known = opportunities.find(turn.state.executive, kind.purpose)
    is_drawn = known is not None and known.due is not None
    if is_drawn and not is_changed:
        return
    about = known.about if known is not None and is_drawn else ""
    opening = _opening(turn, settings, kind, about)
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
        opening = _opening(turn, settings, kind, about)
        chance = _chance(turn, settings, kind, about)
    if opening is None or not chance:
        _draw(turn, kind, None, chance or 0.0)
        return
    first: datetime | None = max(opening.first, _peace(turn) or opening.first)
    if first is not None and first <= turn.now:
        lines = _fresh(turn, kind.lines(turn, about))
        line = lines[int(_value(turn, kind, f"{kind.purpose}_words") * len(lines))]
        initiate.take(turn, _initiative(turn, kind, timer, line))
        chance, first = _chance(turn, settings, kind, about), None
        if kind.is_regular and chance > 0.0:
            first = _next(turn, settings)
    _draw(turn, kind, first, chance, about if first is not None else "")


def _opening(
    turn: TurnContext, settings: ExecutiveSettings, kind: _Kind, about: str
) -> _Opening | None:
    """Return an opportunity that is there, once the hour has room for it."""
    found = kind.opening(turn, settings, about)
    free = opportunity.free_from(turn.state, settings, turn.now) if found else None
    if found is None or free is None:
        return None
    return structs.replace(found, first=max(found.first, free))


def _peace(turn: TurnContext) -> datetime | None:
    """Return until when nothing is said unasked to who wished for quiet, however worded."""
    said, known = turn.state.executive.memory.said, turn.settings.executive.phrases
    return max(
        (
            each.at + _PEACE
            for person in said.sorted_keys()
            for each in said[person]
            if each.grounds is None and turn.now < each.at + _PEACE
            if any(phrases.wishes_for("quiet", each.text) for phrases in known)
        ),
        default=None,
    )


def _next(turn: TurnContext, settings: ExecutiveSettings) -> datetime | None:
    """Return from when on there is another, once one was taken."""
    free = opportunity.free_from(turn.state, settings, turn.now)
    if free is None:
        return None
    return max(free, turn.now + opportunity.interval_of(turn.state, settings))


def _initiative(
    turn: TurnContext, kind: _Kind, timer: Timer, line: _Line
) -> initiate.Initiative:
    return initiate.Initiative(
        timer=timer.id,
        kind=kind.purpose,
        arm=kind.purpose,
        text=line.text,
        response_type=kind.response_type,
        urgency=0.0,
        expires_at=turn.now + kind.lasts,
        person=line.person,
    )


def _chance(
    turn: TurnContext, settings: ExecutiveSettings, kind: _Kind, about: str
) -> float:
    if not _fresh(turn, kind.lines(turn, about)):
        return 0.0
    traits = personality.traits_in_force(turn.state, settings, turn.packs, turn.now)
    is_check_in = kind.purpose == CHECK_IN
    unanswered = opportunities.unanswered(turn.state.executive) if is_check_in else 0
    return opportunity.chance(settings, traits.values["proactive"], unanswered)


def _fresh(turn: TurnContext, lines: tuple[_Line, ...]) -> tuple[_Line, ...]:
    """Return those that were not said unasked lately, whichever numbers they tell."""
    rest = timedelta(seconds=turn.settings.executive.words_rest_s)
    known = turn.state.executive.initiative.unasked
    said = {each.words for each in known if turn.now < each.at + rest}
    return tuple(e for e in lines if opportunities.digest_of(e.text) not in said)


def _draw(
    turn: TurnContext,
    kind: _Kind,
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


def _count(turn: TurnContext, kind: _Kind) -> int:
    known = opportunities.find(turn.state.executive, kind.purpose)
    return 1 if known is None else known.count + 1


def _value(turn: TurnContext, kind: _Kind, purpose: str) -> float:
    """Return the next draw for a purpose: its key is seed|agent|purpose|count."""
    count = str(_count(turn, kind))
    return ids.draw(turn.settings.seed, turn.input.agent, purpose, count)


def _phrased(
    turn: TurnContext, of: Callable[[Phrases], tuple[str, ...]]
) -> tuple[str, ...]:
    """Return words of phrases: what packs know, else what the first language has."""
    found = _knowing(turn, of)
    return () if found is None else of(found)


def _knowing(
    turn: TurnContext, of: Callable[[Phrases], tuple[str, ...]]
) -> Phrases | None:
    own = turn.settings.executive.phrases
    of_packs = tuple(each for pack in turn.packs for each in pack.pack.phrases)
    return next((each for each in (*of_packs, *own) if of(each)), None)


# Checking in: ask how things are, when somebody is there and nothing was said for a while.
def _check_in_opening(
    turn: TurnContext, settings: ExecutiveSettings, about: str
) -> _Opening | None:
    first = opportunity.first_tick(turn.state, settings, turn.now)
    return None if first is None else _Opening(first)


def _check_ins(turn: TurnContext, about: str) -> tuple[_Line, ...]:
    """Return what is asked: about something if there is anything, else in general."""
    plain = _phrased(turn, lambda phrases: phrases.check_ins)
    return _fresh(turn, tuple(_mentions(turn))) or tuple(map(_Line, plain))


def _mentions(turn: TurnContext) -> Iterator[_Line]:
    for topic, person in _topics(turn):
        yield from _about(turn, "topic", topic, person)
    for goal in turn.state.goals or ():
        yield from _about(turn, "goal", goal, None)
    known = _knowing(turn, lambda each: each.check_ins_about.get("reminder", ()))
    for words, person in reminding.to_come(turn, known, _AHEAD) if known else ():
        yield from _about(turn, "reminder", words, person)


def _about(
    turn: TurnContext, kind: CheckedOn, topic: str, person: str | None
) -> Iterator[_Line]:
    for each in _phrased(turn, lambda phrases: phrases.check_ins_about.get(kind, ())):
        yield _Line(filled(each, topic=topic.strip().rstrip(".!?")), person)


def _topics(turn: TurnContext) -> Iterator[tuple[str, str | None]]:
    """Yield what each person is about, and who that is, as was said last."""
    held = turn.state.executive
    for person in sorted(held.presence.people):
        known = held.presence.people[person]
        if known.focus and not known.away:
            yield known.focus, person or None
    for each in held.peace.modulations:
        if each.change == "focus" and (each.until is None or turn.now < each.until):
            yield each.about, each.person or None


_CHECK_IN = _Kind(
    CHECK_IN,
    lambda settings: settings.check_in,
    _check_in_opening,
    _check_ins,
    "check_in",
    is_regular=True,
)


# An observation: that a kind of event comes often lately, which it did not before.
def _pattern_opening(
    turn: TurnContext, settings: ExecutiveSettings, about: str
) -> _Opening | None:
    """Return the opening that a pattern of events makes.

    Whether it is new is asked when it shows; afterwards whether it goes on.
    """
    event, held = turn.input.message, turn.state.executive
    sort = about or (sort_of(event) if isinstance(event, Sensed) else "")
    pattern = held.initiative.patterns.get(sort)
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
    return _Opening(first, sort) if first <= pattern.at + window else None


def _observations(turn: TurnContext, about: str) -> tuple[_Line, ...]:
    """Return the words of the pack that declares such events, else of the phrases."""
    source, _, type_ = about.partition(".")
    declared = [pack.event_type(type_, source) for pack in turn.packs]
    own = [each.observation for each in declared if each and each.observation]
    pattern = turn.state.executive.initiative.patterns.get(about)
    count = str(pattern.count + pattern.before) if pattern is not None else ""
    # A pack that declares the sort without words for it finds it not worth one.
    plain = () if any(declared) else _phrased(turn, lambda known: known.observations)
    type_ = type_.replace("_", " ").replace("-", " ")
    said = (filled(each, count=count, type=type_) for each in own[:1] or plain)
    return tuple(map(_Line, said))


_OBSERVE = _Kind(
    OBSERVE,
    lambda settings: settings.observation,
    _pattern_opening,
    _observations,
    "observation",
)


# Commenting on a mood: say a word to somebody who seems to feel bad, once for each
# sign.
def _mood_opening(
    turn: TurnContext, settings: ExecutiveSettings, about: str
) -> _Opening | None:
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
    return _Opening(first) if first <= sign.at + signs.STRUGGLE_HOLDS else None


def _sign(turn: TurnContext) -> tuple[str, Sign] | None:
    """Return who felt bad last, and the sign of it; None if it is too long ago."""
    felt = turn.state.executive.personality.sentiments
    known = ((each, felt[each]) for each in felt.sorted_keys())
    bad = [
        (person, sign)
        for person, sign in known
        if sign.value < signs.SENTIMENT_BELOW
        and sign.at <= turn.now <= sign.at + signs.STRUGGLE_HOLDS
    ]
    return max(bad, key=lambda each: each[1].at, default=None)


def _comments(turn: TurnContext, about: str) -> tuple[_Line, ...]:
    found = _sign(turn)
    person = (found[0] if found is not None else EVERYBODY) or None
    words = _phrased(turn, lambda phrases: phrases.mood_comments)
    return tuple(_Line(each, person) for each in words)


_COMMENT = _Kind(
    MOOD_COMMENT,
    lambda settings: settings.mood_comment,
    _mood_opening,
    _comments,
    "check_in",
    signs.STRUGGLE_HOLDS,
)
_KINDS = (_CHECK_IN, _OBSERVE, _COMMENT)
