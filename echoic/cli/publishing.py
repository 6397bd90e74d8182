"""`echoic pub`: events from the command line, a file or stdin, as a sensor sends them."""

import asyncio
import json
import sys
from collections.abc import Iterable, Iterator
from contextlib import closing, nullcontext
from pathlib import Path
from typing import Annotated, TextIO

import typer

from echoic import accounts, render, talking
from echoic.accounts import Account
from echoic.cli.common import (
    Agent,
    Data,
    Json,
    has_colour,
    new_app,
    note,
    print_json,
    settings_of,
    terminal_width,
)
from echoic.cli.progress import Progress
from echoic.errors import EchoicError
from echoic.live import Connection, connect
from echoic.names import heuristic_names
from echoic.pacing import Pace
from echoic.recordings import Sending, read_lines
from echoic.talking import new_event_id

app = new_app("publishing", "Events, as a sensor sends them.")


@app.command()
def pub(
    text: Annotated[
        str | None, typer.Argument(help="The event in words; `-` reads lines of stdin.")
    ] = None,
    file: Annotated[
        Path | None, typer.Option("--file", "-f", help="Lines of events.")
    ] = None,
    source: Annotated[str, typer.Option(help="Who noticed it.")] = "user",
    type_: Annotated[str, typer.Option("--type", help="What it is.")] = "message",
    field: Annotated[
        list[str] | None, typer.Option(metavar="NAME=VALUE", help="A value of it.")
    ] = None,
    hint: Annotated[
        list[str] | None,
        typer.Option(metavar="DIMENSION=NUMBER", help="Why it may matter."),
    ] = None,
    pace: Annotated[
        str, typer.Option(metavar="original|N|max", help="Events a second of a file.")
    ] = "max",
    wait: Annotated[
        bool, typer.Option("--wait", help="Wait for the decision and print it.")
    ] = False,
    data: Data = None,
    agent: Agent = None,
    as_json: Json = False,
) -> None:
    """Publish events as a sensor does; each run gives them ids of their own.

    Examples: `echoic pub "Oven is done" --source kitchen --type oven --wait`, `echoic pub
    -f evening.jsonl --pace original`.
    """
    settings = settings_of(data, agent)
    if (text is None) == (file is None):
        raise EchoicError(
            "give either a text or a file", next_step='echoic pub "hello" --wait'
        )
    if text is not None and text != "-":
        event = {
            "text": text,
            "source": source,
            "type": type_,
            "fields": _values(field),
            "salience": _values(hint) or _own_hints(source, type_),
        }
        lines: Iterable[str] = [json.dumps(event)]
    else:
        lines = _lines(file)
    sendings = read_lines(
        lines, agent=agent, default_agent=settings.agent, new_id=new_event_id
    )

    pacer = Pace(pace)

    async def run() -> None:
        async with connect(settings) as connection:
            await _send(connection, sendings, pacer, wait=wait, as_json=as_json)

    asyncio.run(run())


async def _send(
    connection: Connection,
    sendings: Iterator[Sending],
    pace: Pace,
    *,
    wait: bool,
    as_json: bool,
) -> None:
    """Publish one after the other, and show what becomes of each if that is wanted."""
    progress = Progress("events published")
    names = await heuristic_names(connection.log, connection.settings.agent)
    style = render.Style(width=terminal_width(), colour=has_colour())
    count = 0
    for sending in sendings:
        await pace.wait_for(sending.at)
        after = await connection.log.last_sequence("ev.>") if wait else 0
        await talking.publish_raw(
            connection.client, sending.subject, sending.wire_body, sending.wire_headers
        )
        count += 1
        if wait:
            account = await _answer(connection, sending, after)
            if as_json:
                print_json(accounts.as_response(account))
            else:
                print(render.line(account, names, style), flush=True)
        elif as_json:
            print_json({"v": 1, "accepted": True, "event_id": sending.event_id})
        progress(count)
    progress.done()
    if not (wait or as_json):
        note(f"{count} published")


async def _answer(connection: Connection, sending: Sending, after: int) -> Account:
    return await talking.decided_on(
        connection.log,
        sending.agent,
        sending.source,
        sending.type,
        sending.event_id,
        after,
    )


def _lines(file: Path | None) -> Iterator[str]:
    opened: TextIO = sys.stdin if file is None else file.open(encoding="utf-8")
    with nullcontext(opened) if file is None else closing(opened) as stream:
        yield from stream


def _own_hints(source: str, type_: str) -> dict[str, object]:
    """A person's words matter for who says them."""
    return {"social": 0.9} if (source, type_) == ("user", "message") else {}


def _values(fields: Iterable[str] | None) -> dict[str, object]:
    """`name=value` pairs; a value that reads as JSON is what it says, else text."""
    found: dict[str, object] = {}
    for text in fields or ():
        name, equals, value = text.partition("=")
        if not equals:
            raise EchoicError(f"{text!r} is no field", next_step="--field value=3")
        try:
            found[name] = json.loads(value)
        except ValueError:
            found[name] = value
    return found
