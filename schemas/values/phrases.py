"""Phrases: what people say to have the companion quieter, livelier, or about other things.

They are data: the program's own are recorded with the settings, others come with packs.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Annotated, Literal, Self

from pydantic import Field, model_validator
from pydantic_core import PydanticCustomError

from schemas.values.base import Part, Token, added
from schemas.values.unicode_text import MARKS_SINCE, words

Meaning = Literal[
    "quiet",
    "mute",
    "unmute",
    "suppress",
    "heighten",
    "focus",
    "talk_more",
    "talk_less",
    "cheer_up",
    "help",
    "undo",
    "why",
    "remind",
]
Reason = Literal[
    "heuristic",
    "heuristic_alone",
    "llm",
    "llm_alone",
    "fallback",
    "fallback_alone",
    "acknowledged",
    "proactive_alone",
]
"""Why something was said, by the path of its decision; `_alone` if its event is not known
any more."""

TOPIC, SPAN, TIME = "{topic}", "{span}", "{time}"
"""Places in a pattern: any words, up to the end; a number with a unit of time; a time of
the day, as an hour and perhaps minutes."""

_PLACES = re.compile(r"\{(\w+)\}")

WORDS_MOST = 12
"""How many words a phrase has at most: who says more says something else."""


def _is_empty(reasons: Mapping[str, str]) -> bool:
    return not reasons


class Phrases(Part):
    """How such things are said in one language, and what is answered."""

    language: Token
    courtesies: tuple[str, ...] = Field(default=(), max_length=64)
    """Words that may stand before or after a phrase and change nothing: `please`."""
    numbers: dict[str, float] = Field(default_factory=dict, max_length=64)
    """Numbers in words, such as `ten`."""
    units: dict[str, float] = Field(default_factory=dict, max_length=64)
    """Units of time, in seconds."""
    patterns: dict[Meaning, tuple[str, ...]] = Field(max_length=16)
    """What is said, in whole; `{topic}` stands last, `{span}` and `{time}` anywhere."""
    replies: dict[Meaning, str]
    """What is answered; with `{topic}`, or with `{minutes}`, which is rounded up."""
    refusal: str = Field(min_length=1, max_length=500)
    """What is answered if it cannot be done."""
    check_ins: tuple[Annotated[str, Field(min_length=1, max_length=500)], ...] = Field(
        default=(), max_length=64, exclude_if=().__eq__
    )
    """What may be asked when nothing was said for a while."""
    reminder: str = added("{topic}")
    """What is said when a reminder is due."""
    reminder_alone: str = added("")
    """Likewise, where nobody said of what to remind."""
    reasons: dict[Reason, str] = Field(
        default_factory=dict, max_length=16, exclude_if=_is_empty
    )
    """What is answered to `why`, with `{event}`, `{name}`, `{similarity}`, `{confidence}`."""

    def reason(self, kind: str, **told: str) -> str:
        """Return why something was said; the reply to `why` if there are no words for it."""
        found = (self.reasons[each] for each in self.reasons if each == kind)
        said = next(found, self.replies.get("why", self.refusal))
        # In one pass: what is filled in may hold a place itself.
        return _PLACES.sub(lambda place: told.get(place[1], place[0]), said)

    @model_validator(mode="after")
    def _fits_together(self) -> Self:
        if missing := [each for each in self.patterns if each not in self.replies]:
            message = "a pattern has no reply: {missing}"
            raise PydanticCustomError("no_reply", message, {"missing": missing[0]})
        for pattern in (each for all_ in self.patterns.values() for each in all_):
            if TOPIC in pattern and not pattern.endswith(f" {TOPIC}"):
                message = "{pattern}: the topic stands last"
                raise PydanticCustomError("topic", message, {"pattern": pattern})
        return self


class Heard(Part):
    """A phrase that was recognised."""

    means: Meaning
    phrases: Phrases
    """Those it is of, for the reply."""
    topic: str = ""
    span_s: float | None = None
    time: tuple[int, int] | None = None
    """Hour and minute; an hour up to 12 may be one of either half of the day."""

    def reply(self, minutes: int = 0) -> str:
        """Return what is answered."""
        said = self.phrases.replies[self.means]
        return said.replace("{topic}", self.topic).replace("{minutes}", str(minutes))


def tails(text: str) -> tuple[str, ...]:
    """Return every text that may be the topic of a phrase: each end of it, by words.

    The last word may be a courtesy, so each comes without it as well.
    """
    known = words(text, MARKS_SINCE) if len(text) <= 40 * WORDS_MOST else []
    if len(known) > WORDS_MOST:
        return ()
    ends = (len(known), len(known) - 1)
    return tuple(" ".join(known[start:end]) for end in ends for start in range(1, end))


def heard(text: str, known: Iterable[Phrases], edition: int) -> Heard | None:
    """Return the phrase that a person's words are; None if they are none.

    A reason may follow after a comma, unless the phrase ends in a topic, which may have one.
    """
    patterns = tuple(known)
    # Words are told apart without marks, and these change what is meant.
    if _MARKS.search(text):
        return None
    whole = _whole(text, patterns, edition)
    beginning, comma, _ = text.partition(",")
    if whole is not None and not _is_twofold(whole, patterns, edition):
        return whole
    if not comma:
        return None
    found = _whole(beginning, patterns, edition)
    return found if found is not None and not found.topic else None


_MARKS = re.compile(r"[?!.;:]\s+\w|(?<!\w)[-\u2212]\d")
"""A sentence within the words, or a number below zero."""

_AND = re.compile(r" (?:and|und) ")


def _is_twofold(found: Heard, known: Sequence[Phrases], edition: int) -> bool:
    """Tell whether a topic holds another phrase: "the oven and be quiet"."""
    further = _AND.split(found.topic)[1:]
    return any(_whole(each, known, edition) is not None for each in further)


def _whole(text: str, known: Iterable[Phrases], edition: int) -> Heard | None:
    said = words(text, edition)
    if len(said) > WORDS_MOST:
        return None
    for phrases in known:
        bare = _without_courtesies(said, phrases)
        # What is a courtesy elsewhere may be part of a phrase: "not now".
        for each in (bare, said):
            found = _heard(each, phrases, edition)
            if found is not None:
                return found
    return None


def _heard(said: Sequence[str], phrases: Phrases, edition: int) -> Heard | None:
    for means in sorted(phrases.patterns):
        empty = Heard(means=means, phrases=phrases)
        for pattern in phrases.patterns[means]:
            found = _places(pattern, said, empty, edition)
            if found is not None:
                return found
    return None


def _without_courtesies(said: Sequence[str], phrases: Phrases) -> Sequence[str]:
    start, end = 0, len(said)
    while start < end and said[start] in phrases.courtesies:
        start += 1
    while end > start and said[end - 1] in phrases.courtesies:
        end -= 1
    return said[start:end]


def _places(
    pattern: str, said: Sequence[str], found: Heard, edition: int
) -> Heard | None:
    """Return what words that fit a pattern tell; None if they do not fit."""
    at = 0
    for part in pattern.split():
        if part == TOPIC:
            topic = " ".join(said[at:])
            return found.model_copy(update={"topic": topic}) if topic else None
        if part == SPAN:
            span_s = _span_s(said[at : at + 2], found.phrases)
            if span_s is None:
                return None
            found, at = found.model_copy(update={"span_s": span_s}), at + 2
            continue
        if part == TIME:
            time = _time(said[at : at + 2], found.phrases)
            if time is None:
                return None
            hour, minute, count = time
            found, at = found.model_copy(update={"time": (hour, minute)}), at + count
            continue
        for word in words(part, edition):
            if at >= len(said) or said[at] != word:
                return None
            at += 1
    return found if at == len(said) and at else None


def _time(said: Sequence[str], phrases: Phrases) -> tuple[int, int, int] | None:
    """Return hour and minute, and how many words they are."""
    hour = _count(said[0], phrases.numbers) if said else None
    if hour is None or hour >= 24 or hour != int(hour):
        return None
    # Minutes are two digits: in "at six two eggs" there are none.
    minute = said[1] if len(said) > 1 and len(said[1]) == 2 else ""
    if minute.isascii() and minute.isdecimal() and int(minute) < 60:
        return int(hour), int(minute), 2
    return int(hour), 0, 1


def _span_s(said: Sequence[str], phrases: Phrases) -> float | None:
    if len(said) < 2:
        return None
    number, unit = said
    count = _count(number, phrases.numbers)
    seconds = phrases.units.get(unit)
    if count is None or seconds is None or not 0 < count * seconds <= 1e9:
        return None
    return count * seconds


def _count(number: str, numbers: Mapping[str, float]) -> float | None:
    # ASCII digits alone: `isdecimal` depends on the tables of the Python that runs.
    if number.isascii() and number.isdecimal() and len(number) <= 6:
        return float(number)
    return numbers.get(number)
