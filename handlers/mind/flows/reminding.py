"""Reminders in a person's words: set, listed, moved, cancelled, snoozed.

What is said of time is read whole or not at all: of words that are not understood nothing
is set, and who said them is told so. What was set is told with its day and time.
"""

from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta
from itertools import islice

from handlers.mind.context import TurnContext
from schemas.messages.executive import ReminderSet
from schemas.messages.sensing import Sensed
from schemas.state import limits
from schemas.state.executive import Reminder
from schemas.values import phrase_matching, recurrence, spoken_times, timezones
from schemas.values.calendar_words import Calendar
from schemas.values.phrases import TOPIC, Heard, Phrases, filled
from schemas.values.recurrence import EVERY_DAY, Repeat, When
from schemas.values.timezones import local
from schemas.values.unicode_text import words

_SNOOZE_S = 600.0
"""For how long a reminder is put off where nobody said it."""
_SNOOZABLE_S = 3_600.0
"""How long after it was said a reminder can be snoozed: as long as one may be late."""
_LISTED = 5
"""How many reminders are told at most, the soonest first."""
_SETS = frozenset({"remind", "timer", "move", "snooze"})
"""What needs a moment to be done."""
_CHOOSE = ("cancel", "cancel_timer", "move")
"""What is about one reminder: of several that may be meant the person chooses."""


def timed(turn: TurnContext, heard: Heard) -> Heard:
    """Return what was heard with the span until the time that was said, if one was.

    It is unclear where that is no moment to come, or where one is needed and none was said.
    """
    if heard.whens and heard.means not in _SETS:
        zone = turn.settings.executive.timezone
        end = recurrence.began(heard.whens[0], turn.now, zone)
        is_one = len(heard.whens) == 1 and not heard.whens[0].is_repeated
        if end is None or not is_one:
            return heard.model_copy(update={"is_unclear": True, "whens": ()})
        span_s = (end - turn.now).total_seconds()
        return heard.model_copy(update={"span_s": span_s})
    is_silent = heard.span_s is None and not heard.whens
    if heard.means in ("remind", "timer", "move") and is_silent:
        # Without words to say so, a time that is missing is one of no seconds.
        if heard.phrases.unclear:
            return heard.model_copy(update={"is_unclear": True})
    elif heard.means in _SETS and not all(map(_is_whole, heard.whens)):
        return heard.model_copy(update={"is_unclear": True})
    elif heard.means in _SETS and heard.whens and (dues := _dues(turn, heard)):
        span_s = (dues[0][0] - turn.now).total_seconds()
        return heard.model_copy(update={"span_s": span_s})
    return heard


def until(turn: TurnContext, heard: Heard) -> str:
    """Return in words until when what was asked for lasts; empty if no time was said."""
    calendar = heard.phrases.calendar
    if not heard.whens or calendar is None or heard.span_s is None:
        return ""
    end = turn.now + timedelta(seconds=heard.span_s)
    zone = turn.settings.executive.timezone
    return _in_words(end, turn.now, zone, calendar)


def meant(turn: TurnContext, heard: Heard, event: Sensed) -> list[Reminder]:
    """Return the reminders that may be meant: this person's, soonest first.

    Of a topic if one was said; a snooze means the one that was said last.
    """
    if heard.means == "snooze":
        return _last_said(turn, event)
    held = _of(turn, event)
    if heard.means == "cancel_timer":
        timers = [each for each in held if _is_timer(each, heard.phrases)]
        span = heard.span_s and spoken_times.in_figures(heard.span_s)
        asked = set(words(span or heard.topic))
        return [each for each in timers if asked <= set(words(each.text))]
    sought = set(words(heard.topic))
    named = [each for each in held if sought <= set(words(each.text))]
    return named or _due_then(turn, heard, held)


def _due_then(
    turn: TurnContext, heard: Heard, held: Sequence[Reminder]
) -> list[Reminder]:
    """Return the reminders for a time that was said in place of what they are about."""
    whens = phrase_matching.moments_of(heard.topic, [heard.phrases]) or ()
    if len(whens) != 1 or whens[0].is_repeated:
        return []
    when, zone = whens[0], turn.settings.executive.timezone
    if when.time is not None or when.in_s is not None:
        dues = recurrence.moments(when, turn.now, zone)
        return [each for each in held if each.due in dues]
    day = timezones.local(turn.now, zone)
    if when.days != 0 and (begin := recurrence.began(when, turn.now, zone)) is not None:
        day = timezones.local(begin, zone)
    first, last = when.part[1:] if when.part is not None else (0, 24 * 60)
    midnight = timezones.on(day.date(), zone, 0, 0)
    return [
        each
        for each in held
        if first <= (each.due - midnight).total_seconds() / 60.0 < last
    ]


