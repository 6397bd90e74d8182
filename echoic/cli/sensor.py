"""`echoic sensor`: run a sensor that comes with a pack, with rights of its own.

A sensor is a program by itself; it gets credentials that allow it to speak as
one source of one agent, and nothing of ours.
"""

import asyncio
import signal
import subprocess
import sys
from collections.abc import Awaitable, Callable
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path
from types import FrameType
from typing import Annotated
from uuid import uuid4

import typer

from echoic.cli.connected import on_instance
from echoic.cli.options import Call, Data, TextCall, new_app, settings_of
from echoic.client import packs, publish, sensor_access
from echoic.client.connection import Connection
from echoic.client.sensor_access import (
    access_file,
    grant_persons,
    sensor_credentials,
    write_access,
)
from echoic.config.load import Settings, defaults
from echoic.errors import EchoicError
from echoic.packs import bundled
from echoic.terminal.output import note
from schemas.messages.controls import SessionStarted
from schemas.values.settings import SessionClock
from schemas.values.subjects import SHARED_AGENT, partition_of
from streams.errors import StreamsError
from streams.jetstream.accounts import Credentials

app = new_app("sensor", "Run a sensor that comes with a pack.")

_GIVE_ACCOUNTS = (
    "this holds once your broker has the new accounts: echoic sensor accounts"
)

_Prepare = Callable[[Connection], Awaitable[tuple[str, list[str]]]]
"""Sees to what a sensor needs, and returns its agent and its credentials as options."""

_ENDING = (signal.SIGTERM, signal.SIGHUP)

_AT_HOME = ("ada", "ben", "cleo")
"""Who lives in the simulated home, and who visits."""

_VILLAGERS = ("aria", "bram", "cora", "dara", "emil", "luna")
"""Who lives in the simulated village."""

_GOLEM = "golem"
"""Who lives in the simulated café."""

_CLEARING = "clearing"
"""Where they talk: the agent that owns their conversations."""

_PASSED_ON = {"allow_extra_args": True, "ignore_unknown_options": True}


@app.command(context_settings=_PASSED_ON)
def crafter(call: TextCall, context: typer.Context) -> None:
    """Play the open-world game Crafter live; `-- --help` shows its own options.

    Examples: `echoic sensor crafter`, `echoic sensor crafter --rate 5 --steps 300`.
    """
    raise typer.Exit(_run(call, "survival", "crafter", context.args, needs="crafter"))


@app.command(context_settings=_PASSED_ON)
def desk(call: TextCall, context: typer.Context) -> None:
    """Watch this machine: load, memory, disk, battery, temperature.

    Examples: `echoic sensor desk`, `echoic sensor desk --interval 1 --count 10`.
    """
    raise typer.Exit(_run(call, "desk", "desk", context.args, needs="psutil"))


@app.command(context_settings=_PASSED_ON)
def home(call: TextCall, context: typer.Context) -> None:
    """Live a simulated day in a home, which people share with their companion.

    Examples: `echoic sensor home`, `echoic sensor home --pace 600 --seed 3`.
    """
    raise typer.Exit(
        _run(call, "home", "home", context.args, persons="user", named=_AT_HOME)
    )


@app.command(context_settings=_PASSED_ON)
def cafe(
    call: TextCall,
    context: typer.Context,
    pace: Annotated[float, typer.Option(min=0.0)] = 1.0,
    lockstep: Annotated[float, typer.Option(min=0.0)] = 0.0,
) -> None:
    """Let an autonomous character live in a café: `golem`, unless `--agent` names another.

    Examples: `echoic sensor cafe`, `echoic sensor cafe --agent gim --pace 60`, `echoic
    sensor cafe --lockstep 2000 --hours 2`.

    Args:
        pace: Seconds of the café in one second; 0: no pause. At any but 1 the session has
            the café's clock.
        lockstep: The café goes on once the mind has answered; one that does not is told
            the time again after so many milliseconds. 0: by its pace.
    """
    own_clock = pace != 1 or lockstep > 0
    own = ["--pace", str(pace), "--lockstep", str(lockstep), *context.args]

    async def prepare(connection: Connection) -> tuple[str, list[str]]:
        settings = connection.settings
        # A companion that nobody named is none of the café's.
        agent = _GOLEM if settings.agent == defaults().agent else settings.agent
        theirs = replace(connection, settings=replace(settings, agent=agent))
        folder, world = bundled.PACKS / "golem", f"cafe-{uuid4()}"
        file = await _joined(theirs, folder, "cafe", world, own_clock=own_clock)
        return agent, ["--credentials", str(file)]

    raise typer.Exit(_prepared(call, "golem", "cafe", own, prepare))


