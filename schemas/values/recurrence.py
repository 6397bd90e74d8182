"""Moments that a person names: when something is next, and how often it comes again.

A `When` is what was said, a `Repeat` what a log keeps of one that comes again. Both are read
in a time zone, so that "every day at eight" stays at eight when the clocks change.
"""

from datetime import date, datetime, timedelta
from typing import Annotated, Self

from pydantic import Field, model_validator
from pydantic_core import PydanticCustomError

from schemas.values import timezones
from schemas.values.base import Part, Seconds

EVERY_DAY = (0, 1, 2, 3, 4, 5, 6)
_SHORTEST_S = 60.0
"""The shortest span after which a reminder comes again: else it would never be quiet."""
_DAYS_AHEAD = 4 * 366 + 1
"""How many days are looked at: the 29th of February comes within eight years at most, but
for a century's end; what comes later is nothing to promise."""
_DAY_S = 86_400.0

_Weekdays = Annotated[
    tuple[Annotated[int, Field(ge=0, le=6)], ...], Field(max_length=7)
]


class Repeat(Part):
    """When something comes again: on days at a time of the day, or after a span."""

    weekdays: _Weekdays = Field(default=(), exclude_if=().__eq__)
    """On these, from 0, Monday, to 6; all of them: every day."""
    day: int | None = Field(default=None, ge=1, le=31)
    """Or on this day of the month; months that have none are left out."""
    month: int | None = Field(default=None, ge=1, le=12)
    """With `day`: only in this month, so once a year."""
    hour: int = Field(default=0, ge=0, le=23)
    minute: int = Field(default=0, ge=0, le=59)
    every_s: Seconds | None = None
    """Or after so many seconds each, a minute at least."""

    @model_validator(mode="after")
    def _is_one(self) -> Self:
        kinds = [bool(self.weekdays), self.day is not None, self.every_s is not None]
        if kinds.count(True) != 1 or (self.month is not None and self.day is None):
            message = "give weekdays, a day of the month, or a span: one of them"
            raise PydanticCustomError("repeat", message)
        if self.every_s is not None and self.every_s < _SHORTEST_S:
            raise PydanticCustomError(
                "repeat", "it comes again after a minute at least"
            )
        return self


class When(Part):
    """A moment as it was said; `moments` tells which it is."""

    in_s: float | None = None
    """After so many seconds."""
    days: int | None = None
    """So many days from today."""
    weekdays: tuple[int, ...] = ()
    """On the next of each of these."""
    year: int | None = None
    month: int | None = None
    day: int | None = None
    """On this date; the year, and the month, may be left open."""
    time: tuple[int, int] | None = None
    """Hour and minute."""
    is_exact: bool = False
    """Whether an hour up to 12 is none of the other half of the day."""
    part: tuple[int, int, int] | None = None
    """A part of the day: its usual time, its beginning and its end, in minutes since
    midnight; an end past 1440 is on the next day."""
    is_repeated: bool = False
    every_s: float | None = None
    period: str = ""
    """`week`, `month` or `year`, where it was said that it comes every such."""

    @property
    def has_day(self) -> bool:
        """Whether it says on which day."""
        return self.days is not None or bool(self.weekdays) or self.day is not None

    @property
    def has_time(self) -> bool:
        """Whether it says at which time of the day, or after how long."""
        told = (self.time, self.part, self.in_s, self.every_s)
        return any(each is not None for each in told)


