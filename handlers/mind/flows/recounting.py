"""Recounting: what is known, was said or has happened before, told from the state alone.

A person who asks is answered without a model. What the state does not hold is left to the
memory, where a model may be asked and is told of it.
"""

from collections.abc import Iterator, Sequence
from itertools import islice

from handlers.mind.context import TurnContext
from handlers.mind.stages import modulation
from projections.folds.executive import facts, silences
from schemas.messages.sensing import PERSON, PERSONS_WORDS, Sensed
from schemas.state.agent import Habit
from schemas.state.memory import Fact, Silent
from schemas.values import phrase_matching, spoken_times, vectors
from schemas.values.exact_math import total
from schemas.values.phrases import Heard, Recounted, filled
from schemas.values.prompt_fencing import capped

_MEANINGS = frozenset({"known", "said", "happened"})
"""What people may ask of the past."""

_FACTS, _SAYINGS = 5, 3
"""How many facts, and how many things that somebody said, are told at most."""

_MISSED = 5
"""How many things that were missed are told, the latest first."""

_CAP = 200
"""How many characters of each."""

_OWN_WORDS = f"{PERSON}.{PERSONS_WORDS}"
"""The sort of a person's words, which are no event that could come again."""


def told(turn: TurnContext, event: Sensed, heard: Heard) -> str | None:
    """Return what is told of the past; None if it is not asked for, or nothing is known."""
    if heard.means == "catch_up":
        return _missed(turn, event, heard) or None
    if heard.means not in _MEANINGS:
        return None
    if heard.means == "happened":
        found = list(_last_like(turn, heard))
    elif heard.means == "said":
        found = list(islice(_sayings(turn, event, heard), _SAYINGS))
    else:
        known = islice(_about(turn, event, heard), _FACTS)
        stated = (capped(facts.in_words(each), _CAP) for each in known)
        found = [f"{each[:1].upper()}{each[1:]}." for each in stated]
        found += _like(turn, heard)
    return " ".join(found) or None


def added(turn: TurnContext, event: Sensed, heard: Heard) -> str:
    """Return what goes with the answer to a request; mostly empty.

    What a topic means that nobody wants to hear of; at the end of a mute the threats that it
    kept back, and that there is more.
    """
    if heard.means == "suppress":
        return _meant(turn, heard)
    if heard.means != "unmute":
        return ""
    found = silences.missed(turn.state.executive.memory, event.speaker)
    threats = [each for each in found if each.is_threat]
    offer = heard.phrases.missed_offer if len(threats) < len(found) else ""
    return f"{_recounted(threats, heard)} {offer}".strip()


def _missed(turn: TurnContext, event: Sensed, heard: Heard) -> str:
    """Return what is told to who asks what was missed; empty if nothing was."""
    return _recounted(
        silences.missed(turn.state.executive.memory, event.speaker), heard
    )


def _recounted(found: Sequence[Silent], heard: Heard) -> str:
    texts = list(dict.fromkeys(capped(each.about, _CAP) for each in reversed(found)))
    if not texts or not heard.phrases.missed:
        return ""
    said = [each if each[-1:] in ".!?" else f"{each}." for each in texts[:_MISSED]]
    if len(texts) > _MISSED:
        count = str(len(texts) - _MISSED)
        said.append(filled(heard.phrases.missed_more, count=count))
    return filled(heard.phrases.missed, items=" ".join(said))


def _meant(turn: TurnContext, heard: Heard) -> str:
    """Return which kinds of events a topic is about that nobody wants to hear of.

    Empty if the words name the only one themselves.
    """
    if not heard.phrases.meant or heard.is_unclear:
        return ""
    limit, vector = turn.settings.limits.match, turn.aids.of(heard.topic)
    found = modulation.kinds_about(heard.topic, vector, _kinds(turn), limit)
    return filled(heard.phrases.meant, items=", ".join(found)) if found else ""


def _kinds(
    turn: TurnContext,
) -> Iterator[tuple[str, tuple[str, ...], tuple[vectors.Vector, ...]]]:
    """Yield the types of events that packs declare, then those that came besides."""
    habits = turn.state.habits
    declared = [
        each for pack in turn.packs for each in pack.pack.events if not each.means
    ]
    for each in declared:
        yield each.type, each.called, ()
    for sort in habits.sorted_keys():
        if sort != _OWN_WORDS:
            came = tuple(each.vector for each in habits[sort])
            yield sort.partition(".")[2], (), came