@app.command(context_settings=_PASSED_ON)
def village(
    call: TextCall,
    context: typer.Context,
    characters: Annotated[int, typer.Option(min=1, max=len(_VILLAGERS))] = 1,
    pace: Annotated[float, typer.Option(min=0.0)] = 1.0,
    lockstep: Annotated[float, typer.Option(min=0.0)] = 0.0,
) -> None:
    """Let characters live in a village, each an agent of its own; `--agent` counts for none.

    Examples: `echoic sensor village`, `echoic sensor village --characters 6 --pace 60`,
    `echoic sensor village --lockstep 2000 --hours 2`.

    Args:
        characters: How many, by name: aria, bram, cora, dara, emil, luna.
        pace: Seconds of the village in one second; 0: no pause. At any but 1 their sessions
            have the village's clock. `echoic session export --world village` keeps them all.
        lockstep: The village goes on once all minds have answered; a mind that does not is
            told the time again after so many milliseconds. 0: by its pace.
    """
    names = _VILLAGERS[:characters]
    own = ["--characters", str(characters), "--pace", str(pace)]
    own += ["--lockstep", str(lockstep), *context.args]
    world = f"village-{uuid4()}"

    async def prepare(connection: Connection) -> tuple[str, list[str]]:
        for name in (*names, _CLEARING):
            settings = replace(connection.settings, agent=name)
            theirs = replace(connection, settings=settings)
            folder = bundled.PACKS / "village"
            folder = folder / name if name == _CLEARING else folder
            own_clock = pace != 1 or lockstep > 0
            await _joined(theirs, folder, "village", world, own_clock=own_clock)
        file = access_file(connection.settings.data, names[0], "village")
        return names[0], ["--credentials", str(file)]

    raise typer.Exit(_prepared(call, "village", "village", own, prepare))


@app.command()
def access(
    call: TextCall,
    source: str,
    grant: list[str] | None = None,
    person: list[str] | None = None,
) -> None:
    """Make credentials for a sensor of your own, and print the file that has them.

    Asked for again, it has the same password, and what is granted now alone.

    Examples: `echoic sensor access door --agent ada`, `echoic sensor access phone --person
    ben --grant feedback`.

    Args:
        source: As which source it speaks.
        grant: Also allow `feedback`, `control` or `homeassistant`; may be given again.
        person: Whom its events may name; may be given again. Whom else they name counts
            as `unknown`.
    """
    settings, grants, persons = call.settings, tuple(grant or ()), tuple(person or ())
    if settings.nats_url is None:
        print(on_instance(call, lambda c: _credentials(c, source, grants, persons)))
        return
    access = sensor_credentials(settings, settings.agent, source, grants, persons)
    print(_written(settings, source, asyncio.run(access)))
    note(_GIVE_ACCOUNTS)
    if not _is_told(call, source, persons):
        note("whom it may name holds once the instance was started again")


@app.command()
def accounts(data: Data = None) -> None:
    """Print the accounts for a broker of your own: Echoic's, and one for each sensor.

    Passwords are hashes. The broker's configuration includes the file, and takes a new
    one at a reload; a sensor that comes with it can send after one reload more.

    Example: `echoic sensor accounts > accounts.conf`.
    """
    print(sensor_access.accounts(settings_of(data)), end="")


@app.command()
def revoke(call: TextCall, source: str) -> None:
    """Take a sensor's access away: it is put out at once, and its file is deleted.

    Example: `echoic sensor revoke door --agent ada`.

    Args:
        source: As which source it speaks.
    """
    settings = call.settings
    asyncio.run(sensor_access.revoke(settings, settings.agent, source))
    if settings.nats_url is None:
        note(f"{settings.agent}.{source} has no access any more")
    else:
        note(_GIVE_ACCOUNTS)


