"""The words of a language for days, dates, parts of the day and what comes again: data.

They are recorded with the phrases that they belong to, as spans and times are.
"""

from collections.abc import Mapping
from typing import Annotated, Any

from pydantic import AfterValidator, Field

from schemas.values.base import Part
from schemas.values.unicode_text import folded


def as_heard(table: Any) -> Any:
    """Return a table's words as what is said is compared with them: `dreißig` is `dreissig`."""
    if isinstance(table, Mapping):
        return {folded(name): value for name, value in table.items()}
    return tuple(map(folded, table))


Words = Annotated[tuple[str, ...], Field(max_length=128), AfterValidator(as_heard)]
Numbered = Annotated[dict[str, int], Field(max_length=128), AfterValidator(as_heard)]
_DayParts = Annotated[
    dict[str, tuple[int, int, int]], Field(max_length=64), AfterValidator(as_heard)
]
"""Parts of the day: the usual time, beginning and end of each, in minutes since midnight."""

Text = Annotated[str, Field(min_length=1, max_length=200)]


class Calendar(Part):
    """How moments are said in one language, and how they are told."""

    at: Words = ()
    """What stands before a time of the day: `at`."""
    on: Words = ()
    """What may stand before a day: `on`, `this`."""
    after: Words = ()
    """What stands before a span until then: `in`."""
    from_now: Words = ()
    """What stands after one: `from now`."""
    lasting: Words = ()
    """What stands before a span that something lasts, which is no moment: `for`."""
    ands: Words = ()
    """What joins two moments: `and`, `and again`."""
    clock_ends: Words = ()
    """What may follow an hour and changes nothing: `o clock`."""
    days: Numbered = Field(default_factory=dict)
    """Days by their distance from today: `tomorrow`."""
    weekdays: Numbered = Field(default_factory=dict)
    """From 0, Monday."""
    weekdays_repeated: Numbered = Field(default_factory=dict)
    """Words for each such day: `mondays`."""
    months: Numbered = Field(default_factory=dict)
    ordinals: Numbered = Field(default_factory=dict)
    """Days of a month: `3rd`, `third`."""
    of: Words = ()
    """What may stand between day and month: `of`."""
    numeric: Words = ()
    """What stands before a date in figures, day then month: `am 28.11.`"""
    parts: _DayParts = Field(default_factory=dict)
    parts_today: _DayParts = Field(default_factory=dict)
    """Those that are of today: `tonight`."""
    parts_daily: _DayParts = Field(default_factory=dict)
    """Those of every day: `every morning`."""
    every: Words = ()
    """What stands before a weekday or a span after which something comes again."""
    repeats: Annotated[dict[str, tuple[int, ...]], AfterValidator(as_heard)] = Field(
        default_factory=dict, max_length=64
    )
    """Days on which something comes again: `every weekday`."""
    periods: Annotated[dict[str, str], AfterValidator(as_heard)] = Field(
        default_factory=dict, max_length=32
    )
    """`every month`: `week`, `month` or `year`."""
    left: Words = ()
    """Further words of time, which no moment has: left over, they are not understood."""
    again: Words = ()
    """What asks for the same again, and is nothing that one can be reminded of: `again`."""
    harmless: Words = ()
    """What has a word of time in it and is none: `good morning`."""
    questions: Words = ()
    """With what a question begins, which asks for no reminder: `what`."""

    weekday_names: tuple[str, ...] = Field(min_length=7, max_length=7)
    month_names: tuple[str, ...] = Field(min_length=12, max_length=12)
    joint: Text
    """Between two things that are told: ` and `."""
    soon: Text
    """With `{span}` and `{when}`, of what comes after a span."""
    today: Text
    """With `{time}`."""
    tomorrow: Text
    """With `{time}` and `{weekday}`, and so on."""
    date: Text
    """With `{time}`, `{weekday}`, `{day}`, `{month}`."""
    far: Text
    """The same with `{year}`."""
    daily: Text
    weekly: Text
    """With `{weekdays}`."""
    monthly: Text
    """With `{day}`."""
    yearly: Text
    """With `{day}` and `{month}`."""
    spanned: Text
    """With `{span}`."""
    first: Text
    """With `{repeat}` and `{when}`, of what comes again and when it first does."""
    past: Text
    """What is answered where the moment that was named is past, or no date."""
