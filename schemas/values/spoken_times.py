"""Spans and times of the day, as people say them: `an hour and a half`, `half past six`.

The words of a language are data, recorded with the phrases they belong to, so a log is read
alike by every later version; a library of such words would change with its releases.
"""

import re
from collections.abc import Mapping, Sequence
from typing import Protocol, TypeVar

_T = TypeVar("_T")

_MOST_WORDS = 5
"""How many words an entry has at most: `the day after tomorrow`."""

_LONGEST_S = 1e9
"""The longest span that is one, about thirty years."""

_MOST_BEFORE_PART = 4
"""Up to which word of a time the half of the day can be glued: `a quarter past 6pm`."""
_GLUED = re.compile(r"([0-9]{1,6})([a-z]{1,10})")
_DECIMALS = re.compile(r"(?<![\d.,:])(\d{1,6})[.,](\d{1,6})(?![\d.,:])", re.ASCII)


class Measures(Protocol):
    """The words for times in one language."""

    @property
    def numbers(self) -> Mapping[str, float]:
        """Numbers in words, also of several: `half an`."""

    @property
    def units(self) -> Mapping[str, float]:
        """Units of time, in seconds."""

    @property
    def fractions(self) -> Mapping[str, float]:
        """What is added to a number, or to one unit: `and a half`.

        Phrases recorded without any are read as they were: a number, then a unit.
        """

    @property
    def joints(self) -> Sequence[str]:
        """Words between two spans that are one: `and`."""

    @property
    def day_parts(self) -> Mapping[str, int]:
        """What follows an hour up to 12: `pm`; 0 or 12 hours are added."""

    @property
    def before_hours(self) -> Mapping[str, int]:
        """What precedes an hour, in minutes: `half past`."""

    @property
    def times(self) -> Mapping[str, int]:
        """Times of the day with a name, in minutes since midnight: `noon`."""


def longest(said: Sequence[str], known: Mapping[str, _T]) -> tuple[_T, int] | None:
    """Return what the most words of a beginning mean, and how many they are."""
    most = min(len(said), _MOST_WORDS) if known else 0
    starts = ((" ".join(said[:count]), count) for count in range(most, 0, -1))
    return next(((known[each], count) for each, count in starts if each in known), None)


def first_of(said: Sequence[str], phrases: Sequence[str]) -> int:
    """Return how many words the longest phrase is that words begin with; 0: none does."""
    most = min(len(said), _MOST_WORDS) if phrases else 0
    starts = (count for count in range(most, 0, -1))
    return next((each for each in starts if " ".join(said[:each]) in phrases), 0)


def decimals(text: str) -> frozenset[tuple[str, str]]:
    """Return the two halves of each number with decimals; as words they are apart."""
    return frozenset(_DECIMALS.findall(text))


def span(
    said: Sequence[str], known: Measures, pairs: frozenset[tuple[str, str]]
) -> tuple[float, int] | None:
    """Return the span that words begin with, in seconds, and how many words it takes.

    `pairs` are the `decimals` of the text. None if they begin with none.
    """
    if not known.fractions:
        return _plain_span(said, known)
    total_s, at, last_unit_s = 0.0, 0, _LONGEST_S
    while True:
        is_joined = at > 0 and at < len(said) and said[at] in known.joints
        start = at + is_joined
        found = _one_span(said[start:], known, pairs)
        # "An hour and ten minutes" is one span, "ten minutes two hours" is none.
        if found is None or found[1] >= last_unit_s:
            break
        seconds, last_unit_s, count = found
        total_s, at = total_s + seconds, start + count
    total_s = round(total_s, 6)
    return (total_s, at) if 0.0 < total_s <= _LONGEST_S else None


