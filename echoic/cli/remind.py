"""`echoic remind`: have something said at a time, as somebody asks for it."""

from collections.abc import Sequence
from datetime import UTC, datetime, time, timedelta
from typing import Annotated

import typer
from msgspec.structs import replace

from echoic.cli.connected import known_at, on_instance, send
from echoic.cli.durations import in_units, seconds
from echoic.cli.options import Call, new_app
from echoic.client.connection import Connection
from echoic.client.names import meant_id
from echoic.client.state import AgentSnapshot
from echoic.errors import EchoicError, NotFoundError
from echoic.packs.phrases import shipped
from projections.folds.executive import reminders
from schemas.messages.executive import ReminderSet
from schemas.messages.notes import ControlApplied
from schemas.state.executive import Reminder
from schemas.values import phrase_matching, recurrence, timezones
from schemas.values.phrases import Phrases
from schemas.values.recurrence import Repeat

app = new_app("remind", "Reminders: set, list, move, snooze, cancel.")

_EXAMPLE = 'echoic remind "call Lee" --in 10m'
_SNOOZE_S = 600.0
"""For how long a reminder is put off where nobody says it, as in words."""

_Dues = tuple[tuple[datetime | float, Repeat | None], ...]
"""Each moment, or the seconds until then, and how often it comes again."""


@app.command()
def remind(
    call: Call,
    text: Annotated[str, typer.Argument(metavar="TEXT|list|cancel|move|snooze")],
    id_: Annotated[str | None, typer.Argument(metavar="[ID]")] = None,
    in_: Annotated[str | None, typer.Option("--in", metavar="SPAN")] = None,
    at: Annotated[str | None, typer.Option("--at", metavar="TIME")] = None,
    when: Annotated[str | None, typer.Option("--when", metavar="WORDS")] = None,
    person: str | None = None,
    urgent: bool = False,
) -> None:
    """Have something said at a time; list what is to come, move it, or take it back.

    It is said at its time, or once the person is not busy any more, and dropped if that
    takes an hour. A quiet that the same person asked for does not stop it, a mute does.
    At most 100 are set at a time: one more is refused until one was said or cancelled.
    One that comes again keeps its time of the day when the clocks change.

    Examples: `echoic remind "call Lee" --in 10m`, `echoic remind "the oven" --at 18:00
    --person ada`, `echoic remind "the pills" --when "every day at eight"`,
    `echoic remind list`, `echoic remind cancel 3f2a91c0`,
    `echoic remind move 3f2a91c0 --when "tomorrow at nine"`, `echoic remind snooze --in 5m`.

    Args:
        text: What is to be said; or `list`, or `cancel`, `move` with an id, or `snooze`,
            which says again what was said last.
        id_: The reminder to cancel or move, as `list` shows it; its beginning is enough.
        in_: In how long, such as 90s, 10m or 2h.
        at: When, as 18:00 in the time zone of the settings, or as 2030-01-31T18:00.
        when: When in words, in the instance's languages: "tomorrow at nine", "every Monday
            and Thursday at 8", "every two hours", "in ten minutes and in an hour".
        person: Whom it is for; else everybody.
        urgent: Whether it is said even while the person is busy.
    """
    given = (in_, at, when)
    is_timed = any(each is not None for each in given)
    if text == "list" and not is_timed:
        _list(call)
    elif text == "cancel" and not is_timed:
        _cancel(call, id_)
    elif text == "move" and (id_ is not None or not is_timed):
        _move(call, id_, _due(call, *given))
    elif text == "snooze" and id_ is None:
        _snooze(call, _due(call, *given) if is_timed else ((_SNOOZE_S, None),))
    elif id_ is not None:
        raise EchoicError("what is to be said goes into quotes", next_step=_EXAMPLE)
    else:
        made = ReminderSet(text=text, person=person, urgent=urgent).checked()
        for due in _due(call, *given):
            _tell(call, _at(made, due))


def _at(
    control: ReminderSet, due: tuple[datetime | float, Repeat | None]
) -> ReminderSet:
    moment_, repeat = due
    is_moment = isinstance(moment_, datetime)
    told = {"due_at": moment_} if is_moment else {"in_s": moment_}
    return replace(control, **{**told, "repeat": repeat})


def _due(call: Call, in_: str | None, at: str | None, when: str | None) -> _Dues:
    """Return when it is due: each moment, or in so many seconds.

    Raises:
        EchoicError: none or several are given, or one is not understood.
    """
    if sum(each is not None for each in (in_, at, when)) != 1:
        raise EchoicError(
            "say when: with one of --in, --at and --when", next_step=_EXAMPLE
        )
    if in_ is not None:
        return ((seconds(in_, _EXAMPLE), None),)
    # Of the instance: this program's own settings may name another.
    zone, phrases = on_instance(call, _words_of)
    if when is not None:
        return in_words(when, phrases, zone, datetime.now(UTC))
    return ((moment(str(at), zone, datetime.now(UTC)), None),)


def in_words(text: str, known: Sequence[Phrases], zone: str, now: datetime) -> _Dues:
    """Return the moments of a text, in words, after `now`.

    Raises:
        EchoicError: it is not understood in whole, or one is past.
    """
    found: dict[datetime, Repeat | None] = {}
    for when in phrase_matching.moments_of(text, known) or ():
        repeat = recurrence.repeat_of(when) if when.is_repeated else None
        moments = recurrence.moments(when, now, zone)
        if not moments:
            found = {}
            break
        # In the zone in which they are told back.
        found |= {timezones.local(each, zone): repeat for each in moments}
    if not found:
        raise EchoicError(
            f"{text!r} is not understood as a time to come",
            next_step='echoic remind "call Lee" --when "tomorrow at nine"',
        )
    return tuple(found.items())