def next_after(repeat: Repeat, after: datetime, zone: str, due: datetime) -> datetime:
    """Return the first moment after `after` at which something comes again, in UTC.

    `due` is when it came last, from which spans are counted.

    Raises:
        OverflowError: there is none that a `datetime` can hold.
    """
    if repeat.every_s is not None:
        step = timedelta(seconds=repeat.every_s)
        behind = max((after - due) // step, 0)
        return due + (behind + 1) * step
    first = timezones.local(after, zone).date()
    for ahead in range(2 * _DAYS_AHEAD):
        day = first + timedelta(days=ahead)
        if _falls_on(repeat, day):
            moment = timezones.on(day, zone, repeat.hour, repeat.minute)
            if moment > after:
                return moment
    raise OverflowError("it never comes again")


def moments(when: When, now: datetime, zone: str) -> tuple[datetime, ...]:
    """Return the moments that were said, in UTC; a time without a day is the next one.

    Empty if what was said is past, is no date, or is a day without a time.
    """
    try:
        found = _moments(when, now, zone)
    except (ValueError, OverflowError):
        return ()
    return found if all(each > now for each in found) else ()


def began(when: When, now: datetime, zone: str) -> datetime | None:
    """Return the moment that was said, where a day alone is its beginning."""
    if when.has_day and not when.has_time:
        # Today has begun.
        if when.days == 0:
            return None
        when = when.model_copy(update={"time": (0, 0), "is_exact": True})
    return next(iter(moments(when, now, zone)), None)


def repeat_of(when: When) -> Repeat | None:
    """Return how often what was said comes again; None if it does not, or says not when."""
    if when.every_s is not None:
        if when.has_day or when.time or when.part or when.every_s < _SHORTEST_S:
            return None
        return Repeat(every_s=when.every_s)
    times = _times(when)
    if not times or (when.period and not _fits_period(when)):
        return None
    hour, minute = times[0]
    if when.day is not None:
        if when.year is not None:
            return None
        return Repeat(day=when.day, month=when.month, hour=hour, minute=minute)
    if not when.weekdays:
        return None
    return Repeat(weekdays=tuple(sorted(set(when.weekdays))), hour=hour, minute=minute)


def _fits_period(when: When) -> bool:
    if when.period == "week":
        return bool(when.weekdays)
    has_month = when.month is not None
    return when.day is not None and has_month == (when.period == "year")


def _falls_on(repeat: Repeat, day: date) -> bool:
    if repeat.weekdays:
        return day.weekday() in repeat.weekdays
    return day.day == repeat.day and repeat.month in (None, day.month)


def _moments(when: When, now: datetime, zone: str) -> tuple[datetime, ...]:
    if when.is_repeated:
        repeat = repeat_of(when)
        return (next_after(repeat, now, zone, now),) if repeat is not None else ()
    if when.in_s is not None:
        return (now + timedelta(seconds=when.in_s),)
    times = _times(when)
    if not when.has_day:
        # "At six" is in the morning or in the evening, whichever comes first.
        found = [timezones.next_at(now, zone, *each) for each in times]
        return (min(found),) if found else ()
    today = timezones.local(now, zone).date()
    # Of today that half of the day is meant that is not past yet.
    if when.days != 0:
        times = times[:1]
    if not when.weekdays:
        on = [_at(_day(when, today), zone, when, each) for each in times]
        return tuple([each for each in on if each > now][:1])
    return tuple(
        min(
            moment
            for week in (0, 7)
            for time in times
            for moment in [_at(_next(today, each, week), zone, when, time)]
            if moment > now
        )
        for each in when.weekdays
    )


def _at(day: date, zone: str, when: When, time: tuple[int, int]) -> datetime:
    minutes = time[0] * 60 + time[1]
    # "Tonight at one" is tomorrow, by the calendar.
    is_past_midnight = when.part is not None and minutes < when.part[1]
    # "Today at midnight" is the one to come: the day's own is past whenever it is said.
    is_past_midnight = is_past_midnight or (when.days == 0 and minutes == 0)
    day += timedelta(days=int(is_past_midnight))
    return timezones.on(day, zone, *time)


def _next(today: date, weekday: int, further: int) -> date:
    return today + timedelta(days=(weekday - today.weekday()) % 7 + further)


def _day(when: When, today: date) -> date:
    """Return the day that was said; a date without its year, or month, is the next such.

    Raises:
        ValueError: there is no such date.
    """
    if when.days is not None:
        return today + timedelta(days=when.days)
    if when.day is None:
        return today
    if when.year is not None:
        return date(when.year, when.month or 1, when.day)
    for ahead in range(_DAYS_AHEAD):
        day = today + timedelta(days=ahead)
        if day.day == when.day and when.month in (None, day.month):
            return day
    raise ValueError("no such date")


def _times(when: When) -> tuple[tuple[int, int], ...]:
    """Return the times of the day that may be meant, the likeliest first."""
    if when.time is None:
        return () if when.part is None else (divmod(when.part[0] % 1440, 60),)
    hour, minute = when.time
    if when.is_exact or not 0 < hour <= 12:
        return (when.time,) if when.part is None else _within(when, (when.time,))
    halves = (when.time, ((hour + 12) % 24, minute))
    return halves if when.part is None else _within(when, halves)


def _within(
    when: When, times: tuple[tuple[int, int], ...]
) -> tuple[tuple[int, int], ...]:
    assert when.part is not None
    _, start, end = when.part
    day = 1440
    return tuple(
        (hour, minute)
        for hour, minute in times
        if start <= hour * 60 + minute < end or hour * 60 + minute + day < end
    )