def time(
    said: Sequence[str], known: Measures
) -> tuple[tuple[int, int], bool, int] | None:
    """Return the time of the day that words begin with, and how many words it takes.

    The second is whether its half of the day was said; else an hour up to 12 may be one of
    either. None if they begin with none.
    """
    named = longest(said, known.times)
    if named is not None:
        minutes, count = named
        return (minutes // 60, minutes % 60), True, count
    for at in range(min(len(said), _MOST_BEFORE_PART)):
        apart = _apart(said, at, known)
        found = time(apart, known) if apart else None
        if found is not None and found[2] > at + 1:
            return (*found[:2], found[2] - 1)
    before = longest(said, known.before_hours)
    offset, start = before or (0, 0)
    clock = _clock(said[start:], known, has_minutes=before is None)
    if clock is None and before is not None:
        # "At ten to lock up" is at ten.
        (offset, start), before = (0, 0), None
        clock = _clock(said, known, has_minutes=True)
    if clock is None:
        return None
    hour, minute, count = clock
    hour, minute = (hour + (minute + offset) // 60) % 24, (minute + offset) % 60
    count += start
    part = longest(said[count:], known.day_parts)
    if part is not None and 0 < hour <= 12:
        return (hour % 12 + part[0], minute), True, count + part[1]
    # A quarter to one may be at either of two times; who says "06:30" counts to 24.
    is_before_one = before is not None and hour == 0
    is_exact = len(said[start]) > 1 and said[start].startswith("0")
    return (12 if is_before_one else hour, minute), is_exact, count


def _apart(said: Sequence[str], at: int, known: Measures) -> list[str] | None:
    """Return words of which one is two to us: `6pm`, `30pm` of "6:30pm", `6p` of "6p.m."."""
    glued = _GLUED.fullmatch(said[at])
    if glued is None or not longest([glued[2], *said[at + 1 :]], known.day_parts):
        return None
    return [*said[:at], glued[1], glued[2], *said[at + 1 :]]


def in_figures(seconds: float) -> str:
    """Return a span in figures, rounded up: `45 s`, `10 min`, `1 h 30 min`, `2 d 3 h`."""
    whole = max(1, -int(-seconds // 1))
    if whole < 60:
        return f"{whole} s"
    minutes = -(-whole // 60)
    hours = -(-minutes // 60)
    if minutes < 60:
        return f"{minutes} min"
    if minutes < 24 * 60:
        return _two(minutes, 60, "h", "min")
    return _two(hours, 24, "d", "h")


def _two(amount: int, per_larger: int, larger: str, smaller: str) -> str:
    whole, rest = divmod(amount, per_larger)
    return f"{whole} {larger} {rest} {smaller}" if rest else f"{whole} {larger}"


def _plain_span(said: Sequence[str], known: Measures) -> tuple[float, int] | None:
    if len(said) < 2:
        return None
    count, unit_s = _digits(said[0], known), known.units.get(said[1])
    if count is None or unit_s is None or not 0 < count * unit_s <= _LONGEST_S:
        return None
    return count * unit_s, 2


def _one_span(
    said: Sequence[str], known: Measures, pairs: frozenset[tuple[str, str]]
) -> tuple[float, float, int] | None:
    """Return a number of one unit: seconds, the unit's seconds, and how many words."""
    glued = _GLUED.fullmatch(said[0]) if said else None
    if glued and glued[2] in known.units:
        unit_s = known.units[glued[2]]
        return float(glued[1]) * unit_s, unit_s, 1
    number = _number(said, known, pairs)
    if number is None:
        return None
    amount, at = number
    if said[at : at + 1] and said[at] in known.units:
        # "An hour and a half", but never "an hour and a half hour": that is two spans.
        unit_s = known.units[said[at]]
        more, words = longest(said[at + 1 :], known.fractions) or (0.0, 0)
        after = at + 1 + words
        if after < len(said) and said[after] in known.units:
            more, after = 0.0, at + 1
        return (amount + more) * unit_s, unit_s, after
    more, words = longest(said[at:], known.fractions) or (0.0, 0)
    at += words
    if not words or at >= len(said) or said[at] not in known.units:
        return None
    unit_s = known.units[said[at]]
    return (amount + more) * unit_s, unit_s, at + 1


def _number(
    said: Sequence[str], known: Measures, pairs: frozenset[tuple[str, str]]
) -> tuple[float, int] | None:
    """Return the number that words begin with, and how many words it takes."""
    if tuple(said[:2]) in pairs:
        return float(".".join(said[:2])), 2
    named = longest(said, known.numbers)
    if named is None:
        digits = _digits(said[0], known) if said else None
        return None if digits is None else (digits, 1)
    tens, count = named
    ones = known.numbers.get(said[count], 0.0) if count < len(said) else 0.0
    # "Twenty five" is one number.
    if count == 1 and tens % 10.0 == 0.0 and tens >= 20.0 and 1.0 <= ones < 10.0:
        return tens + ones, 2
    return named


def _clock(
    said: Sequence[str], known: Measures, *, has_minutes: bool
) -> tuple[int, int, int] | None:
    """Return hour and minute, and how many words they are."""
    whole = said[0] if has_minutes and said else ""
    if whole.isascii() and whole.isdecimal() and 3 <= len(whole) <= 4:
        # "At 630" is at half past six, as speech recognition often writes it.
        at, late = divmod(int(whole), 100)
        return (at, late, 1) if at < 24 and late < 60 else None
    hour = _digits(said[0], known) if said else None
    if hour is None or hour >= 24 or hour != int(hour):
        return None
    # Minutes are two digits: in "at six two eggs" there are none.
    minute = said[1] if len(said) > 1 and len(said[1]) == 2 else ""
    if has_minutes and minute.isascii() and minute.isdecimal() and int(minute) < 60:
        return int(hour), int(minute), 2
    return int(hour), 0, 1


def _digits(number: str, known: Measures) -> float | None:
    # ASCII digits alone: `isdecimal` depends on the tables of the Python that runs.
    if number.isascii() and number.isdecimal() and len(number) <= 6:
        return float(number)
    return known.numbers.get(number)
