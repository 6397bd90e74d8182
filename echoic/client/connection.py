"""Connections of commands to a running instance: its log and its read models.

Commands start nothing; if no instance runs, the error names the command that starts one.
Doors, which serve for as long as they are let, wait for one.
"""

import asyncio
import logging
import shlex
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from functools import partial
from urllib.parse import unquote, urlsplit, urlunsplit
from uuid import UUID

from echoic.client.instance_note import read_note
from echoic.config.load import Settings
from echoic.errors import NotRunningError
from streams.cancellation import heed_cancellation
from streams.errors import LogForbidden, LogUnavailable, TopologyDrift
from streams.jetstream.accounts import Credentials
from streams.jetstream.append import JetStreamWriter
from streams.jetstream.connection import connected
from streams.jetstream.hardened_client import Admit, BrokerClient
from streams.jetstream.migrate import epoch_of, sealing
from streams.jetstream.read import JetStreamReader
from streams.jetstream.sealed_log import SealedReader, SealedWriter

LOOK_S = 0.5
"""Seconds between two reads of the note while the connection is lost."""


class LiveLog(JetStreamReader, JetStreamWriter):
    """The log of a broker, to be read and written."""

    def __init__(self, client: BrokerClient, epoch: UUID) -> None:
        """Use a connection, which the caller closes."""
        JetStreamReader.__init__(self, client, epoch)
        JetStreamWriter.__init__(self, client)

    @property
    def admit(self) -> Admit | None:
        """As of its connection."""
        return self._client.admit


class _SealedLog(SealedReader, SealedWriter, LiveLog):
    """The log of a broker whose personal fields are sealed."""

    def __init__(self, client: BrokerClient, epoch: UUID) -> None:
        """Use a connection, which the caller closes."""
        SealedReader.__init__(self, client, epoch)
        SealedWriter.__init__(self, client)


async def open_log(client: BrokerClient, epoch: UUID) -> LiveLog:
    """Return the log of an epoch, which must be that of the connection's account."""
    return (_SealedLog if await sealing(client) else LiveLog)(client, epoch)


@dataclass(frozen=True, slots=True)
class Connection:
    """A command's access to an instance."""

    settings: Settings
    client: BrokerClient
    log: LiveLog
    database_url: str | None
    is_stopped: bool = False
    """Whether no instance runs, and the broker was started to look at its folder."""

    def needed_database(self) -> str:
        """Return the address of the read models.

        Raises:
            NotRunningError: the instance runs without.
        """
        return needed_database(self.database_url)


def needed_database(url: str | None) -> str:
    """Return the address of the read models, if there are any.

    Raises:
        NotRunningError: there are none.
    """
    if url is None:
        raise NotRunningError(
            "the instance has no read models: PostgreSQL did not start",
            next_step="echoic doctor",
        )
    return url


@asynccontextmanager
async def connect(settings: Settings) -> AsyncIterator[Connection]:
    """Connect to the broker of the settings, else to the instance of the data folder.

    Raises:
        NotRunningError: there is neither.
        LogUnavailable: it does not answer.
    """
    # A command is short: the error that ends it says what a log line would say before it.
    logging.getLogger("streams").setLevel(logging.ERROR)
    credentials, database_url = addresses(settings)
    async with connected(credentials, "echoic command") as client:
        client.admit = partial(_admit, settings)
        log = await open_log(client, await epoch_of(client))
        moving = asyncio.create_task(_follow_moves(client, settings))
        try:
            yield Connection(settings, client, log, database_url)
        finally:
            moving.cancel()


def _admit(settings: Settings, sender: str, size: int) -> None:
    # Imported here: few commands publish.
    from echoic.client.admission import take_of_day

    take_of_day(settings, sender, size)


@asynccontextmanager
async def connect_when_up(
    settings: Settings, notify: Callable[[str], None]
) -> AsyncIterator[Connection]:
    """Connect as `connect` does, once there is an instance; say that it is waited for.

    A door may be started before what it is a door of, as services at a machine's start.

    Raises:
        LogForbidden: the broker refuses the credentials.
    """
    is_told, connection = False, None
    async with AsyncExitStack() as stack:
        while connection is None:
            heed_cancellation()
            try:
                connection = await stack.enter_async_context(connect(settings))
            except LogForbidden:
                raise
            # TopologyDrift: a broker without a log yet.
            except (NotRunningError, LogUnavailable, TopologyDrift) as error:
                if not is_told:
                    notify(f"{error}; it is waited for")
                is_told = True
                await asyncio.sleep(LOOK_S)
        if is_told:
            notify("the instance is there")
        yield connection


async def _follow_moves(client: BrokerClient, settings: Settings) -> None:
    """Point a lost connection to the address in the instance's note, until cancelled.

    A command that goes on, such as `watch`, thereby survives a broker that was restarted on
    another port.
    """
    while settings.nats_url is None:
        await asyncio.sleep(LOOK_S)
        note = None if client.is_connected else read_note(settings.data)
        if note is not None:
            # The client keeps reconnecting by itself, from now on to this address.
            client.set_server_pool([note.nats_url])


def credentials_of(settings: Settings) -> Credentials:
    """Split the broker's URL of the settings into credentials and an address without."""
    parts = urlsplit(settings.nats_url or "")
    host = parts.netloc.rpartition("@")[2]
    return Credentials(
        url=urlunsplit(parts._replace(netloc=host)),
        # Percent-encoded in a URL, since passwords hold `@`, `:` and `/`.
        user=unquote(parts.username or ""),
        password=unquote(parts.password or ""),
        ca=settings.nats_ca,
    )


def is_running(settings: Settings) -> bool:
    """Tell whether the settings name a broker, or an instance runs over the folder."""
    return settings.nats_url is not None or read_note(settings.data) is not None


def addresses(settings: Settings) -> tuple[Credentials, str | None]:
    """Return the broker's credentials, and the database's URL if there is one.

    Raises:
        NotRunningError: neither settings nor data folder name an instance.
    """
    if settings.nats_url is not None:
        return credentials_of(settings), settings.database_url
    note = read_note(settings.data)
    if note is None:
        raise NotRunningError(
            f"no instance runs over {settings.data}",
            next_step="echoic up --detach --data " + shlex.quote(str(settings.data)),
        )
    credentials = Credentials(
        note.nats_url, note.nats_user, note.nats_password, ca=note.nats_ca
    )
    return credentials, settings.database_url or note.database_url
