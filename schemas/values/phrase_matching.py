"""Which phrase a person's words are, and what they name: a topic, a span, a time."""

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from schemas.values import spoken_times
from schemas.values.phrases import SPAN, TIME, TOPIC, WORDS_MOST, Heard, Phrases
from schemas.values.unicode_text import words

_VAGUE_MOST = 5
"""How many words may stand for a time that is not understood."""

_BEFORE_TIMES = frozenset({"for", "until", "till", "für", "bis"})
"""Words with which a time may follow a topic."""


def tails(text: str) -> tuple[str, ...]:
    """Return every text that may be the topic of a phrase: each end of it, by words.

    The last word may be a courtesy, and a time may follow, so each comes without as well.
    """
    known = words(text) if len(text) <= 40 * WORDS_MOST else []
    if len(known) > WORDS_MOST:
        return ()
    times = (at for at, word in enumerate(known) if at > 1 and word in _BEFORE_TIMES)
    ends = dict.fromkeys((len(known), len(known) - 1, *times))
    return tuple(" ".join(known[start:end]) for end in ends for start in range(1, end))


def heard(text: str, known: Iterable[Phrases]) -> Heard | None:
    """Return the phrase that a person's words are; None if they are none.

    A reason may follow after a comma, unless the phrase ends in a topic, which may have one.
    """
    patterns = tuple(known)
    # Words are told apart without marks, and these change what is meant.
    if _SENTENCE.search(text):
        return None
    # Below zero there is no time, so such a number can only be not understood.
    clear = (False, True) if _NEGATIVE.search(text) is None else (True,)
    for is_vague in clear:
        found = _whole(text, patterns, is_vague=is_vague)
        if found is not None and not _is_twofold(found, patterns):
            return found
        beginning, comma, _ = text.partition(",")
        if comma:
            found = _whole(beginning, patterns, is_vague=is_vague)
            if found is not None and not found.topic:
                return found
    return None


def as_written(topic: str, text: str) -> str:
    """Return a topic as it stands in the text that it was read from: with its capitals."""
    between = r"\W+".join(map(re.escape, topic.split()))
    found = re.search(rf"(?<!\w){between}(?!\w)", text, re.IGNORECASE)
    return " ".join(found[0].split()) if found else topic


_SENTENCE = re.compile(r"[?!.;:]\s+\w")
_NEGATIVE = re.compile(r"(?<!\w)[-\u2212]\d")

_AND = re.compile(r" (?:and|und) ")


def _is_twofold(found: Heard, known: Sequence[Phrases]) -> bool:
    """Tell whether a topic holds another phrase: "the oven and be quiet"."""
    further = _AND.split(found.topic)[1:]
    return any(_whole(each, known) is not None for each in further)


class _Said(NamedTuple):
    """Words as they are held against patterns."""

    words: Sequence[str]
    decimals: frozenset[tuple[str, str]]
    is_vague: bool
    """Whether to look only for times that are not understood."""
    is_long: bool
    """Whether there are so many that they can only ask for a reminder."""


def _whole(
    text: str, known: Iterable[Phrases], *, is_vague: bool = False
) -> Heard | None:
    all_ = words(text)
    decimals = spoken_times.decimals(text)
    for phrases in known:
        if len(all_) > phrases.longest:
            continue
        # What is a courtesy elsewhere may be part of a phrase: "not now".
        for each in _with_fewer_courtesies(all_, phrases):
            is_long = len(all_) > WORDS_MOST
            found = _heard(_Said(each, decimals, is_vague, is_long), phrases)
            if found is not None:
                return found
    return None


def _heard(said: _Said, phrases: Phrases) -> Heard | None:
    # Without words to say so, what is not understood is no phrase.
    sought = phrases.unclear if said.is_vague else phrases.patterns
    for means in sorted(sought):
        if said.is_long and means != "remind":
            continue
        empty = Heard(means=means, phrases=phrases, is_unclear=said.is_vague)
        for pattern in phrases.patterns.get(means, ()):
            found = _places(pattern.split(), said, empty)
            if found is not None:
                return found
    return None


def _with_fewer_courtesies(
    said: Sequence[str], phrases: Phrases
) -> Iterator[Sequence[str]]:
    start, end = 0, len(said)
    while start < end and said[start] in phrases.courtesies:
        start += 1
    while end > start and said[end - 1] in phrases.courtesies:
        end -= 1
    yield said[start:end]
    yield said
    # Phrases recorded without fractions knew courtesies at their ends alone.
    if phrases.fractions:
        yield [each for each in said if each not in phrases.courtesies]


def _places(pattern: Sequence[str], said: _Said, found: Heard) -> Heard | None:
    """Return what words that fit a pattern tell; None if they do not fit."""
    at = 0
    for index, part in enumerate(pattern):
        rest = said._replace(words=said.words[at:])
        if part == TOPIC:
            return _topic(pattern[index + 1 :], rest, found)
        if part in (SPAN, TIME):
            taken = _taken(part, pattern[index + 1 :], rest, found)
            if taken is None:
                return None
            found, at = taken[0], at + taken[1]
            continue
        for word in words(part):
            if at >= len(said.words) or said.words[at] != word:
                return None
            at += 1
    # What is not understood is a time; elsewhere words are clear or no phrase.
    is_timed = SPAN in pattern or TIME in pattern
    return found if at == len(said.words) and at and is_timed >= said.is_vague else None


def _topic(pattern: Sequence[str], said: _Said, found: Heard) -> Heard | None:
    """Return what a topic, and a time that the pattern has after it, tell."""
    if not pattern:
        topic = " ".join(said.words)
        return found.model_copy(update={"topic": topic}) if topic else None
    # After a topic any words may be part of it, so a time must be understood.
    for end in range(1, 0 if said.is_vague else len(said.words)):
        topic, rest = " ".join(said.words[:end]), said.words[end:]
        named = found.model_copy(update={"topic": topic})
        timed = _places(pattern, said._replace(words=rest), named)
        if timed is not None:
            return timed
    return None


def _taken(
    place: str, pattern: Sequence[str], said: _Said, found: Heard
) -> tuple[Heard, int] | None:
    """Return what the words in the place of a time tell, and how many they are."""
    if said.is_vague:
        count = _vague(pattern, said.words, found.phrases)
        return (found, count) if count else None
    if place == SPAN:
        span = spoken_times.span(said.words, found.phrases, said.decimals)
        if span is None:
            return None
        return found.model_copy(update={"span_s": span[0]}), span[1]
    time = spoken_times.time(said.words, found.phrases)
    if time is None:
        return None
    told = {"time": time[0], "is_time_exact": time[1]}
    return found.model_copy(update=told), time[2]


def _vague(pattern: Sequence[str], said: Sequence[str], phrases: Phrases) -> int:
    """Return how many words stand where a time should; 0 if they cannot be meant as one."""
    if not pattern:
        return len(said) if len(said) <= _VAGUE_MOST else 0
    ends = (at for at, word in enumerate(said) if word == pattern[0])
    count = next(ends, 0)
    # "Sei nicht still" has no time in the middle, "sei 99 Dekaden still" has.
    known = (*phrases.numbers, *phrases.units)
    is_meant = any(each in known or each[:1].isdecimal() for each in said[:count])
    return count if is_meant and count <= _VAGUE_MOST else 0
