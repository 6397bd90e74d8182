"""`echoic pub`: events from the command line, a file or stdin, as a sensor sends them."""

import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Annotated

import orjson
import typer

from echoic.cli.connected import on_instance
from echoic.cli.fields import hints, values
from echoic.cli.options import Call, new_app
from echoic.cli.progress import Progress, waiting
from echoic.client import decision_json, event_files, event_lines, parts
from echoic.client.admission import OverDayError
from echoic.client.connection import Connection
from echoic.client.event_lines import Reading, Sending
from echoic.client.names import heuristic_names
from echoic.client.pacing import Allowed, Pace, limit_of
from echoic.client.parts import Part
from echoic.client.playback import PlayedVote
from echoic.client.publish import new_event_id
from echoic.client.sending import Item, Sender, read_file
from echoic.errors import FINDING, EchoicError, RefusedError
from echoic.terminal import decisions
from echoic.terminal.output import note, print_json, show, terminal
from replay.recording.decisions import DecisionRecord
from schemas.values import timezones
from streams.errors import Unanswered

app = new_app("publishing", "Events, as a sensor sends them.")

_Map = Annotated[list[str] | None, typer.Option("--map", metavar="NAME=COLUMN")]


@app.command()
def pub(
    call: Call,
    text: Annotated[str | None, typer.Argument()] = None,
    file: Annotated[Path | None, typer.Option("--file", "-f", metavar="FILE")] = None,
    source: str | None = None,
    type_: Annotated[str | None, typer.Option("--type")] = None,
    field: Annotated[list[str] | None, typer.Option(metavar="NAME=VALUE")] = None,
    hint: Annotated[list[str] | None, typer.Option(metavar="DIMENSION=NUMBER")] = None,
    person: str | None = None,
    map_: _Map = None,
    zone: Annotated[str | None, typer.Option(metavar="ZONE")] = None,
    pace: Annotated[str, typer.Option(metavar="original|N|max")] = "max",
    wait: bool = False,
) -> None:
    """Publish events as a sensor does; every run assigns new ids.

    A file, or stdin, holds lines of text or of JSON objects, one JSON array of objects, CSV
    whose first row names the columns, or a recorded session. Anything else is refused
    before its first line. Options hold for each of its events, and win over what it says.

    Examples: `echoic pub "Oven is done" --source kitchen --type oven --wait`, `echoic pub
    -f evening.echoic --pace original`, `echoic pub -f history.csv --source home --type
    state --map text="{entity_id} is {state}" --map occurred_at=timestamp --zone UTC`. The
    exit code is 1 if an event was refused, also if the mind put it into quarantine.

    Args:
        text: The event in words, or as a JSON object; `-` reads stdin.
        file: A recorded session, JSON lines, a JSON array, CSV or lines of text.
        source: The source of the event; else user.
        type_: The type of the event; else message.
        field: A field of the event.
        hint: How much it matters in one dimension of salience, 0 to 1.
        person: Who says it, or whom it is about.
        map_: Which column or key is what: the text, occurred_at, person, fields.NAME …; a
            column's name, or a text with {COLUMN} in it. The others become fields.
        zone: The time zone of times that name none, such as Europe/Berlin.
        pace: How fast to play a file: as recorded, N events a second, or at once.
        wait: Wait for the decision and print it.
    """
    if (text is None) == (file is None) or (text is not None and not text.strip()):
        raise EchoicError(
            "give either a text or a file", next_step='echoic pub "hello" --wait'
        )
    named = {"source": source, "type": type_, "person": person, "salience": hints(hint)}
    options = event_lines.Options(
        event={name: each for name, each in named.items() if each not in (None, {})},
        fields=values(field),
        columns=_columns(map_),
        zone=_zone(zone),
    )
    items, pacer = _items(call, text, file, options), Pace(pace)
    if on_instance(
        call, lambda each: _send(each, items, pacer, wait=wait, as_json=call.as_json)
    ):
        raise typer.Exit(FINDING)


