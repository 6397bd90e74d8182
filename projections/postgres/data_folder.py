"""The folder of the embedded PostgreSQL: who may use it, and what it remembers.

It holds the data, the port and password drawn for it, a lock, and the server's own log.
PostgreSQL refuses to run as root; as root the data belongs to another user of the machine.
"""

import fcntl
import json
import os
import pwd
import secrets
import socket
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import IO

from projections.errors import StoreUnavailable

ROLE = "echoic"
DATABASE = "postgres"

_USERS = ("postgres", "pgserver", "nobody")


@dataclass(frozen=True, slots=True)
class Identity:
    """Where the server of a folder listens and with which password."""

    port: int
    password: str

    @property
    def url(self) -> str:
        """Where to connect, password and all."""
        return f"postgresql://{ROLE}:{self.password}@127.0.0.1:{self.port}/{DATABASE}"


def recall(folder: Path, *, fresh_port: bool) -> Identity:
    """Read what the folder remembers, or draw it."""
    known = recalled(folder)
    if known is not None and not fresh_port:
        return known
    password = known.password if known is not None else secrets.token_urlsafe(24)
    identity = Identity(_free_port(), password)
    write_private(folder / "identity.json", json.dumps(asdict(identity)))
    return identity


def recalled(folder: Path) -> Identity | None:
    """Return what the folder remembers, if a server was ever started over it."""
    path = folder / "identity.json"
    if not path.exists():
        return None
    try:
        raw = json.loads(path.read_text())
        return Identity(int(raw["port"]), str(raw["password"]))
    except (ValueError, KeyError, TypeError) as error:
        raise StoreUnavailable(
            f"{str(path)!r} is damaged ({error!r}): delete the folder"
            f" {str(folder)!r}; the read models are made again from the log"
        ) from error


def try_lock(folder: Path) -> IO[bytes] | None:
    """Hold the folder until the file is closed; None if somebody else holds it."""
    file = (folder / "lock").open("ab")
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        file.close()
        return None
    write_private(folder / "owner", str(os.getpid()))
    return file


def is_owned_by_another(folder: Path) -> bool:
    """Tell whether another program started a server over `folder` and still runs."""
    try:
        owner = int((folder / "owner").read_text())
        os.kill(owner, 0)
    except (OSError, ValueError):
        return False
    return owner != os.getpid()


def server_user() -> pwd.struct_passwd | None:
    """Whom the server runs as if we are root; None if it can run as ourselves."""
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
    """As root: the data and a secret go to the server's user, who may pass to them."""
    data = folder / "data"
    data.mkdir(mode=0o700, exist_ok=True)
    user = server_user()
    if user is None:
        return
    for path in (data, secret):
        os.chown(path, user.pw_uid, user.pw_gid)
    for passed in (folder, *folder.parents, *programs.parents):
        mode = passed.stat().st_mode
        if not mode & 0o001:
            passed.chmod(mode | 0o001)
    _open_programs(programs.parent)


def _open_programs(installed: Path) -> None:
    """Let others read and run what a root of umask 077 installed for itself alone."""
    for path in (installed, *installed.rglob("*")):
        if path.is_symlink():
            continue
        mode = path.stat().st_mode
        others = (mode & 0o500) >> 6
        if mode & others != others:
            path.chmod(mode | others)


def write_private(path: Path, text: str) -> None:
    """Replace a file whole; nobody else may read it at any moment."""
    draft = path.with_suffix(".new")
    descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with os.fdopen(descriptor, "w") as file:
        file.write(text)
    draft.replace(path)


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])
