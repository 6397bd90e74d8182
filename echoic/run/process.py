"""What every process of ours sets up for itself.

A data folder is its owner's alone: it holds words of people, and passwords. Nobody else may
read what an instance writes at any moment, so the process that runs one, and every server
that it starts, makes files of 0600 and folders of 0700.
"""

import gc
import os
import sys
from pathlib import Path

_NEW_OBJECTS = 50_000
"""So many more containers than before start a collection of garbage, not 700."""
_OTHERS = 0o077
_OTHERS_CONTENT = 0o066


def prepare() -> None:
    """Compute on one thread, and look seldom for cycles; call it first of all.

    A second thread for texts and vectors takes the broker's processor, gains little with
    many of them, and is slow to wake up for one. What we hold is frozen and refers only
    to what is older, so there are almost no cycles; looking for them costs a tenth of the
    mind's time, and now and then an answer that is late.
    """
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")
    # Where one works is where one's own strategies are; nothing of ours is hidden by it.
    sys.path.append("")
    gc.set_threshold(_NEW_OBJECTS, 20, 100)


def keep_private(data: Path) -> None:
    """Write for the owner alone from now on, and close what an older version left open."""
    os.umask(_OTHERS)
    # The database of root belongs to another user, who has to pass through.
    closed = _OTHERS if os.geteuid() else _OTHERS_CONTENT
    for folder, _, files in os.walk(data):
        for path in (Path(folder), *(Path(folder, name) for name in files)):
            _close(path, closed)


def _close(path: Path, bits: int) -> None:
    try:
        mode = path.lstat().st_mode & 0o777
        if mode & bits and not path.is_symlink():
            path.chmod(mode & ~bits)
    except FileNotFoundError:
        return  # a file of a server that is just ending
