"""The FastStream broker that effects and services subscribe to, and its round trips."""

import asyncio
import logging
from typing import Protocol

from faststream.nats import NatsBroker
from faststream.security import SASLPlaintext
from nats.aio.client import Client, Srv

from streams.cancellation import heed_cancellation
from streams.jetstream.accounts import Credentials
from streams.jetstream.closing import closed, cut, drop_unsent, stop_reconnecting
from streams.jetstream.connection import tls_of
from streams.jetstream.majority import has_another, keep_to_majority

FLUSH_S = 5
"""How long the server may take to answer."""

_STOP_S = 40.0
"""How long stopping may take: FastStream's grace, and the library's 30 s to drain."""

_STAYING: set[asyncio.Task[None]] = set()
"""Tasks are kept by nobody else."""


class Flushing(Protocol):
    """A connection, as far as waiting for the server goes."""

    async def flush(self, timeout: int = FLUSH_S) -> None:
        """Send a PING and wait for its PONG."""


def faststream_broker(credentials: Credentials) -> NatsBroker:
    """Return a broker for our own account that outlives restarts of the server."""
    return NatsBroker(
        credentials.servers,
        security=SASLPlaintext(
            credentials.user, credentials.password, tls_of(credentials)
        ),
        name="echoic handlers",
        inbox_prefix=credentials.inbox_prefix,
        # For ever, each second: the program outlives a restart of the server.
        max_reconnect_attempts=-1,
        reconnect_time_wait=1,
        # A dead connection is noticed within half a minute; the client's default is
        # minutes.
        ping_interval=10,
        max_outstanding_pings=2,
        graceful_timeout=5.0,
        logger=_logger(),
        log_level=logging.DEBUG,
    )


def _logger() -> logging.Logger:
    logger = logging.getLogger("echoic.faststream")
    logger.addFilter(_is_failure)
    return logger


def _is_failure(record: logging.LogRecord) -> bool:
    """Tell whether a log record of FastStream is worth a line.

    A fetch that found nothing may end in asyncio's TimeoutError, where FastStream expects
    the NATS client's: it restarts the fetch, which is right, and shows a traceback.
    """
    raised = record.exc_info[1] if record.exc_info else None
    return not isinstance(raised, TimeoutError)


async def start(broker: NatsBroker) -> None:
    """Start the subscribers; on return the server knows of all of them."""
    connection = await broker.connect()
    _close_failed(connection)
    await broker.start()
    await settle(connection)
    if has_another(connection):
        # It ends with the connection.
        staying = asyncio.create_task(keep_to_majority(connection))
        _STAYING.add(staying)
        staying.add_done_callback(_STAYING.discard)


def _close_failed(connection: Client) -> None:
    """Have it close an attempt that failed before the next, which the library leaves open."""
    connect = connection._connect_to_server

    async def connect_next(s: Srv) -> None:
        # The library's loop would try again.
        heed_cancellation()
        cut(connection)
        await connect(s)

    connection._connect_to_server = connect_next  # type: ignore[method-assign]


async def stop(broker: NatsBroker) -> None:
    """Stop the subscribers; a server that is away is not waited for."""
    connection = await broker.connect()
    await closed(connection, broker.stop(), _STOP_S)
    if not connection.is_closed:
        # One that was cut can be neither drained nor closed with what it has not sent.
        await stop_reconnecting(connection)
        drop_unsent(connection)
        await closed(connection, connection.close())


async def settle(connection: Flushing) -> None:
    """Wait until the server has processed all that was sent so far."""
    # The client's flush sends its PING ahead of what it has not written yet; the
    # second PING is behind that for certain.
    await connection.flush(FLUSH_S)
    await connection.flush(FLUSH_S)
