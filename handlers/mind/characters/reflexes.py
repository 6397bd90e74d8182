"""Reflexes: what a character does without a model, by the table of its pack.

Of all rules that hold the highest priority wins, and of equal ones the first; the source
design takes the first that matches, whatever its priority (docs/departures.md).
"""

from collections.abc import Callable, Iterable, Mapping
from datetime import UTC, datetime, timedelta

from immutables import Map
from msgspec import Struct

from schemas.messages.decisions import LayerVerdict
from schemas.packs import conditions
from schemas.packs.characters import (
    IDLE_S,
    NO_TABLE,
    PRIORITIES,
    SCRIPTED,
    CharacterMind,
    Reflex,
)
from schemas.state.character import Character, Doing, Failing
from schemas.values.base import rfc3339
from schemas.values.by_identity import by_identity
from schemas.values.exact_math import clamp, round6
from schemas.values.reasons import Absence, Verdict

_LAYER = "reflex"


class _Rule(Struct, frozen=True):
    """A reflex of the table, made ready."""

    reflex: Reflex
    holds: Callable[[Mapping[str, object]], bool]
    changes_by_itself: bool
    """Whether it names a need or the time idle, which change without an event."""


class Finding(Struct, frozen=True):
    """What the table of reflexes came to."""

    holding: tuple[Reflex, ...]
    """The reflexes whose condition holds, in the table's order."""
    best: Reflex | None
    verdict: Verdict
    why: str

    @property
    def acts(self) -> bool:
        """Whether the best takes the place of what the character does."""
        return self.verdict == "acts"

    def record(self) -> LayerVerdict:
        """Return it as a decision holds it."""
        rule = self.best.name if self.best is not None else None
        return LayerVerdict(layer=_LAYER, verdict=self.verdict, rule=rule, why=self.why)


_NONE: Mapping[str, Failing] = {}
_NOTHING = Finding((), None, "nothing_due", "no reflex holds")


def fields_at(
    character: Character, mind: CharacterMind, now: datetime
) -> Mapping[str, object]:
    """Return what conditions are held against at a time.

    Fields, needs, `idle_s`, `scripted` where that holds, and `priorities` where kinds of work
    are weighed.
    """
    body = character.body
    told = _plain(body.fields).copy()
    for name in mind.needs:
        reading = body.needs.get(name)
        if reading is not None:
            told[name] = round6(clamp(reading.now(now), 0.0, 1.0))
    if character.failed or mind.mode == "scripted":
        told[SCRIPTED] = True
    since = idle_since(character, now)
    if since is not None:
        told[IDLE_S] = round6(max((now - since).total_seconds(), 0.0))
    if mind.kinds:
        told[PRIORITIES] = {
            each: character.priorities.get(each, 0.0) for each in mind.kinds
        }
    return told


@by_identity(4)
def _plain(fields: Map[str, object]) -> dict[str, object]:
    """Return a body's fields as a dict, which is copied ten times as fast.

    In one turn a body is looked at several times.
    """
    return dict(fields)


def doing_at(character: Character, now: datetime) -> Doing | None:
    """Return what the character does at a time; None if that is over by then."""
    doing = character.doing
    return doing if doing is not None and now < doing.until else None


def behaviour_at(character: Character, now: datetime) -> str | None:
    """Return the name of what the character does at a time; None if it does nothing."""
    doing = doing_at(character, now)
    return doing.behaviour if doing is not None else None


def idle_since(character: Character, now: datetime) -> datetime | None:
    """Return since when nothing is done; None if something is."""
    doing = character.doing
    if doing is None:
        return character.idle_since
    return doing.until if now >= doing.until else None


def absence(mind: CharacterMind, fields: Mapping[str, object]) -> Absence | None:
    """Return why the character does not decide; None if it does."""
    for name, holds in _table(mind).absent:
        if holds(fields):
            return name
    return None


def possible(mind: CharacterMind, fields: Mapping[str, object]) -> tuple[_Rule, ...]:
    """Return those of the table that may come to hold before the next event.

    Of the others no field changes by itself, and they do not hold now.
    """
    rules = _table(mind).reflexes
    return tuple(
        [rule for rule in rules if rule.changes_by_itself or rule.holds(fields)]
    )


def find(
    mind: CharacterMind,
    fields: Mapping[str, object],
    doing: Doing | None,
    among: tuple[_Rule, ...] | None = None,
    waits: Mapping[str, Failing] = _NONE,
) -> Finding:
    """Hold a body against the table, and the best rule against what is being done.

    With `among`, the other rules are known not to hold; what `waits` is held back, by
    behaviour, as it failed.
    """
    rules = _table(mind).reflexes if among is None else among
    holding = tuple([rule.reflex for rule in rules if rule.holds(fields)])
    if not holding:
        return _NOTHING
    free = holding
    if waits:
        free = tuple([each for each in holding if each.behaviour not in waits])
    if not free:
        best = max(holding, key=mind.priority)
        return Finding(holding, best, "held_back", _failed(best, waits))
    # `max` returns the first of equal ones.
    best = max(free, key=mind.priority)
    priority = mind.priority(best)
    if doing is None:
        why = f"{best.when}, priority {priority:g}"
        if free is not holding:
            held = (_failed(each, waits) for each in holding if each not in free)
            why = "; ".join((why, *held))
        return Finding(holding, best, "acts", why)
    if doing.behaviour == best.behaviour:
        return Finding(holding, best, "goes_on", f"it does so already: {best.when}")
    over = f"priority {priority:g} against {doing.behaviour} of {doing.priority:g}"
    present = mind.behaviours.get(doing.behaviour, NO_TABLE)
    if not present.interruptible:
        return Finding(holding, best, "uninterruptible", over)
    may = mind.behaviours[best.behaviour].interrupts and priority > doing.priority
    return Finding(holding, best, "acts" if may else "matters_less", over)


