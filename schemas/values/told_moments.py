"""Moments as one tells them: `tomorrow, Saturday, at 07:00`, `every day at 20:00`."""

from datetime import datetime

from schemas.values import spoken_times
from schemas.values.calendar_words import Calendar
from schemas.values.recurrence import EVERY_DAY, Repeat
from schemas.values.timezones import local


def in_words(due: datetime, now: datetime, zone: str, known: Calendar) -> str:
    """Return a moment as one tells it: with its day and time, in a zone."""
    there, here = local(due, zone), local(now, zone)
    ahead = (there.date() - here.date()).days
    form = known.date if ahead < 330 else known.far
    if ahead in (0, 1):
        form = known.tomorrow if ahead else known.today
    return _filled(
        form,
        time=f"{there:%H:%M}",
        weekday=known.weekday_names[there.weekday()],
        day=str(there.day),
        month=known.month_names[there.month - 1],
        year=str(there.year),
    )


def repeat_in_words(repeat: Repeat, known: Calendar) -> str:
    """Return how often something comes again, as one tells it."""
    if repeat.every_s is not None:
        span = spoken_times.in_figures(repeat.every_s)
        return _filled(known.spanned, span=span)
    days = known.joint.join(known.weekday_names[each] for each in repeat.weekdays)
    form = known.weekly
    if repeat.weekdays == EVERY_DAY:
        form = known.daily
    elif repeat.day is not None:
        form = known.yearly if repeat.month else known.monthly
    return _filled(
        form,
        time=f"{repeat.hour:02}:{repeat.minute:02}",
        weekdays=days,
        day=str(repeat.day or ""),
        month=known.month_names[(repeat.month or 1) - 1],
    )


def _filled(form: str, **told: str) -> str:
    for place, text in told.items():
        form = form.replace("{" + place + "}", text)
    return form