def _run(
    call: Call,
    pack: str,
    source: str,
    arguments: list[str],
    *,
    needs: str | None = None,
    persons: str | None = None,
    named: tuple[str, ...] = (),
) -> int:
    """Run a pack's sensor until it ends, and return its exit code.

    A sensor whose people speak and vote gets the rights of the source `persons`, too; both
    may name those `named`.

    Raises:
        EchoicError: the library that it `needs` is not installed.
    """
    folder = bundled.PACKS / pack
    if needs is not None and find_spec(needs) is None:
        raise EchoicError(f"{needs} is not installed", next_step=bundled.extra(source))

    async def prepare(connection: Connection) -> tuple[str, list[str]]:
        await _have_pack(connection, folder)
        settings = connection.settings
        # Files, since arguments are visible to other users of the machine.
        own = await _credentials(connection, source, persons=named)
        files = ["--credentials", str(own)]
        if persons is not None:
            own = await _credentials(connection, persons, ("feedback",), named)
            files += ["--person-credentials", str(own)]
        return settings.agent, files

    return _prepared(call, pack, source, arguments, prepare)


async def _joined(
    connection: Connection, folder: Path, source: str, world: str, *, own_clock: bool
) -> Path:
    """Make an agent a character of a world, and return its credentials as a source.

    If the world has a clock of its own, the session keeps to that.
    """
    await _have_pack(connection, folder)
    file = await _credentials(connection, source)
    if own_clock:
        await _credentials(connection, "world")
    clock: SessionClock = "event" if own_clock else "broker"
    began = SessionStarted(session_id=str(uuid4()), clock=clock, world=world).checked()
    await publish.tell(connection.log, connection.settings.agent, began)
    return file


def _prepared(
    call: Call, pack: str, source: str, arguments: list[str], prepare: _Prepare
) -> int:
    """Run a pack's sensor with the agent and the options that `prepare` returns."""
    folder = bundled.PACKS / pack
    # Help needs no instance, no credentials and no pack.
    if "--help" in arguments:
        return subprocess.call([sys.executable, str(folder / "sensor"), "--help"])
    name, credentials = on_instance(call, prepare)
    note(
        f"{source} runs for {name}; `echoic watch` shows what comes of it; Ctrl-C ends"
    )
    command = [sys.executable, str(folder / "sensor"), "--agent", name]
    command += [*credentials, *arguments]
    return _until_it_ends(command)


def _until_it_ends(command: list[str]) -> int:
    """Run a program, pass on what is to end us, and return its exit code."""
    started: list[subprocess.Popen[bytes]] = []
    told: list[int] = []

    def pass_on(number: int, _: FrameType | None) -> None:
        told.append(number)
        for each in started:
            each.send_signal(number)

    # A service manager ends the process that it started, and that is only this one.
    before = {each: signal.signal(each, pass_on) for each in _ENDING}
    try:
        with subprocess.Popen(command) as sensor:
            started.append(sensor)
            # What came while it was being started was passed on to nobody.
            for number in told:
                sensor.send_signal(number)
            code = _waited(sensor)
    finally:
        for each, handler in before.items():
            signal.signal(each, handler)
    # As a shell tells that a signal ended a program.
    return code if code >= 0 else 128 - code


def _waited(sensor: "subprocess.Popen[bytes]") -> int:
    while True:
        try:
            return sensor.wait()
        except KeyboardInterrupt:
            # The sensor was interrupted as well, and ends by itself.
            continue


async def _have_pack(connection: Connection, folder: Path) -> None:
    """Load the sensor's pack, unless it is in force for the agent or for all."""
    pack = packs.read_pack(folder)
    log, agent = connection.log, connection.settings.agent
    shared = await packs.in_force(log, SHARED_AGENT, partition_of(agent))
    if pack.name in shared:
        return
    if await packs.load_for(log, agent, folder):
        note(f"loaded the pack {pack.name} {pack.version} for {agent}")


def _is_told(call: Call, source: str, persons: tuple[str, ...]) -> bool:
    """Tell the mind whom a sensor may name; return whether it could be told."""
    agent = call.settings.agent
    try:
        on_instance(call, lambda c: grant_persons(c.log, agent, source, persons))
    except (EchoicError, StreamsError):
        return False
    return True


async def _credentials(
    connection: Connection,
    source: str,
    grants: tuple[str, ...] = (),
    persons: tuple[str, ...] = (),
) -> Path:
    """Return a file with the rights to speak as `source`, readable by its owner alone."""
    settings = connection.settings
    agent = settings.agent
    # Before the account, which could name anybody until then.
    await grant_persons(connection.log, agent, source, persons)
    access = await sensor_credentials(settings, agent, source, grants, persons)
    return _written(settings, source, access)


def _written(settings: Settings, source: str, access: Credentials) -> Path:
    path = access_file(settings.data, settings.agent, source)
    write_access(path, access)
    return path
