"""`echoic up`, `down` and `demo`: an instance from its start to its end."""

import asyncio
import os
import shlex
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING

import typer
from rich.console import RenderableType

from echoic.cli.options import Data, Json, TextCall, new_app, settings_of
from echoic.client.instance_note import (
    STILL_S,
    InstanceNote,
    already_runs,
    beat,
    is_alive,
    read_note,
    remove_note,
    still_s,
    write_note,
)
from echoic.config import trust
from echoic.config.load import Settings
from echoic.errors import FINDING, NotRunningError
from echoic.run.process import keep_private, log_to_stderr
from echoic.run.starting import await_start
from echoic.terminal.called import as_typed
from echoic.terminal.output import note, show
from echoic.terminal.screen import pairs
from schemas.values.model_settings import chain_in_words

if TYPE_CHECKING:
    from echoic.run.instance import Instance
    from echoic.run.projector_alone import ProjectorAlone

app = new_app("lifecycle", "An instance from its start to its end.")

# Seconds for a polite end, and again after the kill.
_STOP_S = 30.0
_POLL_S = 0.05
_LOG = "echoic.log"


@app.command()
def up(
    call: TextCall,
    detach: bool = False,
    pack: list[Path] | None = None,
    workers: str | None = None,
) -> None:
    """Start an instance: a broker, a database and the mind.

    Where no pack is named, here or in the settings, all packs in the folder `packs`
    are loaded if you trust the folder you are in, except character packs.

    Examples: `echoic up`, `echoic up --detach --pack packs/survival`.

    Args:
        detach: Return when it is ready.
        pack: A pack to load, for all agents.
        workers: In how many processes the mind runs; auto: one a processor.
    """
    packs = None if pack is None else [str(folder) for folder in pack]
    settings = settings_of(
        call.data, call.agent, packs=packs, worker__processes=workers
    )
    # In the background the program that is started there looks for them, and says so.
    if not settings.packs and not detach:
        packs = _packs_found(settings)
        settings = replace(settings, packs=tuple(packs))
        if packs:
            note("packs: " + ", ".join(packs))
    if read_note(settings.data):
        raise already_runs(settings.data)
    # The folder holds credentials of the broker and of the database.
    keep_private(settings.data)
    if detach:
        _start_detached(settings, packs or [])
    else:
        log_to_stderr()
        asyncio.run(_run(settings))


def _packs_found(settings: Settings) -> list[str]:
    """Return the packs that are loaded without being named, as paths.

    A pack stays in force, and models are told of it: one that merely lies here counts where
    the program's own packs are, or in a folder that is trusted, as settings do.
    """
    from echoic.packs.bundled import PACKS
    from echoic.packs.load import for_everybody

    folder = Path(settings.pack_folder)
    found = [str(each) for each in for_everybody(folder)]
    is_named = settings.origins["pack_folder"] != "default"
    if is_named or folder.resolve() == PACKS.resolve() or trust.is_obeyed(Path()):
        return found
    if found:
        note(
            f"not loaded, as this folder is not trusted: {', '.join(found)}\n  → "
            + as_typed(f"echoic config trust, or echoic up --pack {found[0]}")
        )
    return []


@app.command()
def down(data: Data = None) -> None:
    """Stop the instance and say so.

    Example: `echoic down`.
    """
    settings = settings_of(data)
    running = read_note(settings.data)
    if running is None:
        print(f"nothing runs over {settings.data}")
        return
    # The instance ends by itself first: it flushes checkpoints and stops its servers.
    os.kill(running.pid, signal.SIGTERM)
    if not _ends(running.pid, _STOP_S):
        note(f"process {running.pid} does not stop: it is killed")
        os.kill(running.pid, signal.SIGKILL)
        _ends(running.pid, _STOP_S)
    # One that was killed could not remove its note itself.
    remove_note(settings.data)
    print(f"stopped; the data stays in {settings.data}")


@app.command()
def health(data: Data = None) -> None:
    """Say whether the instance is ready and goes on, for probes of containers.

    It looks into the data folder alone: a broker that is away makes nothing unhealthy
    that a restart would mend. `echoic doctor` tries everything.

    Example: `echoic health`. The exit code is 3 if none is ready, 1 if it is stuck.
    """
    settings = settings_of(data)
    running = read_note(settings.data)
    if running is None:
        raise NotRunningError(
            f"no instance is ready over {settings.data}", next_step="echoic up"
        )
    seconds = still_s(settings.data)
    if seconds > STILL_S:
        note(f"process {running.pid} has given no sign of life for {seconds:.0f} s")
        raise typer.Exit(FINDING)
    print(f"process {running.pid} is ready, since {running.started_at}")


@app.command()
def demo(speed: float = 200.0, as_json: Json = False) -> None:
    """Play a recorded game through a throw-away instance, and explain it.

    Examples: `echoic demo`, `echoic demo --json`.

    Args:
        speed: Events a second.
    """
    from echoic.demo.run import run

    code = run(speed=speed, as_json=as_json)
    raise typer.Exit(code)


async def _run(settings: Settings) -> None:
    """Run an instance, again after each move of a server, until stopped or failed."""
    from echoic.run.servers import ServerMoved

    while True:
        try:
            return await _run_once(settings)
        # Only a new start connects every part to the new port.
        except ServerMoved as moved:
            note(f"{moved}: everything connects to it anew")