def controls(
    turn: TurnContext, heard: Heard, event: Sensed, held: Sequence[Reminder]
) -> tuple[ReminderSet, ...]:
    """Return what sets, moves or takes back reminders; `held` are those `meant`."""
    if heard.is_unclear:
        return ()
    match heard.means:
        case "remind" | "timer":
            return _set(turn, heard, event)
        case "move" | "snooze":
            dues = _dues(turn, heard)
            if len(held) != 1 or len(dues) != 1:
                return ()
            # A snooze is a new one: what comes again still does at its own times.
            id_ = held[0].id if heard.means == "move" else None
            return (_again(held[0], *dues[0], id_),)
        case "cancel" | "cancel_all" | "cancel_timer":
            is_one = heard.means == "cancel_all" or len(held) == 1
            by = event.speaker or ""
            return tuple(
                ReminderSet(reminder_id=each.id, off=True, by=by)
                for each in (held if is_one else ())
            )
        case _:
            return ()


def reply(
    turn: TurnContext, heard: Heard, held: Sequence[Reminder], *, is_done: bool
) -> str | None:
    """Return what is answered on reminders; None if it is about something else.

    `held` are those `meant` before anything was done.
    """
    known = heard.phrases
    if heard.means == "reminders":
        return _listed(turn, known, held, known.listed) or known.replies["reminders"]
    if known.calendar is None or heard.is_unclear:
        return None
    if heard.means in _SETS and heard.whens and not _dues(turn, heard):
        return known.calendar.past
    if not is_done:
        is_choice = heard.means in _CHOOSE and len(held) > 1
        return (is_choice and _listed(turn, known, held, known.which)) or None
    if heard.means in (*_CHOOSE, "cancel_all") and heard.means != "move":
        return filled(known.replies[heard.means], items=_items(turn, known, held))
    if heard.means in _SETS:
        return heard.reply(_span_s(heard), _whens(turn, heard))
    return None


def _is_whole(when: When) -> bool:
    """Tell whether what was said is enough to be reminded at."""
    if when.is_repeated:
        return recurrence.repeat_of(when) is not None
    return when.has_time


def _span_s(heard: Heard) -> float:
    otherwise = _SNOOZE_S if heard.means == "snooze" else 0.0
    return otherwise if heard.span_s is None else heard.span_s


def _dues(turn: TurnContext, heard: Heard) -> list[tuple[datetime, Repeat | None]]:
    """Return when what was asked for is due, and comes again; empty if not at all.

    Nothing of it is done where one of several moments is past, or none.
    """
    if not heard.whens:
        return [(turn.now + timedelta(seconds=_span_s(heard)), None)]
    # `span_s` is that of the first of them alone.
    zone = turn.settings.executive.timezone
    found: list[tuple[datetime, Repeat | None]] = []
    for when in heard.whens:
        moments = recurrence.moments(when, turn.now, zone)
        if not moments:
            return []
        repeat = recurrence.repeat_of(when) if when.is_repeated else None
        found += [(each, repeat) for each in moments]
    return list(dict(found).items())


def _whens(turn: TurnContext, heard: Heard) -> str:
    """Return in words when what was asked for is due: each with its day and time."""
    calendar = heard.phrases.calendar
    assert calendar is not None
    zone = turn.settings.executive.timezone
    told = []
    for due, repeat in _dues(turn, heard):
        when = _in_words(due, turn.now, zone, calendar)
        is_span = not heard.whens or any(each.in_s is not None for each in heard.whens)
        if repeat is not None:
            again = _repeat_in_words(repeat, calendar)
            when = filled(calendar.first, repeat=again, when=when)
        elif is_span:
            span = spoken_times.in_figures((due - turn.now).total_seconds())
            when = filled(calendar.soon, span=span, when=when)
        told.append(when)
    return calendar.joint.join(told)


def _set(turn: TurnContext, heard: Heard, event: Sensed) -> tuple[ReminderSet, ...]:
    text, dues = _text(heard, event), _dues(turn, heard)
    # All of them or none: what was only half done could not be told in a word.
    if len(turn.state.executive.reminders.awaited) + len(dues) > limits.REMINDERS:
        return ()
    return tuple(
        ReminderSet(
            text=text,
            # The instant, whatever the time zone is later.
            due_at=due,
            repeat=repeat,
            person=event.person,
            by=event.speaker or "",
        )
        for due, repeat in dues
    )


