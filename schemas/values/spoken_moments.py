"""Moments in a person's words: `tomorrow at nine`, `every day at eight and at 20:00`.

A grammar over the words that a language's phrases bring. What it reads it reads whole: a
word of time that is left over makes what was said not understood: `words_of_time`.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple, Protocol

from schemas.values import spoken_times
from schemas.values.calendar_words import Calendar
from schemas.values.recurrence import EVERY_DAY, When
from schemas.values.spoken_times import Measures, first_of, longest

_MOST_MOMENTS = 6
"""How many moments one sentence names at most."""
_DAY_S = 86_400.0
_DAY_MINUTES = 1_440

_Decimals = frozenset[tuple[str, str]]


class Dated(Measures, Protocol):
    """The words for times of a language that has a calendar."""

    @property
    def calendar(self) -> Calendar | None:
        """Its words for days; None: it has spans and times of the day alone."""


class _Found(NamedTuple):
    """A piece of a moment: what it tells, and how many words it is."""

    told: dict[str, Any]
    words: int


def moments(
    said: Sequence[str], known: Dated, pairs: _Decimals, *, is_led: bool = False
) -> tuple[tuple[When, ...], int] | None:
    """Return the moments that words begin with, and how many words they take.

    `is_led`: a bare number is a time of the day, as after `until`. None if they begin with
    none.
    """
    found: list[When] = []
    at = 0
    while len(found) < _MOST_MOMENTS:
        start, is_bare = at, is_led
        if found:
            joint = first_of(said[at:], known.calendar.ands if known.calendar else ())
            if not joint:
                break
            start, is_bare = at + joint, is_led or found[-1].time is not None
        one = _one(said[start:], known, pairs, is_led=is_bare)
        if one is None:
            break
        found.append(one[0])
        at = start + one[1]
    return (_completed(found), at) if found else None


def merged(first: When, second: When) -> When | None:
    """Return the moment of which two places of a sentence tell a part each, or None."""
    mine, other = _told(first), _told(second)
    if mine.keys() & other.keys() or not _are_one({**mine, **other}):
        return None
    return When.model_validate({**mine, **other})


def end_of(whens: Sequence[When], calendar: Calendar | None) -> When | None:
    """Return when the part of today ends that was said, a night in the morning; else None."""
    first, *further = whens
    if further or calendar is None or first.part is None:
        return None
    if first.model_copy(update={"part": None}) != When(days=0):
        return None
    # A night's own end is for moments in it; who sleeps is woken when the day's parts begin.
    morning = min((usual for usual, _, _ in calendar.parts.values()), default=0)
    end = first.part[2] if first.part[2] <= _DAY_MINUTES else morning
    is_today = first.part[2] < _DAY_MINUTES
    time = divmod(end % _DAY_MINUTES, 60)
    return When(days=0 if is_today else None, time=time, is_exact=True)


def _one(
    said: Sequence[str], known: Dated, pairs: _Decimals, *, is_led: bool
) -> tuple[When, int] | None:
    """Return the moment that words begin with, and how many words it takes."""
    told: dict[str, Any] = {}
    at = 0
    while at < len(said):
        pieces = _pieces(said[at:], known, pairs, is_led=is_led and not told)
        fits = (
            each
            for each in pieces
            if not told.keys() & each.told.keys() and _are_one({**told, **each.told})
        )
        best = max(fits, key=lambda each: each.words, default=None)
        if best is None:
            break
        told, at = {**told, **best.told}, at + best.words
    if not told:
        return None
    return When.model_validate(_dated(told)), at


_DAYS = frozenset({"days", "weekdays", "day"})


def _are_one(told: Mapping[str, Any]) -> bool:
    """Tell whether pieces can be of one moment."""
    if "in_s" in told:
        # "In two days at nine" is a day; "in ten minutes at nine" is nothing.
        is_days = told["in_s"] % _DAY_S == 0.0
        return (
            not _DAYS & told.keys()
            and "every_s" not in told
            and (is_days or told.keys() <= {"in_s"})
        )
    if "every_s" in told:
        return told.keys() <= {"every_s", "is_repeated"}
    return len(_DAYS & told.keys()) < 2


def _dated(told: dict[str, Any]) -> dict[str, Any]:
    if "in_s" not in told or told.keys() <= {"in_s"}:
        return told
    days = int(told["in_s"] // _DAY_S)
    return {key: each for key, each in told.items() if key != "in_s"} | {"days": days}


def _told(when: When) -> dict[str, Any]:
    return when.model_dump(exclude_defaults=True)


def _completed(found: list[When]) -> tuple[When, ...]:
    """Return the moments, each with what another of them says for it.

    "Every day at 8 and at 20" is every day at both, "Monday and Thursday at 8" at 8 on both.
    """
    # Who says 20 counts the hours to 24, so that 8 beside it is in the morning.
    is_24 = any(each.time is not None and each.time[0] > 12 for each in found)
    if is_24:
        found[:] = [_by_24_hours(each) for each in found]
    for place in range(1, len(found)):
        before, each = found[place - 1], found[place]
        is_time_alone = each.time is not None and not each.has_day
        if is_time_alone and not each.is_repeated and before.has_day:
            own = {"time": each.time, "is_exact": each.is_exact}
            part = each.part or (None if each.is_exact else before.part)
            found[place] = before.model_copy(update={**own, "part": part})
    for place in range(len(found) - 2, -1, -1):
        each, later = found[place], found[place + 1]
        if each.has_day and not each.has_time and later.has_time:
            timed = {
                name: getattr(later, name) for name in ("time", "is_exact", "part")
            }
            found[place] = each.model_copy(update=timed)
    return tuple(found)


def _by_24_hours(when: When) -> When:
    if when.time is None or when.part is not None:
        return when
    return when.model_copy(update={"is_exact": True})


def _pieces(
    said: Sequence[str], known: Dated, pairs: _Decimals, *, is_led: bool
) -> Iterator[_Found]:
    yield from _clock(said, known, is_led=is_led)
    calendar = known.calendar
    if calendar is None:
        return
    yield from _span(said, known, calendar, pairs)
    yield from _named(said, calendar)
    yield from _again(said, known, calendar, pairs)
    start = first_of(said, calendar.on)
    for at in {0, start}:
        whole = compound(said[at : at + 1], calendar)
        if whole is not None:
            yield _Found({"weekdays": (whole[0],), "part": whole[1]}, at + 1)
        yield from _weekdays(said, at, calendar)
        yield from _date(said, at, known, calendar)
        days = longest(said[at:], calendar.days)
        if days is not None:
            yield _Found({"days": days[0]}, at + days[1])


def _clock(said: Sequence[str], known: Dated, *, is_led: bool) -> Iterator[_Found]:
    """Yield a time of the day: after a word for it, or with a mark that it is one."""
    calendar = known.calendar
    lead = first_of(said, calendar.at) if calendar is not None else 0
    found = spoken_times.time(said[lead:], known)
    if found is None:
        return
    (hour, minute), is_exact, count = found
    after = said[lead + count :]
    ends = first_of(after, calendar.clock_ends) if calendar is not None else 0
    is_marked = is_exact or count > 1 or ends > 0
    if ends:
        count += ends
        after = after[ends:]
        minutes = _minutes(after, known)
        if minute == 0 and minutes is not None:
            minute, count, after = minutes, count + 1, after[1:]
        half = longest(after, known.day_parts)
        if half is not None and 0 < hour <= 12:
            hour, is_exact, count = hour % 12 + half[0], True, count + half[1]
    if lead or is_marked or is_led:
        told = {"time": (hour, minute)} | ({"is_exact": True} if is_exact else {})
        yield _Found(told, lead + count)


def _minutes(after: Sequence[str], known: Dated) -> int | None:
    """Return the minutes behind a whole hour, in figures or words: `18 Uhr dreißig`."""
    said = after[0] if after else ""
    # "Um 9 Uhr 10 Minuten laufen" is at nine.
    if len(after) > 1 and after[1] in known.units:
        return None
    if said.isascii() and said.isdecimal() and len(said) <= 2:
        return int(said) if int(said) < 60 else None
    named = known.numbers.get(said, 0.0)
    # Less may be how many: "um 9 Uhr eine Pizza bestellen".
    return int(named) if 10.0 <= named < 60.0 and named == int(named) else None


def _span(
    said: Sequence[str], known: Dated, calendar: Calendar, pairs: _Decimals
) -> Iterator[_Found]:
    """Yield a span until then: `in ten minutes`, `ten minutes from now`."""
    lead = first_of(said, calendar.after)
    found = spoken_times.span(said[lead:], known, pairs)
    if found is None:
        return
    seconds, count = found
    tail = first_of(said[lead + count :], calendar.from_now)
    if lead or tail:
        yield _Found({"in_s": seconds}, lead + count + tail)


def _named(said: Sequence[str], calendar: Calendar) -> Iterator[_Found]:
    for table, further in (
        (calendar.parts, {}),
        (calendar.parts_today, {"days": 0}),
        (calendar.parts_daily, {"weekdays": EVERY_DAY, "is_repeated": True}),
    ):
        part = longest(said, table)
        if part is not None:
            yield _Found({"part": part[0], **further}, part[1])


def _again(
    said: Sequence[str], known: Dated, calendar: Calendar, pairs: _Decimals
) -> Iterator[_Found]:
    """Yield what comes again: `every weekday`, `every Monday and Thursday`, `hourly`."""
    days = longest(said, calendar.repeats)
    if days is not None:
        yield _Found({"weekdays": days[0], "is_repeated": True}, days[1])
    period = longest(said, calendar.periods)
    if period is not None:
        yield _Found({"period": period[0], "is_repeated": True}, period[1])
    lead = first_of(said, calendar.every)
    if not lead:
        return
    for weekdays in _weekdays(said, lead, calendar):
        yield _Found({**weekdays.told, "is_repeated": True}, weekdays.words)
    rest = said[lead:]
    span = spoken_times.span(rest, known, pairs)
    if span is None and rest and rest[0] in known.units:
        span = known.units[rest[0]], 1
    if span is not None:
        yield _Found({"every_s": span[0], "is_repeated": True}, lead + span[1])


def _weekdays(said: Sequence[str], at: int, calendar: Calendar) -> Iterator[_Found]:
    """Yield one or more weekdays: `Monday`, `Mondays, Wednesdays and Fridays`."""
    for table, further in (
        (calendar.weekdays, {}),
        (calendar.weekdays_repeated, {"is_repeated": True}),
    ):
        days: list[int] = []
        end = at
        while True:
            joint = first_of(said[end:], calendar.ands) if days else 0
            found = longest(said[end + joint :], table)
            if found is None:
                break
            days.append(found[0])
            end += joint + found[1]
        if days:
            yield _Found({"weekdays": tuple(dict.fromkeys(days)), **further}, end)


def compound(
    said: Sequence[str], calendar: Calendar
) -> tuple[int, tuple[int, int, int]] | None:
    """Return the weekday and the part of the day that are one word: `Freitagabend`."""
    word = said[0] if said else ""
    # With an s it is that of each week: "freitagabends".
    if word.endswith("s"):
        return None
    parts = {name.split()[-1]: part for name, part in calendar.parts.items()}
    ends = (
        (day, parts.get(rest))
        for name, day in calendar.weekdays.items()
        if (rest := word.removeprefix(name)) != word
    )
    return next(((day, part) for day, part in ends if part is not None), None)


def _date(
    said: Sequence[str], at: int, known: Dated, calendar: Calendar
) -> Iterator[_Found]:
    """Yield a date: `the 3rd of May 2027`, `May 3`, `2027-05-03`, `am 28.11.`"""
    figures = [_figure(each) for each in (*said[at : at + 3], "", "", "")][:3]
    year, month, day = figures
    if year and 2000 <= year < 9000 and _is_date(month, day):
        yield _Found({"year": year, "month": month, "day": day}, at + 3)
    numeric = first_of(said, calendar.numeric)
    if numeric:
        day, month, year = [
            _figure(each) for each in (*said[numeric : numeric + 3], "", "", "")
        ][:3]
        if _is_date(month, day):
            yield from _with_year({"month": month, "day": day}, said, numeric + 2)
    day_first = _day_of_month(said[at:], calendar)
    if day_first is not None:
        day, count, is_ordinal = day_first
        start = at + count
        start += first_of(said[start:], calendar.of)
        named = longest(said[start:], calendar.months)
        if named is not None:
            date = {"month": named[0], "day": day}
            yield from _with_year(date, said, start + named[1])
        elif is_ordinal and at:
            yield _Found({"day": day}, at + count)
    named = longest(said[at:], calendar.months)
    if named is not None:
        start = at + named[1]
        day_last = _day_of_month(said[start:], calendar)
        if day_last is not None:
            date = {"month": named[0], "day": day_last[0]}
            yield from _with_year(date, said, start + day_last[1])


def _with_year(
    date: dict[str, Any], said: Sequence[str], count: int
) -> Iterator[_Found]:
    yield _Found(date, count)
    year = _figure(said[count]) if count < len(said) else None
    if year and 2000 <= year < 9000:
        yield _Found({**date, "year": year}, count + 1)


def _day_of_month(
    said: Sequence[str], calendar: Calendar
) -> tuple[int, int, bool] | None:
    """Return a day of the month, how many words it is, and whether it is an ordinal."""
    named = longest(said, calendar.ordinals)
    if named is not None:
        return (*named, True)
    day = _figure(said[0]) if said else None
    return (day, 1, False) if day and day <= 31 else None


def _is_date(month: int | None, day: int | None) -> bool:
    return month is not None and day is not None and 1 <= month <= 12 and 1 <= day <= 31


def _figure(word: str) -> int | None:
    is_number = word.isascii() and word.isdecimal() and len(word) <= 4
    return int(word) if is_number else None
