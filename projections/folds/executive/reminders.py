"""Fold reminders: each goes when it was said, dropped or taken back, or comes again.

A reminder is an instant of the clock by which it was set. Where another is in force it has
no timer: what was set by the broker's clock is due by that, whatever a session's own shows
(ADR 0014).
"""

from datetime import datetime, timedelta

from msgspec.structs import replace

from projections.folds import clock, timers
from projections.folds.fold_context import FoldContext, Origin
from schemas.messages.executive import ReminderSet
from schemas.state import limits
from schemas.state.agent import AgentState, Timer, within
from schemas.state.executive import Executive, Reminder
from schemas.values import recurrence
from schemas.values.reasons import Refusal
from schemas.values.recurrence import Repeat
from schemas.values.unicode_text import quoted


def applied(state: AgentState, control: ReminderSet, origin: Origin) -> AgentState:
    """Return the state after a reminder was set, changed or taken back."""
    id_ = control.reminder_id or origin.id
    state = over(state, id_)
    if control.off:
        return state
    due = control.due_at or origin.at + timedelta(seconds=control.in_s or 0.0)
    reminder = Reminder(
        id=id_,
        text=control.text,
        due=due,
        person=control.person,
        by=control.by,
        urgent=control.urgent,
        purpose=control.purpose,
        clock=clock.told_by(state),
        repeat=control.repeat,
    )
    return _with(state, reminder)


def rung(
    state: AgentState, context: FoldContext, reminder: Reminder, *, was_said: bool
) -> AgentState:
    """Return the state after a reminder's time came: it is over, or its next time is set.

    What came due again meanwhile, while nothing ran, is left out.
    """
    state = over(state, reminder.id)
    if was_said and reminder.purpose == "reminder":
        said = (*state.executive.reminders.said, reminder)[-limits.REMINDED :]
        state = within(state, "executive", "reminders", said=said)
    return again(state, context, reminder)


def again(state: AgentState, context: FoldContext, reminder: Reminder) -> AgentState:
    """Return the state with the next time of a reminder that is over; once, if it has none."""
    if reminder.repeat is None:
        return state
    is_here = reminder.clock == clock.told_by(state)
    now = max(context.now if is_here else context.input.at, reminder.due)
    zone = context.settings.executive.timezone
    try:
        due = recurrence.next_after(reminder.repeat, now, zone, reminder.due)
    except OverflowError:
        return state
    renewed = replace(reminder, due=due)
    if is_here:
        return _with(state, renewed)
    held = (*state.executive.reminders.awaited, renewed)
    return within(state, "executive", "reminders", awaited=held)


def _with(state: AgentState, reminder: Reminder) -> AgentState:
    """Return the state with one more, which is by the clock in force, and its timer."""
    held = (*state.executive.reminders.awaited, reminder)
    return replace(
        state,
        executive=within(state.executive, "reminders", awaited=held),
        timers=timers.added(state.timers, _timer(reminder)),
    )


def over(state: AgentState, reminder_id: str) -> AgentState:
    """Return the state without a reminder and its timer."""
    held = state.executive.reminders.awaited
    kept = tuple(each for each in held if each.id != reminder_id)
    if len(kept) == len(held):
        return state
    executive = within(state.executive, "reminders", awaited=kept)
    left = timers.without(state.timers, timer_id(reminder_id))
    return replace(state, executive=executive, timers=left)


def of_timer(executive: Executive, timer: str) -> Reminder | None:
    """Return the reminder that a timer is about."""
    held = executive.reminders.awaited
    return next((each for each in held if timer_id(each.id) == timer), None)


