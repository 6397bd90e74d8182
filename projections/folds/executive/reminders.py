"""Fold reminders: each has a timer, and goes when it was said, dropped or taken back."""

from datetime import timedelta

from msgspec.structs import replace

from projections.folds import timers
from projections.folds.executive.origin import Origin
from schemas.messages.executive import ReminderSet
from schemas.state import limits
from schemas.state.agent import AgentState, Timer
from schemas.state.executive import Executive, Reminder
from schemas.values.reasons import Refusal
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
    )
    held = (*state.executive.reminders, reminder)
    timer = Timer(due=due, id=timer_id(id_), purpose="reminder")
    return replace(
        state,
        executive=replace(state.executive, reminders=held),
        timers=timers.added(state.timers, timer),
    )


def over(state: AgentState, reminder_id: str) -> AgentState:
    """Return the state without a reminder and its timer."""
    held = state.executive.reminders
    kept = tuple(each for each in held if each.id != reminder_id)
    if len(kept) == len(held):
        return state
    executive = replace(state.executive, reminders=kept)
    left = timers.without(state.timers, timer_id(reminder_id))
    return replace(state, executive=executive, timers=left)


def of_timer(executive: Executive, timer: str) -> Reminder | None:
    """Return the reminder that a timer is about."""
    held = executive.reminders
    return next((each for each in held if timer_id(each.id) == timer), None)


def timer_id(reminder_id: str) -> str:
    """Return the id of a reminder's timer."""
    return timers.REMINDER + reminder_id


def refusal(state: AgentState, control: ReminderSet) -> tuple[Refusal, str] | None:
    """Return why a reminder cannot be set or taken back, with the detail."""
    held, id_ = state.executive.reminders, control.reminder_id
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
    return f"a reminder{whom}, {when}"
