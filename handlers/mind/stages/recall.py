"""Recall: what a model is told of what the state remembers, within a budget of tokens.

In order of precedence: how the person wants to be addressed, the conversation so far if
these are that person's words, facts about the person and about what the event names, and
how often such an event came before, and what happened lately. All of it was written by
others, so all of it is fenced; nothing that concerns another person is told.
"""

from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime

from msgspec import Struct

from projections.folds.executive import conversation
from projections.folds.executive.facts import folded, in_words, named_alike
from schemas.messages.asks import CHARACTERS_PER_TOKEN, ChatTurn
from schemas.messages.sensing import Sensed
from schemas.state.agent import Habit
from schemas.state.memory import Fact, Memory, Profile, Utterance
from schemas.values.prompt_fencing import fenced, shown

_TALK_SHARE = 0.5
"""Which part of the budget the conversation may take, so that facts have room."""

_FOLLOWS_WITHIN_S = 600.0
"""After so many seconds of silence a person's words begin another conversation."""

_CAP = 300
"""How many characters of each text are told at most."""

_NAME = "The person's name is {}."
_ADDRESS = "The person wants to be addressed as {}."
_LANGUAGE = "The person speaks this language, so answer in it: {}."
_TALK = "The conversation so far:"
_THEY, _YOU = "- they said: {}", "- you said: {}"
_ASKED_THEM = "You asked that person, and this may be the answer: {}"
_ASKED_ALL = "You asked everybody, and this may be the answer: {}"
_HAPPENED = "(Something happened.)"
_FACTS = "What you were told and may use:"
_FACT = "- {}"
_LIKE = "Such an event came {count} times before, last {span} ago."
_LIKE_ONCE = "Such an event came once before, {span} ago."
TEMPLATES = (
    _NAME, _ADDRESS, _LANGUAGE, _TALK, _THEY, _YOU, _ASKED_THEM, _ASKED_ALL, _FACTS,
    _FACT, _LIKE, _LIKE_ONCE,
)  # fmt: skip
"""Our own words in it, which are part of the arm; what is remembered never is."""


_LATELY = "What happened lately:"
EVENT_TEMPLATES = (_LATELY, _FACT)
"""The same of the latest events."""

_EVENTS_SHARE = 0.5
"""Which part of what is left they may take, so that there is room for long ago."""

_MEMORY_CAP = 450
"""The same of a memory, which holds an event and what was said."""

_LONG_AGO = "What you remember of the past, which may matter now:"
MEMORY_TEMPLATES = (_LONG_AGO, _FACT)
"""The same of what is remembered of long ago."""

LEAST_ROOM = len(_LONG_AGO) + 80
"""With fewer characters left there is no room for a memory."""


class Remembering(Struct, frozen=True):
    """What there is to recall at an event."""

    memory: Memory
    event: Sensed
    now: datetime
    habit: Habit | None
    """That of like events, without this one."""
    has_aliases: bool = False
    """Whether a thing is known by all its names."""
    is_chat: bool = False
    """Whether the conversation is told as turns of a chat."""


def told(here: Remembering, tokens: int) -> str:
    """Return what a model is told of what is remembered; empty if there is nothing."""
    left = tokens * CHARACTERS_PER_TOKEN
    parts = []
    for lines, share in _topics(here):
        taken = _within(lines, int(left * share))
        if taken:
            parts.append("\n".join(taken))
            left -= len(parts[-1])
    return "\n\n".join(parts)


def chat(here: Remembering, tokens: int) -> tuple[ChatTurn, ...]:
    """Return what was said before, as turns that begin with the person and take turns.

    A person who spoke twice in a row did so in one turn; where the companion spoke of its
    own accord, something had happened.
    """
    turns: list[ChatTurn] = []
    left = int(tokens * CHARACTERS_PER_TOKEN * _TALK_SHARE)
    talk = conversation.with_person(here.memory, here.event.speaker)
    # The latest first: what is too much is the oldest.
    kept = _within((shown(each.text, _CAP) for each in reversed(talk)), left)
    for text, each in zip(reversed(kept), talk[len(talk) - len(kept) :], strict=True):
        is_own = each.grounds is not None
        if is_own and (not turns or turns[-1].role == "assistant"):
            turns.append(ChatTurn(role="user", text=_HAPPENED))
        if not is_own and turns and turns[-1].role == "user":
            text = f"{turns.pop().text}\n{text}"
        turns.append(ChatTurn(role="assistant" if is_own else "user", text=text))
    # What nobody answered goes with the words that are answered now.
    return tuple(turns)


def room(told: str, tokens: int) -> int:
    """Return how many characters are left for memories beside what is told."""
    left = tokens * CHARACTERS_PER_TOKEN - len(told)
    return left if left >= LEAST_ROOM else 0


def remembered(texts: Iterable[str], room: int) -> str:
    """Return what a model is told of long ago, in so many characters; may be empty."""
    lines = [_FACT.format(fenced(each, _MEMORY_CAP)) for each in texts]
    return "\n".join(_within((_LONG_AGO, *lines), room)) if lines else ""


def follows(here: Remembering) -> str | None:
    """Return the decision that a person's words follow upon; None if upon none."""
    if here.event.speaker is None:
        return None
    last = conversation.last_said(here.memory, here.event.speaker)
    if last is None or not _is_recent(last, here.now):
        return None
    return last.decision_id