def carried(before: AgentState, state: AgentState, told: str) -> AgentState:
    """Return a state that was carried to the clock `told`, each reminder at its instant.

    One of the clock of a session, which is over with it, keeps the time that was left.
    """
    held = before.executive.reminders.awaited
    if not held:
        return state
    moved = {each.id: each for each in state.executive.reminders.awaited}
    kept = tuple(
        each if each.clock == clock.BROKER else replace(moved[each.id], clock=told)
        for each in held
    )
    left = tuple(each for each in state.timers if each.purpose != "reminder")
    for each in kept:
        if each.clock == told:
            left = timers.added(left, _timer(each))
    executive = within(state.executive, "reminders", awaited=kept)
    return replace(state, executive=executive, timers=left)


def due_elsewhere(state: AgentState, at: datetime) -> tuple[Timer, ...]:
    """Return the timers of reminders that are due by the broker's time, at a session's own.

    Soonest first; those of the clock in force are among the state's timers.
    """
    held = _elsewhere(state)
    return tuple(sorted(_timer(each) for each in held if each.due <= at))


def next_elsewhere(state: AgentState) -> datetime | None:
    """Return when the first of these is due, by the broker's time; None if none is set."""
    return min((each.due for each in _elsewhere(state)), default=None)


def due_by_now(
    state: AgentState, reminder: Reminder, at: datetime, now: datetime
) -> datetime:
    """Return when a reminder was due by the clock in force, which shows `now` at `at`."""
    if reminder.clock == clock.told_by(state):
        return reminder.due
    return now - (at - reminder.due)


def _elsewhere(state: AgentState) -> tuple[Reminder, ...]:
    held = state.executive.reminders.awaited
    if not held or clock.told_by(state) == clock.BROKER:
        return ()
    return tuple(each for each in held if each.clock == clock.BROKER)


def _timer(reminder: Reminder) -> Timer:
    return Timer(due=reminder.due, id=timer_id(reminder.id), purpose="reminder")


def timer_id(reminder_id: str) -> str:
    """Return the id of a reminder's timer."""
    return timers.REMINDER + reminder_id


def refusal(state: AgentState, control: ReminderSet) -> tuple[Refusal, str] | None:
    """Return why a reminder cannot be set or taken back, with the detail."""
    held, id_ = state.executive.reminders.awaited, control.reminder_id
    if control.off:
        if any(each.id == id_ for each in held):
            return None
        return "unknown_reminder", f"no reminder {quoted(id_ or '')} is set"
    if not control.text.strip():
        return "invalid", "say what it is to remind of"
    if (control.due_at is None) == (control.in_s is None):
        return "invalid", "give either a moment or a number of seconds"
    now = state.now
    if control.due_at is not None and now is not None and control.due_at <= now:
        return "invalid", f"{control.due_at} is past: it is {now}"
    others = sum(each.id != id_ for each in held)
    if others >= limits.REMINDERS:
        return "invalid", f"{others} reminders are set, the most there may be"
    return None


def described(control: ReminderSet) -> str:
    """Return in words what a reminder changes."""
    if control.off:
        return f"{control.reminder_id} taken back"
    when = control.due_at.isoformat() if control.due_at else f"in {control.in_s:g} s"
    whom = f" for {control.person}" if control.person else ""
    again = f", then {repeated(control.repeat)}" if control.repeat else ""
    return f"a reminder{whom}, {when}{again}"


def repeated(repeat: Repeat) -> str:
    """Return in words how often something comes again, as the program tells it."""
    at = f"at {repeat.hour:02}:{repeat.minute:02}"
    if repeat.every_s is not None:
        return f"every {repeat.every_s:g} s"
    if repeat.weekdays == recurrence.EVERY_DAY:
        return f"every day {at}"
    if repeat.weekdays:
        days = ", ".join(_WEEKDAYS[each] for each in repeat.weekdays)
        return f"every {days} {at}"
    if repeat.month is not None:
        return f"every year on {repeat.month:02}-{repeat.day:02} {at}"
    return f"on day {repeat.day} of every month {at}"


_WEEKDAYS = (
    "Monday",
    "Tuesday",
    "Wednesday",
    "Thursday",
    "Friday",
    "Saturday",
    "Sunday",
)