def _items(
    call: Call, text: str | None, file: Path | None, options: event_lines.Options
) -> Iterator[Item]:
    """Return what is to be sent; an argument's is read, and may be refused, at once."""
    how: Reading = {
        "agent": call.agent,
        "default_agent": call.settings.agent,
        "new_id": new_event_id,
        "options": options,
    }
    if file is not None:
        return read_file(file, **how)
    if text == "-":
        return event_lines.read_lines(sys.stdin, **how)
    records = [("the text", _record(text or ""))]
    return iter([*event_lines.read_records(records, **how)])


def _record(text: str) -> event_files.Record:
    """Return an argument as a record: a JSON object is an event, all else is its text."""
    if text.lstrip().startswith("{"):
        try:
            found: dict[str, object] = orjson.loads(text)
        except ValueError as error:
            note(f"this is no JSON ({error}) and is sent as words")
        else:
            return found
    return text


def _columns(given: list[str] | None) -> dict[str, str]:
    """Return which column is what.

    Raises:
        EchoicError: one is no `NAME=COLUMN`.
    """
    columns = {}
    for each in given or ():
        name, equals, column = each.partition("=")
        if not (name and equals and column) or not event_lines.is_part(name):
            raise EchoicError(
                f"--map {each!r} does not say which column is what",
                next_step="--map text=COLUMN, or occurred_at, source, type, person,"
                " fields.NAME …",
            )
        columns[name] = column
    return columns


def _zone(name: str | None) -> str | None:
    if name is not None and timezones.zone(name) is None:
        raise EchoicError(
            f"--zone {name!r} is no time zone", next_step="--zone Europe/Berlin"
        )
    return name


async def _send(
    connection: Connection,
    items: Iterator[Item],
    pace: Pace,
    *,
    wait: bool,
    as_json: bool,
) -> int:
    """Send the items in order, and return how many events the mind refused."""
    sender = Sender(connection)
    allowed = Allowed(await limit_of(connection.log, connection.settings.agent))
    show = await _shown(connection, as_json) if wait else None
    count = refused = 0
    warned = set[str]()
    with Progress("events published") as progress:
        for item in items:
            if isinstance(item, PlayedVote):
                await sender.vote(item)
                continue
            for name in item.unread:
                if name not in warned:
                    warned.add(name)
                    note(f"no event has {name!r}: it is kept, and nothing reads it")
            await pace.wait_for(item.at)
            # Slower than the intake's rate: what goes beyond it would be quarantined unread.
            await allowed.wait_for(item.agent, item.source)
            try:
                await sender.event(item)
            except OverDayError:
                note(f"{count} published, not the one that follows, nor any after it")
                raise
            count += 1
            if show is not None:
                refused += not await _answered(connection, sender, item, show, as_json)
                continue
            if as_json:
                print_json({"v": 1, "accepted": True, "event_id": item.event_id})
            progress(count)
    if not (wait or as_json):
        note(f"{count} published")
    return refused if wait else await _quarantined(sender, as_json)


async def _quarantined(sender: Sender, as_json: bool) -> int:
    """Print which events the mind put into quarantine, and return how many."""
    try:
        found = await sender.quarantined()
    except Unanswered:
        note("the mind has not answered them yet: echoic log tail --kind note")
        return 0
    for id_, why in found:
        if as_json:
            print_json({"v": 1, "accepted": False, "event_id": id_, "reason": why})
        else:
            note(f"{id_}: {why}")
    return len(found)


async def _shown(
    connection: Connection, as_json: bool
) -> Callable[[DecisionRecord], None]:
    """Return the function that prints a decision."""
    if as_json:
        return lambda record: print_json(decision_json.as_response(record))
    names = await heuristic_names(connection.log, connection.settings.agent)
    return lambda record: show(*decisions.answered(record, names, terminal()))


async def _answered(
    connection: Connection,
    sender: Sender,
    item: Sending,
    show: Callable[[DecisionRecord], None],
    as_json: bool,
) -> bool:
    """Print the decision on an event; return False if the event was refused."""
    try:
        async with waiting("the decision, which may be a model's") as typing:

            def hear(part: Part) -> None:
                if part.event_id == item.event_id:
                    typing(part.text)

            async with parts.heard(connection, item.agent, hear):
                record = await sender.answer(item.event_id)
        show(record)
    except RefusedError as error:
        if as_json:
            print_json({"accepted": False, "reason": error.what})
        note(error.what)
        return False
    return True