def known_of(
    memory: Memory, text: str, person: str | None, most: int
) -> tuple[str, ...]:
    """Return the latest facts about what a text names, in words, as a person may hear them."""
    said = f" {folded(text)} "
    about = [
        each
        for each in reversed(memory.facts)
        if each.person in (None, person) and f" {folded(each.subject)} " in said
    ]
    return tuple(shown(in_words(each), _CAP) for each in about[:most])


def _relevant_facts(
    memory: Memory, event: Sensed, *, has_aliases: bool = False
) -> Iterator[Fact]:
    """Yield the facts about the person addressed and what the event names, latest first.

    With `has_aliases` things are known by all their names.
    """
    names = _names(memory, event)
    names = named_alike(memory, names) if has_aliases else names
    text = f" {folded(event.text)} " if event.is_persons else ""
    for fact in reversed(memory.facts):
        if fact.person is not None:
            # Of others nothing is told, not even what names this person.
            is_told = fact.person == event.person
        else:
            subject, object_ = folded(fact.subject), folded(fact.object)
            is_told = bool({subject, object_} & names) or f" {subject} " in text
        if is_told:
            yield fact


def _topics(here: Remembering) -> Iterator[tuple[Sequence[str], float]]:
    """Yield groups of lines, the most needed first, each with its share of what is left.

    Of a group the first line is a heading if there are more.
    """
    memory, event = here.memory, here.event
    if event.person is not None:
        profile = memory.profiles.get(event.person)
        for line in _addressed(profile) if profile is not None else ():
            yield (line,), 1.0
    if event.speaker is not None and not here.is_chat:
        asked = conversation.pending_question(memory, event.speaker)
        if asked is not None and _is_recent(asked, here.now):
            yield (_question(memory, event.speaker, asked),), 1.0
        yield _talk(memory, event.speaker), _TALK_SHARE
    facts = [_FACT.format(fenced(in_words(each), _CAP)) for each in
             _relevant_facts(memory, event, has_aliases=here.has_aliases)]  # fmt: skip
    yield ((_FACTS, *facts) if facts else ()), 1.0
    yield _like(here), 1.0
    # The latest first: what is too much is the oldest.
    latest = reversed(conversation.latest_events(memory, event))
    lines = [_FACT.format(fenced(each.text, _CAP)) for each in latest]
    yield ((_LATELY, *lines) if lines else ()), _EVENTS_SHARE


def _addressed(profile: Profile) -> Iterator[str]:
    told = (
        (_NAME, profile.name),
        (_ADDRESS, profile.address),
        (_LANGUAGE, profile.language),
    )
    return (template.format(fenced(text, _CAP)) for template, text in told if text)


def _talk(memory: Memory, speaker: str) -> tuple[str, ...]:
    """Return heading and lines, the latest first: what is too much is the oldest."""
    talk = conversation.with_person(memory, speaker)
    if not talk:
        return ()
    lines = [
        (_THEY if each.grounds is None else _YOU).format(fenced(each.text, _CAP))
        for each in reversed(talk)
    ]
    return (_TALK, *lines)


def _question(memory: Memory, speaker: str, asked: Utterance) -> str:
    own = memory.said.get(speaker, ())
    template = _ASKED_THEM if own and own[-1] == asked else _ASKED_ALL
    return template.format(fenced(asked.text, _CAP))


def _like(here: Remembering) -> tuple[str, ...]:
    habit = here.habit
    # Without a time, another clock began since.
    if habit is None or not habit.seen_at or here.event.is_persons:
        return ()
    # A time still to come is of another clock: a recording played again.
    if habit.seen_at[-1] > here.now:
        return ()
    span = _span(int((here.now - habit.seen_at[-1]).total_seconds()))
    count = max(habit.count, len(habit.seen_at))
    template = _LIKE if count > 1 else _LIKE_ONCE
    return (template.format(count=count, span=span),)


def _span(seconds: int) -> str:
    for unit, size in (("days", 86_400), ("hours", 3_600), ("minutes", 60)):
        if seconds >= 2 * size:
            return f"{seconds // size} {unit}"
    return f"{seconds} s"


def _names(memory: Memory, event: Sensed) -> frozenset[str]:
    profile = memory.profiles.get(event.person) if event.person else None
    own = (event.person, profile.name, profile.address) if profile else (event.person,)
    return frozenset(folded(each) for each in (*own, *event.entities) if each)


def _is_recent(said: Utterance, now: datetime) -> bool:
    return 0.0 <= (now - said.at).total_seconds() <= _FOLLOWS_WITHIN_S


def _within(lines: Iterable[str], characters: int) -> list[str]:
    """Return the lines that fit, from the first on; a heading alone is nothing."""
    taken: list[str] = []
    for line in lines:
        characters -= len(line) + 1
        if characters < 0:
            break
        taken.append(line)
    headings = (_TALK, _FACTS, _LONG_AGO, _LATELY)
    if taken and taken[0] in (_TALK, _LATELY):
        # Read as it was said, oldest first.
        taken[1:] = reversed(taken[1:])
    return [] if len(taken) == 1 and taken[0] in headings else taken