def _failed(reflex: Reflex, waits: Mapping[str, Failing]) -> str:
    failing = waits[reflex.behaviour]
    return (
        f"{reflex.behaviour} failed {failing.count} times in a row, held back until"
        f" {rfc3339(failing.until)}"
    )


def due(
    character: Character,
    mind: CharacterMind,
    now: datetime,
    acts: Callable[[datetime, Mapping[str, object]], bool],
    further: Iterable[datetime] = (),
) -> datetime | None:
    """Return when the character will act of its own accord; None if events must come first.

    Needs change evenly, so what holds can only change where one of them, or the time idle,
    crosses a number that a condition names, where what is being done is over, or at one of
    `further`. Those times are looked at on the grid of its thinking, soonest first: it
    equals asking at each tick whether it `acts` with the body as it is then.
    """
    crossings = set(_crossings(character, mind, now))
    looked = now
    for at in sorted({*crossings, *_over(character, now), *further}):
        first, second = _ticks(mind, at, now)
        # Exactly at a crossing `<` may not hold yet.
        for tick in (first, second) if at in crossings else (first,):
            if tick <= looked:
                continue
            looked = tick
            fields = fields_at(character, mind, tick)
            if absence(mind, fields) is None and acts(tick, fields):
                return tick
    return None


def _crossings(
    character: Character, mind: CharacterMind, now: datetime
) -> list[datetime]:
    found = []
    for name, limit in _table(mind).limits:
        if name == IDLE_S:
            since = idle_since(character, now)
            if since is None and character.doing is not None:
                since = character.doing.until
            at = since + _span(limit) if since is not None else None
        else:
            reading = character.body.needs.get(name)
            if reading is None or not reading.rate:
                continue
            at = reading.at + _span((limit - reading.value) / reading.rate)
        if at is not None and at >= now:
            found.append(at)
    return found


def _over(character: Character, now: datetime) -> list[datetime]:
    doing = character.doing
    return [doing.until] if doing is not None and doing.until > now else []


def _span(seconds: float) -> timedelta:
    # A need that hardly changes crosses a limit in more years than a calendar has.
    return timedelta(seconds=clamp(seconds, -_FAR_S, _FAR_S))


_FAR_S = 3.2e9
"""About a hundred years."""


def _ticks(
    mind: CharacterMind, at: datetime, now: datetime
) -> tuple[datetime, datetime]:
    """Return the first tick at or after a time that is after `now`, and the next one."""
    # In whole microseconds: every machine finds the same grid.
    step, phase = _micros(mind.think.interval_s), _micros(mind.think.phase_s)
    earliest = max(at, now + _MICROSECOND)
    steps = -((phase - (earliest - _EPOCH) // _MICROSECOND) // step)
    first = _EPOCH + timedelta(microseconds=phase + steps * step)
    return first, first + timedelta(microseconds=step)


def _micros(seconds: float) -> int:
    return round(seconds * 1e6)


_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)


class _Table(Struct, frozen=True):
    """The conditions of a mind, made ready."""

    reflexes: tuple[_Rule, ...]
    absent: tuple[tuple[Absence, Callable[[Mapping[str, object]], bool]], ...]
    limits: tuple[tuple[str, float], ...]
    """Each need, or `idle_s`, with a number that a condition compares it with."""


@by_identity(256)
def _table(mind: CharacterMind) -> _Table:
    linear = {*mind.needs, IDLE_S}
    reflexes = [conditions.parse(each.when) for each in mind.reflexes]
    absent = {name: conditions.parse(mind.absent[name]) for name in sorted(mind.absent)}
    talker = mind.talker
    lonely = {(talker.social, talker.lonely_below)} if talker is not None else set()
    limits = {
        (each.field, float(value))
        for when in (*reflexes, *absent.values())
        for each in conditions.comparisons(when)
        if each.field in linear
        for value in each.values
        if isinstance(value, int | float) and not isinstance(value, bool)
    }
    return _Table(
        tuple(
            _Rule(
                reflex,
                conditions.test(when),
                not linear.isdisjoint(conditions.fields_named(when)),
            )
            for reflex, when in zip(mind.reflexes, reflexes, strict=True)
        ),
        tuple((name, conditions.test(absent[name])) for name in absent),
        tuple(sorted(limits | lonely)),
    )