def is_left_to_memory(turn: TurnContext, heard: Heard) -> bool:
    """Tell whether a model is asked instead, with what the memory holds of a topic."""
    settings, is_topical = turn.settings.executive, heard.means in ("known", "said")
    if not is_topical or turn.settings.model is None:
        return False
    return settings.recall and bool(settings.prompt_tokens)


def _about(turn: TurnContext, event: Sensed, heard: Heard) -> Iterator[Fact]:
    """Yield the facts on a topic that this person may be told, latest first."""
    memory, person = turn.state.executive.memory, event.speaker
    names = facts.named_alike(memory, _names(turn, event, heard))
    for fact in reversed(memory.facts):
        if fact.person not in (None, person):
            continue
        held = (facts.folded(fact.subject), facts.folded(fact.object))
        if any(_holds(each, name) for each in held for name in names):
            yield fact


def _names(turn: TurnContext, event: Sensed, heard: Heard) -> frozenset[str]:
    topic = facts.folded(heard.topic)
    if topic not in heard.phrases.selves:
        article, _, bare = topic.partition(" ")
        is_bare = article not in heard.phrases.articles
        return frozenset((topic,) if is_bare or not bare else (topic, bare))
    known = turn.state.executive.memory.profiles.get(event.speaker or "")
    own = (event.speaker, known.name, known.address) if known else (event.speaker,)
    return frozenset(facts.folded(each) for each in own if each)


def _sayings(turn: TurnContext, event: Sensed, heard: Heard) -> Iterator[str]:
    """Yield what somebody said on a topic, latest first; not that they asked for it."""
    talk = turn.state.executive.memory.said.get(event.speaker or "", ())
    topic = facts.folded(heard.topic)
    for each in reversed(talk):
        if each.grounds is not None or not _holds(facts.folded(each.text), topic):
            continue
        asked = phrase_matching.heard(each.text, (heard.phrases,))
        if asked is not None and asked.means in _MEANINGS:
            continue
        span = (turn.now - each.at).total_seconds()
        yield heard.phrases.recount(
            "said",
            text=capped(each.text, _CAP),
            span=spoken_times.in_figures(max(span, 0.0)),
        )


def _like(turn: TurnContext, heard: Heard) -> Iterator[str]:
    """Yield how often events came that are like a topic."""
    vector, alike = turn.aids.of(heard.topic), turn.settings.limits.match
    if vector is None or not any(vector):
        return
    habits = turn.state.habits
    found = [
        habit
        for sort in habits.sorted_keys()
        if sort != _OWN_WORDS
        for habit in habits[sort]
        if len(habit.vector) == len(vector)
        and vectors.cosine(habit.vector, vector) >= alike
    ]
    yield from _counted(turn, heard, found, now=0)


def _last_like(turn: TurnContext, heard: Heard) -> Iterator[str]:
    """Yield how often such an event came as the one that was answered last."""
    said = (
        each
        for each in reversed(turn.state.executive.sayings.said)
        if each.sort and each.sort != _OWN_WORDS
    )
    for each in islice(said, 1):
        habits = turn.state.habits.get(each.sort, ())
        found = [
            habit
            for habit in habits
            if len(habit.vector) == len(each.vector)
            and vectors.cosine(habit.vector, each.vector)
            >= turn.settings.limits.duplicate
        ]
        yield from _counted(turn, heard, found, now=1)


def _counted(
    turn: TurnContext, heard: Heard, found: list[Habit], *, now: int
) -> Iterator[str]:
    """Yield in words how often events came and when the last did; `now` are not counted."""
    came = total(max(each.count, len(each.seen_at)) for each in found)
    count = int(came) - now
    times = sorted(at for each in found for at in each.seen_at if at <= turn.now)
    if count < 1 or len(times) <= now:
        return
    span = (turn.now - times[-1 - now]).total_seconds()
    kind: Recounted = "like" if count > 1 else "like_once"
    yield heard.phrases.recount(
        kind, count=str(count), span=spoken_times.in_figures(span)
    )


def _holds(text: str, words: str) -> bool:
    return bool(words) and f" {words} " in f" {text} "
