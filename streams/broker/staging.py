"""The folders in which the server gathers atomic batches: in memory, if there is room.

In its own folder the server creates and syncs three files for each batch. That costs 4 ms
on a quiet disk and 50 on a busy one, against 0.5 and 0.7 for a single message; gathered in
memory it costs 1.3. Durability is the same: a whole batch is stored and synced in the log
before it is acknowledged, and at each start the server drops one that is not.
"""

import hashlib
import os
import shutil
import stat
from contextlib import suppress
from pathlib import Path

from streams.jetstream.accounts import CORE
from streams.topology import LOG

MEMORY = Path("/dev/shm")  # made for its owner alone, and checked
"""A file system in memory, on Linux."""

ROOM_BYTES = 256 * 2**20
"""Bytes that must be free in memory, else it is left to others. A batch has 1,000 messages
at most."""


class Staging:
    """The folders for the batches of one server, one for each stream of the log."""

    def __init__(self, folder: Path) -> None:
        """Name the server's folder; nothing is made before `keep`."""
        self._streams = folder / f"jetstream/jetstream/{CORE}/streams"
        # Named by a hash of the server's folder, so that two instances never share one.
        self._name = hashlib.sha256(os.fsencode(folder.resolve())).hexdigest()[:16]

    def keep(self) -> None:
        """Set the links, or remove them if memory is short; to be called twice a second."""
        for each in self._places():
            each.keep()

    def clear(self) -> None:
        """Remove links and folders; only while the server does not run."""
        for each in self._places():
            each.clear()

    def _places(self) -> list["_Place"]:
        # The server clears a stream's folder when it starts, so none is shared.
        segments = self._streams.glob(f"{LOG.name}_*")
        names = [LOG.name, *(each.name for each in segments)]
        return [
            _Place(
                self._streams / name / "batches",
                f"{self._name}{name.removeprefix(LOG.name)}",
            )
            for name in names
        ]


class _Place:
    """A folder in memory, to which a link in a stream's own folder points."""

    def __init__(self, link: Path, name: str) -> None:
        self._link = link
        self._place = MEMORY / f"echoic-{os.getuid()}-{name}"

    def keep(self) -> None:
        """Set the link, or remove it if memory is short.

        The log's folder exists only once its stream does, and the folder in memory may be
        removed when its owner logs out. What fails now is tried again the next time.
        """
        if not self._link.parent.is_dir():
            return
        try:
            if self._has_room() and self._is_ours(self._made()):
                self._use()
            elif self._link.is_symlink():
                self._link.unlink()
        except OSError:
            # A batch is under way, so the server's folder is not empty: it serves until
            # the next call.
            return

    def clear(self) -> None:
        """Remove link and folder; only while the server does not run."""
        if self._link.is_symlink():
            self._link.unlink()
        if self._place.exists() and self._is_ours(self._place):
            shutil.rmtree(self._place, ignore_errors=True)

    def _made(self) -> Path:
        """Create the folder if it is missing, and return it."""
        with suppress(FileExistsError):
            self._place.mkdir(mode=0o700)
        return self._place

    def _is_ours(self, place: Path) -> bool:
        """Tell whether the folder is ours alone.

        /dev/shm is writable for everybody, and its name can be guessed; `lstat`, since a
        link planted there would pass for its target.
        """
        found = place.lstat()
        is_private = stat.S_ISDIR(found.st_mode) and not found.st_mode & 0o077
        return is_private and found.st_uid == os.getuid()

    def _use(self) -> None:
        if not self._link.is_symlink():
            if self._link.exists():
                self._link.rmdir()
            self._link.symlink_to(self._place)

    def _has_room(self) -> bool:
        return MEMORY.is_dir() and shutil.disk_usage(MEMORY).free >= ROOM_BYTES
