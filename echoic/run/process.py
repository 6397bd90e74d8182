"""What every Echoic process sets up for itself: threads, garbage collection, file modes, log.

A data folder holds what people wrote, and passwords, so only its owner may read it at any
moment: an instance and the servers that it starts create files 0600 and folders 0700.
"""

import gc
import logging
import os
import sys
from pathlib import Path

_COLLECTIONS = 20_000, 5, 500
"""Net new containers that start a collection; how many of these start one of what they left;
and how many of those start one of everything. CPython's defaults are 700, 10 and 10. Looking
at a container takes up to 1 µs, so the second kind stops a process for 100 ms at most."""
# Permission bits of group and others: all of them, and all but passing through a folder.
_OTHERS = 0o077
_OTHERS_CONTENT = 0o066


def prepare() -> None:
    """Set up threads and garbage collection; call it before numpy is imported.

    A second thread for texts and vectors takes the broker's processor, gains little with
    many of them, and is slow to wake up for one. What we hold is frozen and refers only
    to what is older, so there are almost no cycles; looking for them costs a tenth of the
    mind's time, and now and then an answer that is late.
    """
    # The libraries read these once, when they are loaded. An operator's own value stays.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")
    # It would look for plugins in all that is installed, at each start of a command.
    os.environ.setdefault("PYDANTIC_DISABLE_PLUGINS", "__all__")
    # Where one works is where one's own strategies are; nothing of ours is hidden by it.
    sys.path.append("")
    gc.set_threshold(*_COLLECTIONS)


def log_to_stderr() -> None:
    """Write warnings to stderr, with their times; `echoic up` keeps them in `echoic.log`."""
    logging.basicConfig(
        level=logging.WARNING, format="%(asctime)s %(levelname)s %(name)s: %(message)s"
    )


def keep_private(data: Path) -> None:
    """Create files for the owner alone from now on, and tighten those that exist."""
    os.umask(_OTHERS)
    # The database of root belongs to another user, who has to pass through.
    closed = _OTHERS if os.geteuid() else _OTHERS_CONTENT
    for folder, _, files in os.walk(data):
        for path in (Path(folder), *(Path(folder, name) for name in files)):
            _close(path, closed)


def _close(path: Path, bits: int) -> None:
    try:
        mode = path.lstat().st_mode & 0o777
        # chmod follows a symbolic link, whose target may be outside the data folder.
        if mode & bits and not path.is_symlink():
            path.chmod(mode & ~bits)
    except FileNotFoundError:
        return  # a file of a server that is just ending
