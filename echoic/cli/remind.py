"""`echoic remind`: have something said at a time, as somebody asks for it."""

from datetime import UTC, datetime, time, timedelta
from typing import Annotated

import typer

from echoic.cli.connected import known_at, on_instance, send
from echoic.cli.durations import in_units, seconds
from echoic.cli.options import Call, new_app
from echoic.client.connection import Connection
from echoic.client.names import meant_id
from echoic.client.state import AgentSnapshot
from echoic.errors import EchoicError, NotFoundError
from schemas.messages.executive import ReminderSet
from schemas.messages.notes import ControlApplied
from schemas.state.executive import Reminder
from schemas.values import timezones

app = new_app("remind", "Reminders: set, list, cancel.")

EXAMPLE = 'echoic remind "call Lee" --in 10m'


@app.command()
def remind(
    call: Call,
    text: Annotated[str, typer.Argument(metavar="TEXT|list|cancel")],
    id_: Annotated[str | None, typer.Argument(metavar="[ID]")] = None,
    in_: Annotated[str | None, typer.Option("--in", metavar="SPAN")] = None,
    at: Annotated[str | None, typer.Option("--at", metavar="TIME")] = None,
    person: str | None = None,
    urgent: bool = False,
) -> None:
    """Have something said at a time; list what is to come, or take one back.

    It is said at its time, or once the person is not busy any more, and dropped if that
    takes an hour. A quiet that the same person asked for does not stop it, a mute does.
    At most 100 are set at a time: one more is refused until one was said or cancelled.

    Examples: `echoic remind "call Lee" --in 10m`, `echoic remind "the oven" --at 18:00
    --person ada`, `echoic remind list`, `echoic remind cancel 3f2a91c0`.

    Args:
        text: What is to be said; or `list`, or `cancel` with an id.
        id_: The reminder to cancel, as `list` shows it; its beginning is enough.
        in_: In how long, such as 90s, 10m or 2h.
        at: When, as 18:00 in the time zone of the settings, or as 2030-01-31T18:00.
        person: Whom it is for; else everybody.
        urgent: Whether it is said even while the person is busy.
    """
    if text == "list" and in_ is None and at is None:
        _list(call)
    elif text == "cancel" and in_ is None and at is None:
        _cancel(call, id_)
    elif id_ is not None:
        raise EchoicError("what is to be said goes into quotes", next_step=EXAMPLE)
    else:
        _set(call, text, _due(call, in_, at), person, urgent)


def _set(
    call: Call, text: str, due: datetime | float, person: str | None, urgent: bool
) -> None:
    control = ReminderSet(
        text=text,
        due_at=due if isinstance(due, datetime) else None,
        in_s=None if isinstance(due, datetime) else due,
        person=person,
        urgent=urgent,
    )
    _tell(call, control)


def _due(call: Call, in_: str | None, at: str | None) -> datetime | float:
    """Return when it is due: a moment, or in so many seconds.

    Raises:
        EchoicError: neither or both are given, or one is not understood.
    """
    if (in_ is None) == (at is None):
        raise EchoicError("say when: with --in or with --at", next_step=EXAMPLE)
    if in_ is not None:
        return seconds(in_, EXAMPLE)
    # Of the instance: this program's own settings may name another.
    zone = on_instance(call, _zone_of)
    return moment(str(at), zone, datetime.now(UTC))


async def _zone_of(connection: Connection) -> str:
    try:
        return _zone(await known_at(connection))
    except NotFoundError:
        # An agent that nothing happened to yet: the settings are all there is to go by.
        return str(connection.settings["timezone"])


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
        return day.astimezone(UTC)
    except ValueError:
        pass
    try:
        given = datetime.fromisoformat(text)
        given = given if given.tzinfo else given.replace(tzinfo=here.tzinfo)
        return given.astimezone(UTC)
    # The latter where the zone moves it out of what a datetime can hold.
    except (ValueError, OverflowError):
        raise EchoicError(
            f"{text!r} is no time: give 18:00 or 2030-01-31T18:00",
            next_step='echoic remind "call Lee" --at 18:00',
        ) from None


def _list(call: Call) -> None:
    async def run(connection: Connection) -> list[dict[str, object]]:
        known = await known_at(connection)
        held, zone = known.agent.executive.reminders, _zone(known)
        return [_row(each, zone) for each in sorted(held, key=lambda each: each.due)]

    rows = on_instance(call, run)
    header = ("id", "due", "for", "text")
    call.show_rows(rows, header, map(dict.values, rows), f"nothing is set: {EXAMPLE}")


def _cancel(call: Call, id_: str | None) -> None:
    if id_ is None:
        raise EchoicError("name the reminder", next_step="echoic remind list")
    whole = on_instance(call, lambda connection: _whole(connection, id_))
    _tell(call, ReminderSet(reminder_id=whole, off=True))


async def _whole(connection: Connection, start: str) -> str:
    """Return the id that is meant."""
    held = (await known_at(connection)).agent.executive.reminders
    ids = (each.id for each in held)
    return meant_id(start, ids, "reminder", listed_by="echoic remind list")


def _tell(call: Call, control: ReminderSet) -> None:
    (applied,) = (
        each for each in send(call, control) if isinstance(each, ControlApplied)
    )
    told = in_units(applied.detail)
    if control.due_at is not None:
        due = f"at {control.due_at.astimezone():%Y-%m-%d %H:%M %Z}"
        told = told.replace(control.due_at.isoformat(), due)
    call.show(control.model_dump(mode="json", exclude_none=True), [told])


def _zone(known: AgentSnapshot) -> str:
    """Return the time zone that the instance runs with."""
    settings = known.shared.settings
    executive = settings.executive if settings is not None else None
    return executive.timezone if executive is not None else "UTC"


def _row(held: Reminder, zone: str) -> dict[str, object]:
    return {
        "id": held.id,
        "due": f"{timezones.local(held.due, zone):%Y-%m-%d %H:%M:%S %Z}",
        "for": held.person or "everybody",
        "text": held.text,
    }
