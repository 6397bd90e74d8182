"""The note that a running instance leaves in its data folder for other commands.

Readable by its owner alone, for it holds passwords. It is believed only while the lock
beside it is held: a process id may have been reused, but the kernel frees the lock when
its process ends.
"""

import asyncio
import fcntl
import json
import os
import shlex
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass
from pathlib import Path

from echoic.errors import EchoicError
from streams.embedded import try_lock, write_private

_BEAT_S = 5.0
"""Seconds between two signs of life."""

STILL_S = 60.0
"""Seconds without one after which an instance counts as stuck; a fold of a large state, or
a busy machine, may keep it for some."""

_NOTE = "instance.json"
_LOCK = "instance.lock"
# 0.1 s in all: longer than a look by another command takes, too short to notice.
_LOCK_TRIES = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class InstanceNote:
    """The addresses and credentials of a running instance."""

    pid: int
    started_at: str
    nats_url: str
    nats_user: str
    nats_password: str
    database_url: str | None
    """None: it runs without read models."""
    metrics_url: str | None = None
    """None: it serves no metrics, or is of a version that has none."""
    nats_ca: str | None = None
    """The authority's file for a broker at `tls://`."""
    model: str | None = None
    """What is wrong with its model, found by one call after the start; None: nothing is
    known to be."""


def read_note(data: Path) -> InstanceNote | None:
    """Return the note of the instance that runs over a folder; None if none does."""
    if not _is_locked(data):
        return None
    try:
        note = InstanceNote(**json.loads((data / _NOTE).read_text()))
    except FileNotFoundError:
        return None
    except (ValueError, TypeError) as error:
        raise EchoicError(
            f"{data / _NOTE} is damaged ({error})",
            next_step=f"rm {shlex.quote(str(data / _NOTE))}",
        ) from error
    return note


def write_note(data: Path, note: InstanceNote) -> None:
    """Write the note, whole or not at all."""
    write_private(data / _NOTE, json.dumps(asdict(note), indent=2).encode())


async def beat(data: Path) -> None:
    """Give a sign of life by the note's time, until cancelled."""
    while True:
        with suppress(FileNotFoundError):
            os.utime(data / _NOTE)
        await asyncio.sleep(_BEAT_S)


def still_s(data: Path) -> float:
    """Return for how many seconds the instance has given no sign of life."""
    return time.time() - (data / _NOTE).stat().st_mtime


def remove_note(data: Path) -> None:
    """Delete the note, if it is there."""
    (data / _NOTE).unlink(missing_ok=True)


@contextmanager
def sole_instance(data: Path) -> Iterator[None]:
    """Own the data folder for the length of the block.

    Raises:
        EchoicError: another instance runs over it.
    """
    data.mkdir(parents=True, exist_ok=True)
    lock = try_lock(data / _LOCK, _LOCK_TRIES)
    if lock is None:
        raise already_runs(data)
    with lock:
        # Until this instance writes its own, no note is to be believed.
        remove_note(data)
        yield


def _is_locked(data: Path) -> bool:
    """Tell whether an instance holds the folder."""
    try:
        with (data / _LOCK).open("rb") as lock:
            # Shared, so that several commands can test it at once; closing the file
            # releases it.
            fcntl.flock(lock, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except FileNotFoundError:
        return False
    except OSError:
        return True
    return False


def already_runs(data: Path) -> EchoicError:
    """Make the error that an instance already runs over the folder."""
    note = read_note(data)
    who = f" (process {note.pid})" if note else ""
    return EchoicError(
        f"an instance runs over {data} already{who}",
        next_step=f"echoic down --data {shlex.quote(str(data))}, or another folder with"
        " --data",
    )


def is_alive(pid: int) -> bool:
    """Tell whether a process of this id runs."""
    try:
        # Signal 0 only checks that the process exists.
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    # It exists, and belongs to somebody else.
    except PermissionError:
        return True
    return not _is_zombie(pid)


def _is_zombie(pid: int) -> bool:
    """Tell whether a process has ended and only waits for its parent to reap it."""
    try:
        # The name in parentheses may hold spaces and parentheses; the state follows the
        # last one.
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return False
    return fields[0] == "Z"
