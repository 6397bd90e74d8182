"""Rows of an agent's sessions and of its habituation."""

from collections.abc import Iterator
from functools import lru_cache

from projections.folds import events
from projections.rows.changes import Change, Patch, Put, Remove, Row, added
from projections.rows.folded_group import Folded
from schemas.codec.catalogue import OutputMessage
from schemas.messages.controls import SessionEnded, SessionStarted
from schemas.messages.decisions import Completed, Decided, Dropped
from schemas.messages.learning import FeedbackApplied
from schemas.messages.sensing import Sensed
from schemas.state.agent import Habit, Session
from schemas.values import ids
from schemas.values.vectors import Vector


def session_changes(folded: Folded) -> Iterator[Change]:
    """Yield the rows of the session that an input starts, belongs to, or ends."""
    before, after = folded.agent_before.session, folded.agent.session
    if not _is_same(before, after):
        if before is not None:
            yield _ended(folded, before)
        if after is not None:
            yield _started(folded, after)
    # An input that ends a session still belongs to it.
    lived_in = after or before
    tally = _tally(folded)
    if lived_in is not None:
        counted = tally.pop(lived_in.id, {})
        values: Row = {
            "last_sequence": folded.input.sequence,
            "last_at": folded.now,
            "input_count": 1,
            **counted,
        }
        yield Patch("sessions", (folded.name, lived_in.id), values)
    # What completes late counts for the session in which it was decided.
    for session_id, counted in tally.items():
        yield Patch("sessions", (folded.name, session_id), counted)


def habit_changes(folded: Folded) -> Iterator[Change]:
    """Yield the habit that an event renewed or began, and the one forgotten for it."""
    event = folded.input.message
    if not isinstance(event, Sensed):
        return
    sort = events.sort_of(event)
    before = folded.agent_before.habits.get(sort, ())
    after = folded.agent.habits.get(sort, ())
    if after is before or not after:
        return
    latest = _habit_key(folded, event, after[-1])
    gone = _gone(before, after)
    if gone is not None and (key := _habit_key(folded, event, gone)) != latest:
        yield Remove("habituation", key)
    yield Put("habituation", latest, _habit_row(folded, event, after[-1]))


def _is_same(before: Session | None, after: Session | None) -> bool:
    if before is None or after is None:
        return False
    # By first sequence: an id is the sender's to choose, and may come again.
    return before.first_sequence == after.first_sequence


def _started(folded: Folded, session: Session) -> Put:
    row: Row = {
        "title": session.title,
        "clock": session.clock,
        "first_sequence": session.first_sequence,
        "last_sequence": session.first_sequence,
        "started_at": session.started_at,
        "last_at": session.last_at,
        "ended_at": None,
        "ended_by": None,
        "input_count": 0,
        "spoke_count": 0,
        "silent_count": 0,
        "feedback_count": 0,
    }
    return Put("sessions", (folded.name, session.id), row)


def _ended(folded: Folded, session: Session) -> Patch:
    match folded.input.message:
        case SessionEnded():
            by, at = "end", folded.now
        case SessionStarted():
            # Ended by what came later, so its end is its last input.
            by, at = "start", session.last_at
        case _:
            by, at = "gap", session.last_at
    values: Row = {"ended_at": at, "ended_by": by}
    return Patch("sessions", (folded.name, session.id), values)


def _tally(folded: Folded) -> dict[str, Row]:
    """Return counts of answers, silences and votes, by the session of their decision."""
    tally: dict[str, Row] = {}
    for output in folded.outputs:
        session_id, column = _counted(folded, output.message)
        if session_id is not None:
            counts = tally.setdefault(session_id, {})
            counts[column] = added(counts.get(column), 1)
    return tally


def _counted(folded: Folded, message: OutputMessage) -> tuple[str | None, str]:
    match message:
        case Decided(silence=str()):
            return message.session_id, "silent_count"
        case Decided(final=True):
            return message.session_id, "spoke_count"
        case Completed():
            return _session_of(folded, message.decision_id), "spoke_count"
        case Dropped():
            return _session_of(folded, message.decision_id), "silent_count"
        case FeedbackApplied(decision_id=str(decision_id)):
            return _session_of(folded, decision_id), "feedback_count"
        case _:
            return None, ""


def _session_of(folded: Folded, decision_id: str) -> str | None:
    remembered = folded.agent.decisions.get(decision_id)
    return remembered.session_id if remembered is not None else None


def _gone(before: tuple[Habit, ...], after: tuple[Habit, ...]) -> Habit | None:
    """Return the habit that an event forgot or renewed; None if it only added one."""
    # The others keep their order, so it stands at the first difference.
    if len(after) > len(before):
        return None
    pairs = zip(before, after, strict=False)
    return next((was for was, is_now in pairs if not _is_one(was, is_now)), None)


def _is_one(one: Habit, other: Habit) -> bool:
    # Without its times, which are moved when the agent's clock changes.
    return (one.vector, one.named) == (other.vector, other.named)


def _habit_key(folded: Folded, event: Sensed, habit: Habit) -> tuple[str, ...]:
    return folded.name, event.source, event.type, _habit_id(habit.vector, habit.named)


# Like events come again and again, each time with the vector of the habit they renew.
@lru_cache(maxsize=4096)
def _habit_id(vector: Vector, named: str) -> str:
    return ids.digest(vector, named.encode())


def _habit_row(folded: Folded, event: Sensed, habit: Habit) -> Row:
    return {
        "named": habit.named,
        "text": event.text,
        "tau_s": events.domain_of(folded.packs, event).tau_s,
        "passed_at": habit.passed_at,
        "seen_at": habit.seen_at[-1],
        "recent_count": len(habit.seen_at),
        "sequence": folded.input.sequence,
    }
