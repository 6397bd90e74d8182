"""Credentials for sensors, kept in the data folder.

A sensor gets the rights of one source of one agent and nothing else. Anybody who can
write the data folder can grant them. The embedded broker knows them at once; another has
to be given the accounts that `accounts` returns.
"""

import json
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import bcrypt

from echoic.client.connection import credentials_of
from echoic.client.publish import TalkingLog, tell
from echoic.config.load import Settings
from echoic.errors import EchoicError
from schemas.messages.executive import PersonsGranted
from schemas.values.persons import token_of
from schemas.values.subjects import SubjectError
from streams.broker import data_folder as folders
from streams.broker.enrolment import add_sensor, remove_sensor
from streams.embedded import write_private
from streams.jetstream.accounts import Credentials, accounts_configuration

_StateView = Callable[[str], Awaitable[Mapping[str, Any] | None]]
"""Returns an agent's state as fields; None if it is not known."""

_ROUNDS = 10
"""The cost of a hash, as a power of two: some 50 ms of the broker's time a connection."""

_LONGEST_PASSWORD = 72
"""Bytes that bcrypt reads of a password."""


async def sensor_credentials(
    settings: Settings,
    agent: str,
    source: str,
    grants: tuple[str, ...] = (),
    persons: tuple[str, ...] | None = None,
) -> Credentials:
    """Create or look up a sensor's credentials, and set its grants.

    Whom its events may name holds once the log has it (`grant_persons`); None: anybody.

    Raises:
        EchoicError: the rights cannot be given.
    """
    folder = settings.data / "nats"
    if settings.nats_url is not None:
        # No server was ever started here, but the sensors are noted in the same place.
        folders.make(folder)
        folders.settle(folder, fresh_port=False)
    try:
        access = await add_sensor(folder, agent, source, grants, persons)
    except (SubjectError, ValueError) as error:
        raise EchoicError(str(error)) from error
    if settings.nats_url is None:
        return access
    core = credentials_of(settings)
    return replace(access, url=core.url, ca=core.ca)


def accounts(settings: Settings) -> str:
    """Return the accounts for a broker of one's own, as part of its configuration.

    Echoic's own is that of `nats.url`. Every password is a bcrypt hash, so the text is no
    secret.

    Raises:
        EchoicError: no broker is named, or its URL has no user and password.
    """
    core = credentials_of(settings)
    if not (core.user and core.password):
        raise EchoicError(
            "accounts are for a broker of yours, whose URL names Echoic's own user",
            next_step="set NATS_URL to tls://<user>:<password>@<host>:4222",
        )
    identity = folders.recall(settings.data / "nats")
    sensors = identity.sensors if identity else ()
    return accounts_configuration(
        replace(core, password=_hashed(core.password)),
        [replace(each, password=_hashed(each.password)) for each in sensors],
    )


def _hashed(password: str) -> str:
    if len(password.encode()) > _LONGEST_PASSWORD:
        raise EchoicError(
            f"a password of the broker may have {_LONGEST_PASSWORD} bytes",
            next_step="shorten that of NATS_URL",
        )
    # nats-server takes a password for a hash by this prefix.
    return bcrypt.hashpw(password.encode(), bcrypt.gensalt(_ROUNDS, b"2a")).decode()


async def grant_persons(
    log: TalkingLog, agent: str, source: str, persons: tuple[str, ...]
) -> None:
    """Have the mind take only these persons from a sensor.

    Raises:
        RefusedError: the mind refuses it.
        Unanswered: nothing came in time.
    """
    await tell(log, agent, PersonsGranted(source=source, persons=persons).checked())


async def grant_all(log: TalkingLog, data: Path, state: _StateView) -> None:
    """Tell the mind of grants that were made while nothing ran; known ones are left.

    Raises:
        RefusedError, Unanswered: as `grant_persons`.
    """
    identity = folders.recall(data / "nats")
    for each in identity.sensors if identity else ():
        if each.persons is None:
            continue
        found = await state(each.agent)
        known = found["granted"].get(each.source) if found else None
        if known != list(map(token_of, each.persons)):
            await grant_persons(log, each.agent, each.source, each.persons)


async def revoke(settings: Settings, agent: str, source: str) -> None:
    """Revoke a sensor's rights, end its connections and delete its file.

    Raises:
        EchoicError: there is no such sensor.
    """
    try:
        await remove_sensor(settings.data / "nats", agent, source)
    except KeyError as error:
        known = str(error.args[0]) or "none"
        raise EchoicError(
            f"there is no sensor {source!r} of {agent!r}; those with access: {known}",
            next_step="echoic sensor revoke <source> --agent <agent>",
        ) from error
    access_file(settings.data, agent, source).unlink(missing_ok=True)


def access_file(data: Path, agent: str, source: str) -> Path:
    """Return the path of the file that holds a sensor's credentials."""
    return data / "sensors" / f"{agent}.{source}.json"


def write_access(path: Path, access: Credentials) -> None:
    """Write a sensor's credentials, readable by the folder's owner alone."""
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    # Clients pass these fields on as they are; one that is not set is none of theirs.
    fields = {name: value for name, value in asdict(access).items() if value}
    write_private(path, json.dumps(fields).encode())


def renew_addresses(data: Path, url: str) -> None:
    """Write the broker's present address into every sensor's file."""
    for path in (data / "sensors").glob("*.json"):
        try:
            fields = json.loads(path.read_text())
        except ValueError:
            continue  # Somebody wrote it by hand; `sensor access` makes it anew.
        # A file without an address follows the sensor's own settings and is left alone.
        if isinstance(fields, dict) and fields.get("url") not in (None, url):
            write_private(path, json.dumps({**fields, "url": url}).encode())
