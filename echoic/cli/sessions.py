"""`echoic session`: stretches of an agent's life that can be replayed by themselves."""

from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Literal
from uuid import uuid4

import typer

from echoic import render
from echoic.cli.common import (
    Agent,
    Data,
    Json,
    new_app,
    note,
    print_json,
    table,
)
from echoic.cli.connected import bringer_of, on_instance
from echoic.errors import NotFoundError
from echoic.live import Connection
from echoic.talking import tell
from replay.sessions import (
    SessionSpan,
    UnknownSessionError,
    find_session,
    sessions,
)
from replay.sessions import (
    export as export_session,
)
from schemas.controls import SessionEnded, SessionStarted
from schemas.subjects import partition_of
from streams.session_file import write_session

app = new_app("session", "Stretches that can be replayed: list, export, start.")

Id = Annotated[str, typer.Argument(metavar="ID", help="Its id, or how that begins.")]


@app.command(name="list")
def list_(data: Data = None, agent: Agent = None, as_json: Json = False) -> None:
    """List the agent's sessions, the newest last.

    Example: `echoic session list`.
    """

    async def found(connection: Connection) -> list[SessionSpan]:
        name = connection.settings.agent
        spans = await sessions(
            connection.log, partition_of(name), bringer_of(connection)
        )
        return [span for span in spans if span.agent == name]

    spans = on_instance(data, agent, found)
    if as_json:
        print_json({"v": 1, "rows": [asdict(span) for span in spans]})
        return
    table(
        [
            (
                render.short(span.id),
                span.title or "-",
                span.clock,
                f"{span.started_at:%Y-%m-%d %H:%M:%S}",
                f"{span.last_at - span.started_at}".partition(".")[0],
                span.inputs,
                span.decisions,
                span.spoke,
            )
            for span in spans
        ],
        ("id", "title", "clock", "started", "for", "inputs", "decisions", "spoke"),
    )


@app.command()
def show(
    id_: Id, data: Data = None, agent: Agent = None, as_json: Json = False
) -> None:
    """Show one session.

    Example: `echoic session show evening`.
    """
    span = on_instance(data, agent, lambda connection: _span(connection, id_))
    if as_json:
        print_json({"v": 1, **asdict(span)})
    else:
        print("\n".join(f"{key:<12} {value}" for key, value in asdict(span).items()))


@app.command()
def export(
    id_: Id,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="The file to write.")
    ] = None,
    data: Data = None,
    agent: Agent = None,
) -> None:
    """Write a session to a file that can be replayed anywhere.

    Example: `echoic session export evening -o evening.echoic`.
    """

    async def write(connection: Connection) -> Path:
        span = await _span(connection, id_)
        path = output or Path(f"{span.id}.echoic")
        file = await export_session(connection.log, span, bringer_of(connection))
        write_session(path, file)
        note(f"{len(file.records)} messages, {path.stat().st_size:,} bytes")
        return path

    print(on_instance(data, agent, write))


@app.command()
def start(
    id_: Annotated[str | None, typer.Option("--id", help="What to call it.")] = None,
    title: Annotated[str, typer.Option(help="A few words.")] = "",
    clock: Annotated[
        Literal["broker", "event"],
        typer.Option(help="`event`: time is what the sensors say."),
    ] = "broker",
    data: Data = None,
    agent: Agent = None,
    as_json: Json = False,
) -> None:
    """Begin a session; one that is open ends.

    Example: `echoic session start --id evening --clock event`.
    """
    started = SessionStarted(session_id=id_ or str(uuid4()), title=title, clock=clock)

    async def begin(connection: Connection) -> None:
        await tell(connection.log, connection.settings.agent, started)

    on_instance(data, agent, begin)
    if as_json:
        print_json({"v": 1, "session_id": started.session_id})
    else:
        print(started.session_id)


@app.command()
def end(data: Data = None, agent: Agent = None) -> None:
    """End the open session.

    Example: `echoic session end`.
    """

    async def finish(connection: Connection) -> None:
        await tell(connection.log, connection.settings.agent, SessionEnded())

    on_instance(data, agent, finish)
    print("ended")


async def _span(connection: Connection, id_: str) -> SessionSpan:
    try:
        return await find_session(
            connection.log, connection.settings.agent, id_, bringer_of(connection)
        )
    except UnknownSessionError as error:
        raise NotFoundError(str(error), next_step="echoic session list") from error