def _text(heard: Heard, event: Sensed) -> str:
    known = heard.phrases
    if heard.means == "timer" and known.timer:
        if heard.span_s is None:
            return known.timer.partition(":")[0].rstrip(".") + "."
        span = spoken_times.in_figures(heard.span_s)
        named = phrase_matching.as_written(heard.topic, event.text)
        return filled(known.timer, span=f"{named}, {span}" if named else span)
    if not heard.topic:
        return known.reminder_alone or known.reminder
    # Phrases recorded without fractions gave topics back in lower case.
    topic = (
        phrase_matching.as_written(heard.topic, event.text)
        if known.fractions
        else heard.topic
    )
    return known.reminder.replace(TOPIC, topic)


def _last_said(turn: TurnContext, event: Sensed) -> list[Reminder]:
    said = (
        each
        for each in reversed(turn.state.executive.reminders.said)
        if each.person in (None, event.person)
        and (turn.now - each.due).total_seconds() <= _SNOOZABLE_S
    )
    return list(islice(said, 1))


def _again(
    held: Reminder, due: datetime, repeat: Repeat | None, id_: str | None
) -> ReminderSet:
    return ReminderSet(
        reminder_id=id_,
        text=held.text,
        due_at=due,
        repeat=repeat,
        person=held.person,
        by=held.by,
        urgent=held.urgent,
    )


def _of(turn: TurnContext, event: Sensed) -> list[Reminder]:
    """Return the reminders that concern a person, soonest first; milestones are none."""
    return sorted(
        (
            each
            for each in turn.state.executive.reminders.awaited
            if each.purpose == "reminder"
            and (each.person in (None, event.person) or each.by == event.speaker)
        ),
        key=lambda each: (each.due, each.id),
    )


def _is_timer(held: Reminder, known: Phrases) -> bool:
    head = known.timer.partition("{")[0].rstrip(" :")
    return bool(head) and held.text.startswith(head)


def to_come(
    turn: TurnContext, known: Phrases, within: timedelta
) -> tuple[tuple[str, str | None], ...]:
    """Return the words on each reminder to come within a span, and for whom it is.

    Neither those that are due in a few minutes, nor what comes again and again.
    """
    soonest, latest = turn.now + timedelta(seconds=_SNOOZE_S), turn.now + within
    return tuple(
        (_items(turn, known, (each,)), each.person)
        for each in turn.state.executive.reminders.awaited
        if each.purpose == "reminder"
        and each.repeat is None
        and soonest < each.due <= latest
        and not _is_timer(each, known)
    )


def _listed(
    turn: TurnContext, known: Phrases, held: Sequence[Reminder], form: str
) -> str:
    if not held or not form:
        return ""
    return filled(form, count=str(len(held)), items=_items(turn, known, held))


def _items(turn: TurnContext, known: Phrases, held: Iterable[Reminder]) -> str:
    calendar = known.calendar
    if calendar is None:
        return ""
    zone = turn.settings.executive.timezone
    told = []
    for each in held:
        when = _in_words(each.due, turn.now, zone, calendar)
        if each.repeat is not None:
            when = _repeat_in_words(each.repeat, calendar)
        told.append(filled(known.item, text=_topic(each.text, known), when=when))
    return "; ".join(told[:_LISTED]) + ("; …" if len(told) > _LISTED else "")


def _topic(text: str, known: Phrases) -> str:
    """Return what a reminder is about, without the words that go around it."""
    before, _, after = known.reminder.partition(TOPIC)
    is_ours = bool(before) and text.startswith(before) and text.endswith(after)
    about = text[len(before) : len(text) - len(after)] if is_ours else text
    return about.rstrip(".")


# Moments as one tells them: `tomorrow, Saturday, at 07:00`, `every day at 20:00`.
def _in_words(due: datetime, now: datetime, zone: str, known: Calendar) -> str:
    """Return a moment as one tells it: with its day and time, in a zone."""
    there, here = local(due, zone), local(now, zone)
    ahead = (there.date() - here.date()).days
    form = known.date if ahead < 330 else known.far
    if ahead in (0, 1):
        form = known.tomorrow if ahead else known.today
    return filled(
        form,
        time=f"{there:%H:%M}",
        weekday=known.weekday_names[there.weekday()],
        day=str(there.day),
        month=known.month_names[there.month - 1],
        year=str(there.year),
    )


def _repeat_in_words(repeat: Repeat, known: Calendar) -> str:
    """Return how often something comes again, as one tells it."""
    if repeat.every_s is not None:
        span = spoken_times.in_figures(repeat.every_s)
        return filled(known.spanned, span=span)
    days = known.joint.join(known.weekday_names[each] for each in repeat.weekdays)
    form = known.weekly
    if repeat.weekdays == EVERY_DAY:
        form = known.daily
    elif repeat.day is not None:
        form = known.yearly if repeat.month else known.monthly
    return filled(
        form,
        time=f"{repeat.hour:02}:{repeat.minute:02}",
        weekdays=days,
        day=str(repeat.day or ""),
        month=known.month_names[(repeat.month or 1) - 1],
    )
