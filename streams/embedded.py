"""What the servers that an instance runs itself have in common: the broker and PostgreSQL.

Each is a child process over a folder of its own, which one program at a time may lock; it
ends with the program that started it, and what it stores for itself only its owner reads.
"""

import asyncio
import ctypes
import fcntl
import os
import signal
import socket
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import IO, Any

_LOG_BYTES = 10_000_000
"""A server's log of more bytes is renamed at the next start; one older is kept."""

_POLL_S = 0.02
"""Seconds between two looks at a server that starts, or at a lock that is taken."""


def write_private(path: Path, data: bytes) -> None:
    """Replace a file atomically; at no moment may another user read it."""
    # Created with the mode, not changed to it afterwards: it may hold passwords.
    draft = path.with_name(path.name + ".new")
    descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with os.fdopen(descriptor, "wb") as file:
        file.write(data)
        # Synced before the rename, so that a crash leaves either the old one or the new.
        file.flush()
        os.fsync(file.fileno())
    draft.replace(path)


def try_lock(path: Path, tries: int = 1) -> IO[bytes] | None:
    """Lock a file until the returned one is closed; None if another program has it.

    Several tries outlast a program that holds the lock for a moment, only to look.
    """
    # flock belongs to the open file, so that a server that inherits it holds the lock for
    # as long as it runs, even if this program is killed.
    file = path.open("ab")
    for left in reversed(range(tries)):
        with suppress(OSError):
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return file
        if left:
            time.sleep(_POLL_S)
    file.close()
    return None


def free_port() -> int:
    """Return a port of loopback that nobody listens on now."""
    # Another program may take it before the server does; the start then tries again.
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def open_log(path: Path) -> IO[bytes]:
    """Open a server's log for appending; rename it first if it is large."""
    if path.exists() and path.stat().st_size > _LOG_BYTES:
        path.replace(path.with_name(f"{path.name}.1"))
    return path.open("ab")


def last_lines(path: Path, count: int = 15) -> str:
    """Return the end of a server's log; nothing if there is none."""
    lines = path.read_text(errors="replace").splitlines() if path.exists() else []
    return "\n".join(lines[-count:])


class ServerProcess:
    """The process of a server, which ends with this program, however that ends."""

    def __init__(self, *signals: signal.Signals, patience_s: float) -> None:
        """Note how it is stopped: each signal in turn, `patience_s` seconds after the last."""
        self._signals = signals
        self._patience_s = patience_s
        self._process: asyncio.subprocess.Process | None = None

    @property
    def id(self) -> int | None:
        """The id of the process that was started; None if none was, or it was stopped."""
        return self._process.pid if self._process is not None else None

    @property
    def status(self) -> int | None:
        """The exit status, if it was started and has ended by itself."""
        return self._process.returncode if self._process is not None else None

    async def start(
        self, *command: str, log: IO[bytes], lock: IO[bytes], **options: Any
    ) -> None:
        """Start it with its output in `log`; `options` are those of `subprocess.Popen`."""
        self._process = await asyncio.create_subprocess_exec(
            *command,
            stdin=asyncio.subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            # A session of its own: `kill` can end it whole, and Ctrl-C at the terminal
            # reaches us alone, so that we stop it in order.
            start_new_session=True,
            # The child holds the lock too: a server that outlives us keeps it.
            pass_fds=(lock.fileno(),),
            preexec_fn=partial(_die_with_parent, self._signals[0]),
            **options,
        )

    async def is_ready(self, look: Callable[[], bool], start_s: float) -> bool:
        """Wait until `look` finds it ready; False if it ends before.

        Raises:
            TimeoutError: neither happened within `start_s` seconds.
        """
        async with asyncio.timeout(start_s):
            while not look():
                if self.status is not None:
                    return False
                await asyncio.sleep(_POLL_S)
        return True

    async def stop(self) -> None:
        """Stop it, by the last signal if need be."""
        process, self._process = self._process, None
        for number in self._signals:
            if process is None or process.returncode is not None:
                return
            process.send_signal(number)
            with suppress(TimeoutError):
                async with asyncio.timeout(self._patience_s):
                    await process.wait()

    async def kill(self) -> None:
        """End it as a crash would, its child processes included."""
        process, self._process = self._process, None
        if process is not None and process.returncode is None:
            # It leads a session of its own, so its pid names the whole process group.
            os.killpg(process.pid, signal.SIGKILL)
            await process.wait()


_PR_SET_PDEATHSIG = 1
_LIBC = ctypes.CDLL(None) if sys.platform == "linux" else None


def _die_with_parent(number: int) -> None:
    """Have the kernel send a signal to the server when this program ends; Linux only.

    Elsewhere a server that outlives us keeps the lock until it is stopped.
    """
    # It runs between fork and exec: one system call and no more, and the C library is
    # loaded beforehand, for a lock that another thread held at the fork is never released.
    if _LIBC is not None:
        _LIBC.prctl(_PR_SET_PDEATHSIG, number)
