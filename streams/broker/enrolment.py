"""Enrolment: adding and removing sensors' accounts at the embedded broker.

The server reloads its configuration on SIGHUP, whichever program started it. Clients that
are not concerned stay connected.
"""

import asyncio
import os
import signal
from collections.abc import Collection
from pathlib import Path

import nats.errors

from streams.broker import data_folder as folders
from streams.jetstream.accounts import Credentials
from streams.jetstream.connection import connected
from streams.topology import box_subject

_RELOAD_S = 5.0
"""Seconds that a reload may take."""

_RELOADS = 5
"""How often a reload is repeated until a new account's imports work."""

_POLL_S = 0.02
"""Seconds between two looks into the server's log."""

_REFUSED = {"Nats-Expected-Stream": "none"}
"""An expectation that never holds: the intake stream answers with an error, stores nothing."""


async def add_sensor(
    folder: Path,
    agent: str,
    source: str,
    grants: tuple[str, ...] = (),
    persons: tuple[str, ...] | None = None,
) -> Credentials:
    """Let a source of an agent publish, and return its credentials.

    Works on a running server, whichever program started it, and on one that is stopped.
    Added again, a sensor keeps its password, and its grants are replaced.

    Raises:
        SubjectError, ValueError: agent, source or a grant is none.
        ServerFailed: the server does not take the new configuration.
    """
    credentials, changed = folders.enrol(folder, agent, source, grants, persons)
    process_id = folders.running(folder)
    if changed and process_id is not None:
        await _reload(folder, process_id)
        await _let_in(folder, process_id, credentials)
    return credentials


async def remove_sensor(folder: Path, agent: str, source: str) -> None:
    """Take a sensor's rights away, and end its connections.

    Raises:
        KeyError: it has none; the argument names those that have.
        ServerFailed: the server does not take the new configuration.
    """
    folders.expel(folder, agent, source)
    process_id = folders.running(folder)
    if process_id is not None:
        await _reload(folder, process_id)


async def refuse_sensors(folder: Path, users: Collection[str]) -> None:
    """Have the broker refuse what these sensors send, and take what all others do.

    Their connections stay; each message is answered with an error.

    Raises:
        ServerFailed: the server does not take the new configuration.
    """
    folders.refuse(folder, users)
    process_id = folders.running(folder)
    if process_id is not None:
        await _reload(folder, process_id)


async def _reload(folder: Path, process_id: int) -> None:
    """Make the server reload its configuration, and wait until it has.

    A signal has no reply, so the server's log is read for the outcome.
    """
    said_before = folders.log_size(folder)
    os.kill(process_id, signal.SIGHUP)
    deadline = asyncio.get_running_loop().time() + _RELOAD_S
    while asyncio.get_running_loop().time() < deadline:
        said = folders.said_since(folder, said_before)
        if "Reloaded server configuration" in said:
            return
        if "Failed to reload" in said:
            break
        await asyncio.sleep(_POLL_S)
    raise folders.failure(folder, "did not take its new configuration")


async def _let_in(folder: Path, process_id: int, credentials: Credentials) -> None:
    """Reload until a new account reaches the intake stream.

    The server connects the imports of an account added by a reload only at the next one,
    and until then replies that there are no responders.
    """
    subject = f"in.{credentials.user}.probe"
    box = box_subject(*credentials.user.split(".")).replace("*", "probe")
    identity = folders.recall(folder)
    if identity is None or not await _is_answered(identity.core, box):
        return  # There is no intake stream yet: the server was just made.
    for _ in range(_RELOADS):
        if await _is_answered(credentials, subject):
            return
        await _reload(folder, process_id)
    raise folders.failure(folder, f"does not let {credentials.user!r} publish")


async def _is_answered(credentials: Credentials, subject: str) -> bool:
    """Tell whether messages on a subject reach the intake stream; nothing is stored."""
    async with connected(credentials, "echoic probe") as client:
        try:
            await client.request(subject, b"", _RELOAD_S, headers=_REFUSED)
        except nats.errors.NoRespondersError:
            return False
    return True
