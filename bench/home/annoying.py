"""The rules by which something said annoys; pure."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from bench.home.day import Day, Saying
from bench.home.needs import Annoyance, Rule, hidden_from, holds
from packs.home.sensor.situation import Situation
from schemas.messages.sensing import Sensed
from schemas.packs import word_patterns


@dataclass(frozen=True, slots=True)
class Told:
    """Something said, with all that decides what it was worth."""

    saying: Saying
    situation: Situation
    """When it was said."""
    occasions: tuple[Sensed, ...]
    """The events that it answers."""
    topics: tuple[str, ...]
    is_aloud: bool
    reader: str | None
    """Who alone reads it, on a channel of one person."""

    @property
    def is_answer(self) -> bool:
        """Whether it answers a person's own words."""
        return any(each.is_persons for each in self.occasions)

    def mentions(self, *patterns: str) -> bool:
        """Tell whether one of some patterns of whole words occurs in it."""
        words = word_patterns.event_words(self.saying.text, "", "", {})
        return any(word_patterns.occurs(each, words) for each in patterns)


def annoys(rule: Annoyance, told: Told, day: Day, before: Sequence[Told]) -> bool:
    """Tell whether something said breaks a rule; `before` is what was said before it."""
    if rule.topic and not set(rule.topic) & set(told.topics):
        return False
    if set(rule.except_) & set(told.topics):
        return False
    if rule.when and not any(holds(rule.when, each) for each in told.occasions):
        return False
    return _RULES[rule.rule](rule, told, day, before)


_Broken = Callable[[Annoyance, Told, Day, Sequence[Told]], bool]


def _asleep(rule: Annoyance, told: Told, day: Day, before: Sequence[Told]) -> bool:
    people = told.situation.people.values()
    return told.is_aloud and any(each.is_home and each.asleep for each in people)


def _empty(rule: Annoyance, told: Told, day: Day, before: Sequence[Told]) -> bool:
    return told.is_aloud and not told.situation.home()


def _quiet(rule: Annoyance, told: Told, day: Day, before: Sequence[Told]) -> bool:
    if told.is_answer or not told.is_aloud:
        return False
    return told.situation.is_quiet(told.saying.at)


def _engaged(rule: Annoyance, told: Told, day: Day, before: Sequence[Told]) -> bool:
    if told.is_answer or not told.is_aloud:
        return False
    people = [each for each in told.situation.people.values() if each.is_awake]
    if "typing" in rule.activities and any(each.typing for each in people):
        return True
    return any(each.busy and each.activity in rule.activities for each in people)


def _repeated(rule: Annoyance, told: Told, day: Day, before: Sequence[Told]) -> bool:
    since = told.saying.at - rule.within_s
    return any(
        set(rule.topic) & set(each.topics)
        for each in before
        if each.saying.at >= since and each.saying.channel == told.saying.channel
    )


def _stale(rule: Annoyance, told: Told, day: Day, before: Sequence[Told]) -> bool:
    asked = [day.events[id_].at for id_ in told.saying.answers if id_ in day.events]
    if rule.after_s is not None:
        return bool(asked) and told.saying.at - max(asked) >= rule.after_s
    for each in reversed(day.happened):
        if each.at > told.saying.at:
            continue
        if rule.over and holds(rule.over, each.event):
            return True
        if rule.begun and holds(rule.begun, each.event):
            return False
    return False


def _unwanted(rule: Annoyance, told: Told, day: Day, before: Sequence[Told]) -> bool:
    # The answer to the very words that ask for it is none.
    return bool(told.situation.unwanted & set(told.topics)) and not told.is_answer


def _overheard(rule: Annoyance, told: Told, day: Day, before: Sequence[Told]) -> bool:
    hidden = {name for each in told.occasions for name in hidden_from(each)}
    if not told.is_aloud:
        return told.reader in hidden
    return any(told.situation.people[name].is_home for name in hidden)


def _absent(rule: Annoyance, told: Told, day: Day, before: Sequence[Told]) -> bool:
    concerned = {str(each.fields.get("person", "")) for each in told.occasions}
    people = told.situation.people
    named = [people[name] for name in concerned & people.keys()]
    return told.is_aloud and bool(named) and not any(each.is_home for each in named)


def _own_doing(rule: Annoyance, told: Told, day: Day, before: Sequence[Told]) -> bool:
    doers = {str(each.fields.get("by", "")) for each in told.occasions}
    hearers = {told.reader} if told.reader else set(told.situation.home())
    return bool(doers & hearers)


def _needless(rule: Annoyance, told: Told, day: Day, before: Sequence[Told]) -> bool:
    return True


_RULES: Mapping[Rule, _Broken] = {
    "asleep": _asleep,
    "empty": _empty,
    "quiet": _quiet,
    "engaged": _engaged,
    "repeated": _repeated,
    "stale": _stale,
    "unwanted": _unwanted,
    "overheard": _overheard,
    "absent": _absent,
    "own_doing": _own_doing,
    "needless": _needless,
}
