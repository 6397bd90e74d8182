"""The data folder of the embedded broker: its address, its accounts, its lock and its log.

Only its owner can read it, and only one server at a time runs over it.
"""

import fcntl
import json
import re
import secrets
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import IO

import msgspec

from streams import embedded
from streams.broker.mqtt_door import taken_message
from streams.embedded import free_port, write_private
from streams.errors import PortTaken, ServerFailed
from streams.jetstream.accounts import (
    NO_LISTENERS,
    SYSTEM,
    Credentials,
    Listeners,
    SensorAccess,
    server_configuration,
)

CONFIGURATION = "nats.conf"
SERVER_LOG = "nats.log"
_PROCESS_ID = "nats.pid"

_IDENTITY = "identity.json"
_SERVER_LOCK = "server.lock"
_IDENTITY_LOCK = "identity.lock"
_USER = "echoic"
_LOCK_TRIES = 5
_TAKEN = re.compile(r"listen tcp \S*?:(\d+): bind: address already in use")
"""What nats-server logs of each listener whose port another program has."""


@dataclass(frozen=True, slots=True)
class Identity:
    """What is kept from one start to the next: port, password and sensors."""

    port: int
    password: str
    sensors: tuple[SensorAccess, ...] = ()
    listeners: Listeners = NO_LISTENERS

    @property
    def url(self) -> str:
        """Where the server listens."""
        return f"nats://127.0.0.1:{self.port}"

    @property
    def core(self) -> Credentials:
        """The credentials of Echoic itself."""
        return Credentials(self.url, _USER, self.password)

    @property
    def system(self) -> Credentials:
        """The credentials for what the server tells of its accounts."""
        return Credentials(self.url, SYSTEM, self.password)

    def of_sensor(self, sensor: SensorAccess) -> Credentials:
        """Return the credentials of a sensor."""
        return Credentials(self.url, sensor.user, sensor.password, sensor.inbox_prefix)

    def with_sensor(
        self,
        agent: str,
        source: str,
        grants: tuple[str, ...],
        persons: tuple[str, ...] | None = None,
    ) -> tuple["Identity", SensorAccess]:
        """Return the identity with one more sensor; a known one keeps its password."""
        sensor = SensorAccess(agent, source, secrets.token_urlsafe(24), grants, persons)
        sensors = {each.user: each for each in self.sensors}
        if known := sensors.get(sensor.user):
            sensor = replace(
                sensor, password=known.password, is_refused=known.is_refused
            )
        sensors[sensor.user] = sensor
        return replace(self, sensors=tuple(sensors.values())), sensor


def make(folder: Path) -> None:
    """Create the folder, readable by its owner alone."""
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)


def recall(folder: Path) -> Identity | None:
    """Return the folder's identity; None if no server was ever started over it.

    Raises:
        ServerFailed: the file that holds it is damaged.
    """
    path = folder / _IDENTITY
    try:
        return msgspec.json.decode(path.read_bytes(), type=Identity)
    except FileNotFoundError:
        return None
    except ValueError as error:
        raise ServerFailed(
            f"{str(path)!r} is damaged ({error!r}): delete it to have new credentials"
            " drawn; the log beside it stays"
        ) from error


def settle(
    folder: Path, *, fresh_port: bool, listeners: Listeners | None = None
) -> Identity:
    """Read or create the identity, write the configuration, and return the identity.

    Without `listeners` those of before stay.
    """
    with _editing(folder):
        identity = recall(folder)
        if identity is None:
            identity = Identity(free_port(), secrets.token_urlsafe(24))
        elif fresh_port:
            identity = replace(identity, port=free_port())
        if listeners is not None:
            identity = replace(identity, listeners=listeners)
        remember(folder, identity)
    return identity


def enrol(
    folder: Path,
    agent: str,
    source: str,
    grants: tuple[str, ...],
    persons: tuple[str, ...] | None = None,
) -> tuple[Credentials, bool]:
    """Give a sensor its rights; return its credentials, and whether anything changed.

    Raises:
        ServerFailed: no server was ever started over the folder.
    """
    with _editing(folder):
        before = recall(folder)
        if before is None:
            raise ServerFailed(f"{str(folder)!r} has no server yet: start one first")
        identity, sensor = before.with_sensor(agent, source, grants, persons)
        if identity != before:
            remember(folder, identity)
    return identity.of_sensor(sensor), identity != before


