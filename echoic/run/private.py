"""A data folder is its owner's alone: it holds words of people, and passwords.

Its rule: nobody else may read what an instance writes at any moment, so the process that
runs one, and every server that it starts, makes files of 0600 and folders of 0700.
"""

import os
from pathlib import Path

_OTHERS = 0o077
_OTHERS_CONTENT = 0o066


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
