"""Judge a day: what was needed and said in time, late or never, and what annoyed.

Pure. The table says what is needed; this module what its words mean.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Literal

from bench.home.annoying import Told, annoys
from bench.home.day import Day, Happened, Saying
from bench.home.needs import Need, Needs, hidden_from, holds
from packs.home.sensor.situation import RESIDENTS, Person, Situation

Verdict = Literal["met", "late", "missed", "moot"]
"""`moot`: it ended before anybody could be told, or before it was due."""


@dataclass(frozen=True, slots=True)
class Met:
    """What became of one need of the day."""

    need: Need
    at: float
    """When it began, in seconds since midnight."""
    verdict: Verdict
    told: Saying | None = None
    """What met it."""


@dataclass(frozen=True, slots=True)
class Judged:
    """What is to be said of one thing said."""

    saying: Saying
    needed: tuple[str, ...]
    """The needs that it met, also late."""
    annoying: tuple[str, ...]
    """The rules that it broke, by name."""


@dataclass(frozen=True, slots=True)
class Judgement:
    """A whole day."""

    needs: tuple[Met, ...]
    sayings: tuple[Judged, ...]

    def count(self, verdict: Verdict) -> int:
        """Return how many needs came to this."""
        return sum(each.verdict == verdict for each in self.needs)

    @property
    def annoying(self) -> int:
        """How many things said broke a rule."""
        return sum(bool(each.annoying) for each in self.sayings)

    @property
    def harmless(self) -> int:
        """How many were neither needed nor annoying."""
        return sum(not (each.annoying or each.needed) for each in self.sayings)


def judge(day: Day, table: Needs) -> Judgement:
    """Hold a day against the table."""
    told = tuple(_told(each, day, table) for each in day.sayings)
    needs = tuple(
        _met(need, event, day, told, table)
        for event in day.happened
        for need in table.needs
        if holds(need.when, event.event)
    )
    sayings = []
    for index, each in enumerate(told):
        needed = [met.need.name for met in needs if met.told is each.saying]
        broken = [
            rule.name
            for rule in table.annoyances
            if annoys(rule, each, day, told[:index])
        ]
        sayings.append(Judged(each.saying, tuple(needed), tuple(broken)))
    return Judgement(tuple(sorted(needs, key=lambda met: met.at)), tuple(sayings))


def _told(saying: Saying, day: Day, table: Needs) -> Told:
    """Return what was said with whom it reached and what it was about."""
    occasions = tuple(
        day.events[id_].event for id_ in saying.answers if id_ in day.events
    )
    topics = [
        name
        for name, topic in table.topics.items()
        if topic.events and any(holds(topic.events, each) for each in occasions)
    ]
    told = Told(
        saying=saying,
        situation=day.at(saying.at),
        occasions=occasions,
        topics=tuple(topics),
        is_aloud=saying.channel in table.aloud,
        reader=table.personal.get(saying.channel),
    )
    if topics:
        return told
    worded = (n for n, topic in table.topics.items() if told.mentions(*topic.words))
    return replace(told, topics=tuple(worded))


def _met(
    need: Need, began: Happened, day: Day, told: tuple[Told, ...], table: Needs
) -> Met:
    start = _start(need, began)
    close = _close(need, began, start, day)
    opens = next(_open(need, began, day, start, close), None)
    for each in told:
        in_time = start <= each.saying.at <= close
        if in_time and _is_about(need, began, each) and _reaches(need, began, each):
            due = (start if opens is None else opens) + need.within_s
            verdict: Verdict = "met" if each.saying.at <= due else "late"
            return Met(need, start, verdict, each.saying)
    if opens is None or close < opens + need.within_s:
        return Met(need, start, "moot")
    return Met(need, start, "missed")


def _start(need: Need, began: Happened) -> float:
    truth = began.event.evaluation_data
    if need.at is None or not isinstance(truth, dict):
        return began.at
    return float(str(truth[need.at]))


def _close(need: Need, began: Happened, start: float, day: Day) -> float:
    """Return until when the need lasts: an event may end it before its time."""
    last = start + need.at_most_s
    if need.until is None:
        return last
    after = (each for each in day.happened if start < each.at <= last)
    ended = (each.at for each in after if holds(need.until or "", each.event))
    return next(ended, last)


def _open(
    need: Need, began: Happened, day: Day, start: float, close: float
) -> Iterator[float]:
    """Yield the moments at which somebody who is meant can be told."""
    moments = [start, *(at for at, _ in day.situations if start < at < close)]
    for at in moments:
        now = day.at(at)
        if any(_is_open(need, began, name, now, at) for name in _meant(need, began)):
            yield at


def _is_open(need: Need, began: Happened, name: str, now: Situation, at: float) -> bool:
    person = now.people.get(name, Person())
    match need.reach:
        case "anywhere":
            return True
        case "home":
            return person.is_home
        case "awake":
            return person.is_awake
        case "free":
            return person.is_free and not now.is_quiet(at)
        case "alone":
            hidden = hidden_from(began.event)
            return person.is_awake and not any(now.people[n].is_home for n in hidden)


def _meant(need: Need, began: Happened) -> tuple[str, ...]:
    """Return who is to be told, any one of them."""
    if need.to == "anybody":
        return RESIDENTS
    if need.to.startswith("@"):
        return (str(began.event.fields[need.to[1:]]),)
    return (need.to,)


def _is_about(need: Need, began: Happened, told: Told) -> bool:
    if need.answers:
        if began.id in told.saying.answers:
            return True
        named = began.event.fields.get(need.mentions or "")
        return isinstance(named, str) and told.mentions(named)
    return need.topic in told.topics


def _reaches(need: Need, began: Happened, told: Told) -> bool:
    """Tell whether somebody who is meant hears or reads it."""
    meant = _meant(need, began)
    if told.reader is not None:
        return told.reader in meant
    people = told.situation.people
    is_loud = told.is_aloud and need.reach == "home"
    hearers = [people.get(name, Person()) for name in meant]
    return any(each.is_home if is_loud else each.is_awake for each in hearers)
