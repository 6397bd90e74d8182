"""`echoic session film` and `shares`: a day of characters as a page, and who decided in it."""

import asyncio
from collections.abc import Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Annotated

import typer

from echoic.cli.connected import aid_provider, on_instance
from echoic.cli.options import Call, TextCall
from echoic.cli.watch_map import sessions_at
from echoic.client.connection import Connection
from echoic.client.recordings import is_path
from echoic.errors import EchoicError
from echoic.scene.recorded import Step, opened, scene_of
from echoic.scene.reel import reel_of
from echoic.scene.scene import Scene
from echoic.scene.shares import Shares
from echoic.terminal import shares as shares_screen
from echoic.terminal.output import note
from echoic.terminal.screen import counted
from echoic.web.film.page import render
from replay.recording import sessions as recorded
from replay.recording.source import Recording, from_session, of_file
from replay.recording.worlds import export, find_world, worlds
from schemas.values import naming
from schemas.values.subjects import partition_of
from streams.log import ReadableLog

Sessions = Annotated[list[str], typer.Argument(metavar="SESSION|FILE...")]


def film(
    call: TextCall,
    sessions: Sessions,
    output: Annotated[Path, typer.Option("--output", "-o")] = Path("film.html"),
    title: str = "",
) -> None:
    """Draw a day of characters as one page: a map, a time line, and what was decided.

    It plays in a browser without a network, and has all that happened in one file. Give the
    files of several characters, or of their world, to see them together.

    Examples: `echoic session film packs/village/recording -o day.html`, `echoic session
    film village-1 -o day.html` (a world, or a session of the agent).

    Args:
        sessions: Files, their folder, or a world's or a session's id.
        output: The page to write.
        title: What stands above it; else who is in it, and when.
    """
    scene, steps = _read(call, sessions)
    reel, by_layers = reel_of(scene, steps), _shares(steps)
    fields = reel.fields()
    names = ", ".join(each["name"] for each in fields["who"][:6])
    heading = title or f"{names}, {steps[0][0]:%d %B %Y}"
    page = render(fields, by_layers, heading, version("echoic"))
    output.write_text(page, encoding="utf-8")
    told = f"{counted(len(fields['who']), 'character')}, {len(fields['told']):,} happenings"
    note(f"{told}, {output.stat().st_size:,} bytes")
    print(output)


def shares(call: Call, sessions: Sessions) -> None:
    """Count by which layers characters decided, and how much of it needed a model.

    Examples: `echoic session shares packs/village/recording`, `echoic session shares
    village-1 --json` (a world, or a session of the agent).

    Args:
        sessions: Files, their folder, or a world's or a session's id.
    """
    _, steps = _read(call, sessions)
    found = _shares(steps)
    fields = {name: each.fields() for name, each in found.items()}
    call.show({"agents": fields}, shares_screen.screen(found))


def _read(call: Call, sessions: Sequence[str]) -> tuple[Scene, list[Step]]:
    """Read what happened in files, or in the log of the instance.

    Raises:
        EchoicError: nothing did.
    """
    if all(is_path(each) for each in sessions):
        paths = [path for each in sessions for path in sessions_at(Path(each))]
        scene, steps = asyncio.run(scene_of(opened(paths)))
    else:

        async def read(connection: Connection) -> tuple[Scene, list[Step]]:
            found = [
                recording
                for each in sessions
                for recording in await _of_log(connection, each)
            ]
            return await scene_of(found)

        scene, steps = on_instance(call, read)
    if not steps:
        raise EchoicError("nothing happens in these recordings")
    return scene, steps


async def _of_log(connection: Connection, id_: str) -> list[Recording]:
    """Return the sessions of a world's members, else the agent's session of that id."""
    log: ReadableLog = connection.log
    provider, agent = aid_provider(connection), connection.settings.agent
    known = await worlds(log)
    own = await recorded.sessions(log, partition_of(agent), provider)
    # Of both at once: how a world's id begins may be the id of a session.
    ids = (*known, *(each.id for each in own if each.agent == agent))
    named = id_ if id_ == recorded.LAST else naming.meant(id_, ids, "world or session")
    if named not in known:
        return [await from_session(log, agent, named, provider)]
    members = await export(log, await find_world(log, named), provider)
    return [of_file(each, id_) for each in members]


def _shares(steps: Sequence[Step]) -> dict[str, Shares]:
    """Return the shares of everybody, by name."""
    found: dict[str, Shares] = {}
    for _, input_, outputs in steps:
        found.setdefault(input_.agent, Shares()).take(outputs)
    return dict(sorted(found.items()))
