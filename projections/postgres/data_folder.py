"""The folder of the embedded PostgreSQL: its owner, lock, port and password.

It holds the data, `identity.json` (port and password), the lock and the server's own log.
PostgreSQL refuses to run as root; under root the data belongs to another user.
"""

import json
import os
import pwd
import secrets
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import IO

import msgspec

from projections.errors import StoreUnavailable
from streams import embedded
from streams.embedded import write_private

ROLE = "echoic"
_DATABASE = "postgres"

# In order of preference: the user of a distribution's package, that of the wheel, and one
# that every machine has.
_USERS = ("postgres", "pgserver", "nobody")


@dataclass(frozen=True, slots=True)
class Identity:
    """Where the server of a folder listens and with which password."""

    port: int
    password: str

    @property
    def url(self) -> str:
        """The URL to connect to, with the password in it."""
        return f"postgresql://{ROLE}:{self.password}@127.0.0.1:{self.port}/{_DATABASE}"


def recall(folder: Path, *, fresh_port: bool) -> Identity:
    """Return the folder's port and password; draw and store what is missing.

    `fresh_port` draws another port and keeps the password, which the data was made with.
    """
    known = recalled(folder)
    if known is not None and not fresh_port:
        return known
    password = known.password if known is not None else secrets.token_urlsafe(24)
    identity = Identity(embedded.free_port(), password)
    write_private(folder / "identity.json", json.dumps(asdict(identity)).encode())
    return identity


def recalled(folder: Path) -> Identity | None:
    """Return the folder's stored port and password; None if it never had a server.

    Raises:
        StoreUnavailable: the file that holds them cannot be read.
    """
    path = folder / "identity.json"
    if not path.exists():
        return None
    try:
        return msgspec.json.decode(path.read_bytes(), type=Identity)
    except ValueError as error:
        raise StoreUnavailable(
            f"{str(path)!r} is damaged ({error!r}): delete the folder"
            f" {str(folder)!r}; the read models are made again from the log"
        ) from error


def try_lock(folder: Path) -> IO[bytes] | None:
    """Lock the folder until the returned file is closed; None if it is locked already."""
    file = embedded.try_lock(folder / "lock")
    if file is not None:
        write_private(folder / "owner", str(os.getpid()).encode())
    return file


def is_owned_by_another(folder: Path) -> bool:
    """Tell whether another program started a server over `folder` and still runs."""
    try:
        owner = int((folder / "owner").read_text())
        os.kill(owner, 0)  # Signal 0 sends nothing; it asks whether the process exists.
    except (OSError, ValueError):
        # No file, half a file, or no such process: nobody to wait for.
        return False
    return owner != os.getpid()


def server_user() -> pwd.struct_passwd | None:
    """Return the user to run the server as under root; None if not root.

    Raises:
        StoreUnavailable: root, and none of the known users exists.
    """
    if os.geteuid() != 0:
        return None
    for name in _USERS:
        try:
            return pwd.getpwnam(name)
        except KeyError:
            continue
    raise StoreUnavailable(
        "PostgreSQL does not run as root and there is no user to run it as:"
        " add one (`useradd --system postgres`), or do not run Echoic as root"
    )


def hand_over(folder: Path, programs: Path, secret: Path) -> None:
    """As root, give the data and a secret, with a path to them, to the server's user."""
    data = folder / "data"
    data.mkdir(mode=0o700, exist_ok=True)
    user = server_user()
    if user is None:
        return
    for path in (data, secret):
        os.chown(path, user.pw_uid, user.pw_gid)
    for passed in (folder, *folder.parents, *programs.parents):
        mode = passed.stat().st_mode
        # Only the right to pass through, not to list: names in the folders stay hidden.
        if not mode & 0o001:
            passed.chmod(mode | 0o001)
    _open_programs(programs.parent)


def _open_programs(installed: Path) -> None:
    """Let others read and run the programs, where root installed them under umask 077."""
    for path in (installed, *installed.rglob("*")):
        if path.is_symlink():
            continue
        mode = path.stat().st_mode
        # The owner's read and execute bits, moved to the place of everybody else's.
        others = (mode & 0o500) >> 6
        if mode & others != others:
            path.chmod(mode | others)
