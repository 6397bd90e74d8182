"""`echoic pub`: events from the command line, a file or stdin, as a sensor sends them."""

import json
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Annotated

import typer

from echoic.cli.connected import on_instance
from echoic.cli.fields import hints, values
from echoic.cli.options import Call, new_app
from echoic.cli.progress import Progress, waiting
from echoic.client import decision_json, parts
from echoic.client.connection import Connection
from echoic.client.event_lines import Sending, read_lines
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

app = new_app("publishing", "Events, as a sensor sends them.")


@app.command()
def pub(
    call: Call,
    text: Annotated[str | None, typer.Argument()] = None,
    file: Annotated[Path | None, typer.Option("--file", "-f", metavar="FILE")] = None,
    source: str = "user",
    type_: Annotated[str, typer.Option("--type")] = "message",
    field: Annotated[list[str] | None, typer.Option(metavar="NAME=VALUE")] = None,
    hint: Annotated[list[str] | None, typer.Option(metavar="DIMENSION=NUMBER")] = None,
    person: str | None = None,
    pace: Annotated[str, typer.Option(metavar="original|N|max")] = "max",
    wait: bool = False,
) -> None:
    """Publish events as a sensor does; each run gives them ids of their own.

    Examples: `echoic pub "Oven is done" --source kitchen --type oven --wait`, `echoic pub
    -f evening.echoic --pace original`. The exit code is 1 if an event was refused.

    Args:
        text: The event in words; `-` reads lines of stdin.
        file: A recorded session, or lines.
        source: The source of the event.
        type_: The type of the event.
        field: A field of the event.
        hint: How much it matters in one dimension of salience, 0 to 1.
        person: Who says it, or whom it is about.
        pace: How fast to play a file: as recorded, N events a second, or at once.
        wait: Wait for the decision and print it.
    """
    settings = call.settings
    if (text is None) == (file is None) or (text is not None and not text.strip()):
        raise EchoicError(
            "give either a text or a file", next_step='echoic pub "hello" --wait'
        )
    if file is not None:
        items: Iterator[Item] = read_file(
            file, agent=call.agent, default_agent=settings.agent, new_id=new_event_id
        )
    else:
        event = {
            "text": text,
            "source": source,
            "type": type_,
            "fields": values(field),
            "salience": hints(hint) or _own_hints(source, type_),
        }
        event |= {"person": person} if person is not None else {}
        lines = sys.stdin if text == "-" else [json.dumps(event)]
        items = read_lines(
            lines, agent=call.agent, default_agent=settings.agent, new_id=new_event_id
        )
    pacer = Pace(pace)

    async def run(connection: Connection) -> int:
        return await _send(connection, items, pacer, wait=wait, as_json=call.as_json)

    if on_instance(call, run):
        raise typer.Exit(FINDING)


async def _send(
    connection: Connection,
    items: Iterator[Item],
    pace: Pace,
    *,
    wait: bool,
    as_json: bool,
) -> int:
    """Send the items in order, and return how many events were refused."""
    sender = Sender(connection)
    allowed = Allowed(await limit_of(connection.log, connection.settings.agent))
    show = await _shown(connection, as_json) if wait else None
    count = refused = 0
    with Progress("events published") as progress:
        for item in items:
            if isinstance(item, PlayedVote):
                await sender.vote(item)
                continue
            await pace.wait_for(item.at)
            # Slower than the intake's rate: what goes beyond it would be quarantined unread.
            await allowed.wait_for(item.agent, item.source)
            await sender.event(item)
            count += 1
            if show is not None:
                refused += not await _answered(connection, sender, item, show, as_json)
                continue
            if as_json:
                print_json({"v": 1, "accepted": True, "event_id": item.event_id})
            progress(count)
    if not (wait or as_json):
        note(f"{count} published")
    return refused


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


def _own_hints(source: str, type_: str) -> dict[str, object]:
    """Return the hints of a person's message: it matters because a person says it."""
    return {"social": 0.9} if (source, type_) == ("user", "message") else {}
