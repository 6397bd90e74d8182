"""Where the server gathers an atomic batch until it is whole: in memory, if there is room.

In its own folder the server makes and syncs three files for each batch. That costs 4 ms on
a quiet disk and 50 on a busy one, against 0.5 and 0.7 for a single message; with the batch
gathered in memory it is 1.3. Nothing is lost by it: what is whole is stored in the log
before it is acknowledged, and at each start the server drops what is not.
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
"""Less free memory is left to others; a batch has 1,000 messages at most."""


class Staging:
    """The place of the batches of one server, which its own folder links to."""

    def __init__(self, folder: Path) -> None:
        """Name the server's folder; nothing is made before `keep`."""
        stream = f"jetstream/jetstream/{CORE}/streams/{LOG.name}"
        self._link = folder / stream / "batches"
        name = hashlib.sha256(os.fsencode(folder.resolve())).hexdigest()[:16]
        self._place = MEMORY / f"echoic-{os.getuid()}-{name}"

    def keep(self) -> None:
        """Have batches gathered in memory from now on, or no longer; to be called often.

        The log's folder is there only when its stream is; a place in memory may go when
        its owner logs out. What does not work now is tried again the next time.
        """
        if not self._link.parent.is_dir():
            return
        try:
            if self._has_room() and self._is_ours(self._made()):
                self._use()
            elif self._link.is_symlink():
                self._link.unlink()
        except OSError:
            # A batch is under way: the folder's own place serves until the next time.
            return

    def clear(self) -> None:
        """Leave nothing behind; only while the server does not run."""
        if self._link.is_symlink():
            self._link.unlink()
        if self._place.exists() and self._is_ours(self._place):
            shutil.rmtree(self._place, ignore_errors=True)

    def _made(self) -> Path:
        """Return the place, which is there now."""
        with suppress(FileExistsError):
            self._place.mkdir(mode=0o700)
        return self._place

    def _is_ours(self, place: Path) -> bool:
        """Tell whether nobody else can write there: anybody may make a folder of that name."""
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