def expel(folder: Path, agent: str, source: str) -> None:
    """Take a sensor's rights away.

    Raises:
        KeyError: it has none; the argument names those that have.
    """
    if not folder.is_dir():
        raise KeyError("")
    with _editing(folder):
        identity = recall(folder)
        known = {each.user: each for each in identity.sensors} if identity else {}
        if identity is None or known.pop(f"{agent}.{source}", None) is None:
            raise KeyError(", ".join(sorted(known)))
        remember(folder, replace(identity, sensors=tuple(known.values())))


def refuse(folder: Path, users: Collection[str]) -> None:
    """Have the configuration refuse these sensors and no others."""
    with _editing(folder):
        before = recall(folder)
        if before is not None:
            sensors = tuple(
                replace(each, is_refused=each.user in users) for each in before.sensors
            )
            remember(folder, replace(before, sensors=sensors))


def remember(folder: Path, identity: Identity) -> None:
    """Write the identity and the server's configuration that follows from it."""
    configuration = server_configuration(
        port=identity.port,
        store=str(folder / "jetstream"),
        process_id_file=str(folder / _PROCESS_ID),
        core=identity.core,
        sensors=identity.sensors,
        listeners=identity.listeners,
    )
    identified = json.dumps(asdict(identity), indent=2)
    write_private(folder / _IDENTITY, identified.encode())
    write_private(folder / CONFIGURATION, configuration.encode())


def lock(folder: Path) -> IO[bytes]:
    """Lock the folder for one server, as two over one store would destroy it.

    The lock is held as long as the file is open, here or in a child that inherits it.

    Raises:
        ServerFailed: another server has it.
    """
    # `running` holds the lock for a moment when it only looks.
    file = embedded.try_lock(folder / _SERVER_LOCK, _LOCK_TRIES)
    if file is None:
        raise ServerFailed(
            f"another nats-server uses {str(folder)!r}: stop it, or use another folder"
        )
    return file


def running(folder: Path) -> int | None:
    """Return the process id of the server over the folder, whoever started it.

    The lock decides, not the file with the id, which a crash leaves behind.
    """
    if not folder.exists():
        return None
    if (file := embedded.try_lock(folder / _SERVER_LOCK)) is not None:
        file.close()
        return None
    # Locked, yet without a readable id: the server is just starting or ending.
    try:
        return int((folder / _PROCESS_ID).read_text())
    except (OSError, ValueError):
        return None


def said_since(folder: Path, place: int) -> str:
    """Return the server's log from an offset in bytes."""
    with (folder / SERVER_LOG).open("rb") as log:
        log.seek(place)
        return log.read().decode(errors="replace")


def log_size(folder: Path) -> int:
    """Return the size of the server's log in bytes."""
    path = folder / SERVER_LOG
    return path.stat().st_size if path.exists() else 0


def write_fault(folder: Path, place: int) -> str | None:
    """Return why the server stores nothing any more, by its log from an offset; None if it
    does.

    A server whose disk is full keeps running, but closes its streams and answers nobody,
    even when there is space again: only a restart helps.
    """
    said = said_since(folder, place)
    if "no space left on device" in said:
        return f"cannot write: no space is left on the disk of {str(folder)!r}"
    if "critical write error" in said or "out of space" in said:
        return f"cannot write below {str(folder)!r}: its log there says why"
    return None


def taken(folder: Path, place: int, identity: Identity) -> PortTaken | None:
    """Return which listener of the operator's another program's port kept from it, by the
    server's log from an offset; None if there is none.
    """
    listeners = identity.listeners
    wanted = {"nats.mqtt": listeners.mqtt, "nats.websocket": listeners.websocket}
    for port in _TAKEN.findall(said_since(folder, place)):
        for setting, address in wanted.items():
            if address is not None and address.rpartition(":")[2] == port:
                return PortTaken(taken_message(setting, address))
    return None


def failure(folder: Path, what: str) -> ServerFailed:
    """Return an error about the server, with the end of its own log."""
    return ServerFailed(
        f"nats-server over {str(folder)!r} {what}; the end of its log:\n"
        f"{embedded.last_lines(folder / SERVER_LOG)}"
    )


@contextmanager
def _editing(folder: Path) -> Iterator[None]:
    """Hold a lock under which one program at a time changes the identity."""
    with (folder / _IDENTITY_LOCK).open("ab") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield
