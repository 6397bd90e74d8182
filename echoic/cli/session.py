"""`echoic session`: stretches of an agent's life that can be replayed by themselves."""

from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Literal
from uuid import uuid4

import typer

from echoic.cli import film
from echoic.cli.connected import aid_provider, on_instance, send
from echoic.cli.options import Call, Json, TextCall, new_app
from echoic.cli.progress import Progress
from echoic.client import known_agents, session_sealing
from echoic.client.connection import Connection
from echoic.client.publish import tell
from echoic.client.read_models import up_to_date
from echoic.errors import EchoicError
from echoic.terminal.output import note
from echoic.terminal.screen import number, pairs
from projections.store import queries
from replay.recording.sessions import SessionSpan, find_session, sessions
from replay.recording.sessions import export as export_session
from replay.recording.worlds import export as export_world
from replay.recording.worlds import find_world
from schemas.codec.decode import read_input
from schemas.messages.controls import SessionEnded, SessionStarted
from schemas.values.subjects import input_subject, partition_of
from streams.log import ReadableLog, scan
from streams.session_files.file import write_session, write_world

app = new_app("session", "Stretches of the log that can be replayed.")
app.command()(film.film)
app.command()(film.shares)

Id = Annotated[str, typer.Argument(metavar="ID", help="Its id, or how that begins.")]


@app.command(name="list")
def list_(call: Call) -> None:
    """List the agent's sessions, the newest last.

    Example: `echoic session list`.
    """

    agent = call.settings.agent

    async def run(connection: Connection) -> tuple[list[dict[str, object]], list[str]]:
        rows = await _rows(connection)
        return rows, [] if rows else await known_agents.names(connection.client)

    rows, known = on_instance(call, run)
    texts = ("id", "title", "clock", "started_at", "last_at")
    header = (*texts, number("inputs"), number("spoke"))
    others = ", ".join(each for each in known if each != agent)
    nothing = (
        f"{agent} has none; --agent may name: {others}" if others else "nothing yet"
    )
    call.show_rows(rows, header, map(dict.values, rows), nothing)


@app.command()
def show(call: Call, id_: Id) -> None:
    """Show one session.

    Example: `echoic session show evening`.
    """
    span = on_instance(call, lambda connection: _span(connection, id_))
    fields = asdict(span)
    call.show(fields, [pairs(fields, 0)])


@app.command()
def export(
    call: TextCall,
    id_: Annotated[str | None, typer.Argument(metavar="[ID]")] = None,
    output: Annotated[Path | None, typer.Option("--output", "-o")] = None,
    world: str | None = None,
    redact: bool = False,
) -> None:
    """Write a session, or a world with all its members, to a file that can be replayed.

    Examples: `echoic session export evening -o evening.echoic`, `echoic session export
    --world village -o day.echoic`.
    The file of a sealed log (privacy.seal=on) is sealed as well, and holds no key: it opens
    beside that log alone.

    Args:
        id_: Its id, or how that begins.
        output: The file to write.
        world: The world's id, or how that begins; `last`: the newest.
        redact: Without any personal text; what is left can be read, and not decided again.
    """
    if (id_ is None) == (world is None):
        raise EchoicError("name a session, or a world with --world")

    async def write(connection: Connection) -> Path:
        if world is not None:
            return await _export_world(connection, world, output, redact=redact)
        span = await _span(connection, id_ or "")
        path = output or Path(f"{span.id}.echoic")
        log = session_sealing.source(connection.log, redact=redact)
        file = await export_session(log, span, aid_provider(connection))
        file = await session_sealing.finished(file, connection.log, redact=redact)
        write_session(path, file)
        note(f"{len(file.records)} messages, {path.stat().st_size:,} bytes")
        return path

    print(on_instance(call, write))


async def _export_world(
    connection: Connection, id_: str, output: Path | None, *, redact: bool
) -> Path:
    log = session_sealing.source(connection.log, redact=redact)
    span = await find_world(log, id_)
    members = [
        await session_sealing.finished(each, connection.log, redact=redact)
        for each in await export_world(log, span, aid_provider(connection))
    ]
    path = output or Path(f"{span.id}.echoic")
    write_world(path, span.id, members)
    count = sum(len(each.records) for each in members)
    names = ", ".join(each.agent for each in span.members)
    note(f"{names}: {count} messages, {path.stat().st_size:,} bytes")
    return path


@app.command()
def start(
    call: Call,
    id_: Annotated[str | None, typer.Option("--id")] = None,
    title: str = "",
    clock: Literal["broker", "event"] = "broker",
    world: str | None = None,
) -> None:
    """Begin a session; one that is open ends.

    Example: `echoic session start --id evening --clock event`.

    Args:
        id_: What to call it.
        title: A title for the session.
        clock: `event`: time is what the sensors say.
        world: The world that the agent is in; all its members name the same.
    """
    started = SessionStarted(
        session_id=id_ or str(uuid4()), title=title, clock=clock, world=world
    ).checked()

    async def run(connection: Connection) -> bool:
        log, agent = connection.log, connection.settings.agent
        is_taken = id_ is not None and await _is_taken(log, agent, id_)
        await tell(log, agent, started)
        return is_taken

    is_taken = on_instance(call, run)
    call.show({"session_id": started.session_id}, [started.session_id])
    if is_taken:
        note(
            f"an earlier session is called {id_}: by that name only this one is found now"
        )


async def _is_taken(log: ReadableLog, agent: str, id_: str) -> bool:
    """Tell whether the agent has had a session of this id."""
    kind = SessionStarted.token
    subject = input_subject(partition_of(agent), agent, "control", kind)
    async for record in scan(log, subject):
        message = read_input(record).message
        if isinstance(message, SessionStarted) and message.session_id == id_:
            return True
    return False


@app.command()
def end(call: TextCall) -> None:
    """End the open session.

    Example: `echoic session end`.
    """
    send(call, SessionEnded())
    print("ended")


@app.command()
def make(
    folder: Annotated[Path, typer.Argument(metavar="FOLDER")],
    count: Annotated[int, typer.Option("--sessions", min=1)] = 40,
    seed: int = 1,
    as_json: Json = False,
) -> None:
    """Generate sample sessions to try `tune` on, from a small world in memory.

    A greenhouse, whose strategy tries out now and then what it would not do. It needs no
    instance. Example: `echoic session make greenhouse`, then `echoic tune
    strategy.threshold=0.6,0.8 greenhouse/*.echoic`.

    Args:
        folder: For the files.
        count: How many to play.
        seed: The same seed makes the same files, to the byte.
    """
    # The mind, its embedder and the world are wanted by this command alone.
    from echoic.demo.greenhouse import recordings

    folder.mkdir(parents=True, exist_ok=True)
    files = []
    with Progress("sessions played") as progress:
        for file in recordings(folder, count, seed):
            files.append(str(file))
            progress(len(files))
    Call(as_json=as_json).show({"files": files}, files)
    if as_json:
        return
    note(f"→ echoic tune strategy.threshold=0.6,0.8 {folder}/*.echoic")
    note(f"→ echoic tune learning.gamma=0.8..1 {folder}/*.echoic")


async def _rows(connection: Connection) -> list[dict[str, object]]:
    """Read the sessions from the read models, else fold them from the log; newest last."""
    await known_agents.check(connection)
    agent = connection.settings.agent
    # Newest first in the read models; a terminal shows the newest where the prompt is.
    async with up_to_date(connection) as store:
        if store is not None:
            return [_row(row) for row in reversed(queries.sessions(store, agent))]
    spans = await sessions(
        connection.log, partition_of(agent), aid_provider(connection)
    )
    return [_row(span) for span in spans if span.agent == agent]


def _row(found: SessionSpan | queries.Session) -> dict[str, object]:
    names = ("id", "title", "clock", "started_at", "last_at")
    counts = (
        (found.inputs, found.spoke)
        if isinstance(found, SessionSpan)
        else (found.input_count, found.spoke_count)
    )
    fields = {name: getattr(found, name) for name in names}
    return {**fields, "inputs": counts[0], "spoke": counts[1]}


async def _span(connection: Connection, id_: str) -> SessionSpan:
    await known_agents.check(connection)
    provider = aid_provider(connection)
    return await find_session(connection.log, connection.settings.agent, id_, provider)