async def _words_of(connection: Connection) -> tuple[str, tuple[Phrases, ...]]:
    """Return the time zone and the phrases of the instance."""
    try:
        settings = (await known_at(connection)).shared.settings
    except NotFoundError:
        settings = None
    if settings is None:
        # An agent that nothing happened to yet: the settings are all there is to go by.
        own = connection.settings
        return str(own["timezone"]), shipped(own["languages"])
    return settings.executive.timezone, settings.executive.phrases


def moment(text: str, zone: str, now: datetime) -> datetime:
    """Return the instant of a time in a zone: of `18:00` the next one after `now`.

    Raises:
        EchoicError: it is neither a time nor a date with one.
    """
    here = timezones.local(now, zone)
    try:
        day = datetime.combine(here.date(), time.fromisoformat(text), here.tzinfo)
        # A wall clock's next day may have 23 or 25 hours.
        day = day if day > here else day + timedelta(days=1)
        return timezones.local(day, zone)
    except ValueError:
        pass
    try:
        given = datetime.fromisoformat(text)
        given = given if given.tzinfo else given.replace(tzinfo=here.tzinfo)
        return timezones.local(given.astimezone(UTC), zone)
    # The latter where the zone moves it out of what a datetime can hold.
    except (ValueError, OverflowError):
        raise EchoicError(
            f"{text!r} is no time: give 18:00 or 2030-01-31T18:00",
            next_step='echoic remind "call Lee" --at 18:00',
        ) from None


def _list(call: Call) -> None:
    async def run(connection: Connection) -> list[dict[str, object]]:
        known = await known_at(connection)
        held, zone = known.agent.executive.reminders.awaited, _zone(known)
        return [
            _row(each, zone, known.name_of(each.person or ""))
            for each in sorted(held, key=lambda each: each.due)
        ]

    rows = on_instance(call, run)
    header = ("id", "due", "again", "for", "text")
    call.show_rows(rows, header, map(dict.values, rows), f"nothing is set: {_EXAMPLE}")


def _cancel(call: Call, id_: str | None) -> None:
    if id_ is None:
        raise EchoicError("name the reminder", next_step="echoic remind list")
    held, _ = on_instance(call, lambda connection: _held(connection, id_))
    _tell(call, ReminderSet(reminder_id=held.id, off=True).checked())


def _move(call: Call, id_: str | None, dues: _Dues) -> None:
    if id_ is None:
        raise EchoicError("name the reminder", next_step="echoic remind list")
    held, name = on_instance(call, lambda connection: _held(connection, id_))
    _tell(call, _at(_again(held, held.id), _only(dues)), name)


def _snooze(call: Call, dues: _Dues) -> None:
    async def last(connection: Connection) -> tuple[Reminder, str]:
        known = await known_at(connection)
        said = known.agent.executive.reminders.said
        if not said:
            raise NotFoundError(
                "no reminder was said yet", next_step="echoic remind list"
            )
        return said[-1], known.name_of(said[-1].person or "")

    said, name = on_instance(call, last)
    _tell(call, _at(_again(said, None), _only(dues)), name)


def _only(dues: _Dues) -> tuple[datetime | float, Repeat | None]:
    if len(dues) != 1:
        raise EchoicError("give one time", next_step="echoic remind list")
    return dues[0]


def _again(held: Reminder, id_: str | None) -> ReminderSet:
    return ReminderSet(
        reminder_id=id_,
        text=held.text,
        person=held.person,
        by=held.by,
        urgent=held.urgent,
    ).checked()


async def _held(connection: Connection, start: str) -> tuple[Reminder, str]:
    """Return the reminder that is meant, and the name of whom it is for."""
    known = await known_at(connection)
    held = known.agent.executive.reminders.awaited
    ids = (each.id for each in held)
    whole = meant_id(start, ids, "reminder", listed_by="echoic remind list")
    meant = next(each for each in held if each.id == whole)
    return meant, known.name_of(meant.person or "")


def _tell(call: Call, control: ReminderSet, name: str | None = None) -> None:
    (applied,) = (
        each for each in send(call, control) if isinstance(each, ControlApplied)
    )
    told = in_units(applied.detail)
    if (name := control.called or name) is not None:
        told = told.replace(f" for {control.person}", f" for {name}", 1)
    if control.due_at is not None:
        due = f"at {control.due_at:%A, %Y-%m-%d %H:%M %Z}"
        told = told.replace(control.due_at.astimezone(UTC).isoformat(), due)
    call.show(control.as_fields(), [told])


def _zone(known: AgentSnapshot) -> str:
    """Return the time zone that the instance runs with."""
    settings = known.shared.settings
    executive = settings.executive if settings is not None else None
    return executive.timezone if executive is not None else "UTC"


def _row(held: Reminder, zone: str, name: str) -> dict[str, object]:
    return {
        "id": held.id,
        "due": f"{timezones.local(held.due, zone):%Y-%m-%d %H:%M:%S %Z}",
        "again": reminders.repeated(held.repeat) if held.repeat else "",
        "for": name or "everybody",
        "text": held.text,
    }