async def _run_once(settings: Settings) -> None:
    """Run an instance until it is told to stop, or fails.

    Raises:
        ServerMoved: a server has another port.
    """
    from echoic.run.instance import instance
    from echoic.run.projector_alone import projector_alone

    run = projector_alone if settings.parts == "projector" else instance
    note("starting …")
    async with run(settings, note) as running:
        stopped = stopped_by_signal()
        left = _note(running)
        write_note(settings.data, left)
        running.tasks.start("heartbeat", beat(settings.data))
        show(*_banner(running, await _experiments(running)))
        running.tasks.start("trial", _try_model(running, left))
        try:
            # A task of the instance that fails ends the wait with its error.
            await running.tasks.beside(stopped.wait())
        finally:
            remove_note(settings.data)
            note("stopping …")


async def _try_model(running: "Instance | ProjectorAlone", left: InstanceNote) -> None:
    """Call the model once and tell what is wrong, beside the instance, which is ready."""
    from echoic.client.health import model_works
    from echoic.run.instance import Instance

    if isinstance(running, Instance):
        tried = await model_works(running.settings, running.model)
        if tried.works in ("fails", "unpriced"):
            note(f"model: {tried.found}\n  → {as_typed('echoic doctor')}")
            write_note(running.settings.data, replace(left, model=tried.found))
    # A task that ended would count as a part that failed.
    await asyncio.Event().wait()


def stopped_by_signal() -> asyncio.Event:
    """Return an event that SIGINT or SIGTERM sets; handlers stand from now on."""
    stopped = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, stopped.set)
    return stopped


def _note(running: "Instance | ProjectorAlone") -> InstanceNote:
    credentials = running.credentials
    return InstanceNote(
        pid=os.getpid(),
        started_at=datetime.now(UTC).isoformat(timespec="seconds"),
        nats_url=credentials.url,
        nats_user=credentials.user,
        nats_password=credentials.password,
        database_url=running.database_url,
        metrics_url=running.metrics_url,
        nats_ca=credentials.ca,
    )


async def _experiments(running: "Instance | ProjectorAlone") -> str:
    """Return in words which agents' experiments run, begun before this start."""
    from echoic.client.in_force import experimenting, own_of
    from echoic.run.instance import Instance

    if not isinstance(running, Instance):
        return ""
    found = await experimenting(running.client, running.log)
    return "\n".join(filter(None, map(own_of, found, found.values())))


def _banner(
    running: "Instance | ProjectorAlone", experiments: str
) -> Iterator[RenderableType]:
    # Imported here: only a start needs what makes strategies.
    from echoic.client.in_force import explored
    from echoic.config.strategies import exploration_of

    settings, database = running.settings, running.database_url
    name = settings["model.name"]
    model = chain_in_words(name) if name else "no model: only what was learnt answers"
    threshold, flag = settings["threshold"], _data_flag(settings)
    stop = "Ctrl-C, or: " if sys.stdin.isatty() else ""
    # What shapes answers and is not the usual is named, so that none forgets it.
    explores = explored(exploration_of(settings))
    unusual = {
        "exploration": explores or "",
        "own": experiments,
        "packs": ", ".join(Path(each).name for each in settings.packs),
    }
    yield f"echoic {version('echoic')} is up"
    yield pairs(
        {
            "data": f"{settings.data} (kept)",
            "broker": running.credentials.url,
            "database": database.rpartition("@")[2] if database else "none",
            "metrics": running.metrics_url or "none",
            "mind": "elsewhere: this is the projector"
            if settings.parts == "projector"
            else f"{settings['strategy']}, threshold {threshold:g}; {model}",
            **{name: value for name, value in unusual.items() if value},
            "stop": as_typed(f"{stop}echoic down{flag}"),
            "next": as_typed(f'echoic pub "hello" --wait{flag}'),
        }
    )


def _data_flag(settings: Settings) -> str:
    """Return the `--data` flag that later commands need, empty for the default folder."""
    if settings.origins["data"] == "default":
        return ""
    return f" --data {shlex.quote(str(settings.data))}"


def _begun(log: Path) -> Path:
    """Keep what was written at the start before as `.1`; return the file to write to."""
    if log.exists():
        log.replace(log.with_name(f"{log.name}.1"))
    return log


def _start_detached(settings: Settings, packs: list[str]) -> None:
    """Start the program anew in the background, and wait until it is ready."""
    settings.data.mkdir(parents=True, exist_ok=True)
    log = _begun(settings.data / _LOG)
    # -P keeps the current folder off the path: a folder called `handlers` there must not
    # be imported in place of ours.
    arguments = [sys.executable, "-P", "-m", "echoic", "up"]
    if settings.origins["data"] != "default":
        arguments += ["--data", str(settings.data)]
    arguments += [part for folder in packs for part in ("--pack", folder)]
    if settings.origins["worker.processes"].startswith("flag"):
        arguments += ["--workers", settings.worker_processes]
    with log.open("wb") as output:
        process = subprocess.Popen(
            [*arguments, "--agent", settings.agent],
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            # Ctrl-C in this terminal must not reach the instance.
            start_new_session=True,
        )
    try:
        print(await_start(process, settings.data, log, _note_to_anybody))
    except (KeyboardInterrupt, NotRunningError):
        # An instance that is not waited for any more must not go on unnoticed.
        process.terminate()
        raise


def _note_to_anybody(line: str) -> None:
    """Pass on a line; that whoever reads has hung up (`| head`) does not end a start."""
    with suppress(BrokenPipeError):
        note(line)


def _ends(pid: int, within_s: float) -> bool:
    """Wait for a process to end; tell whether it did within `within_s` seconds."""
    deadline = time.monotonic() + within_s
    while is_alive(pid):
        if time.monotonic() > deadline:
            return False
        time.sleep(_POLL_S)
    return True
