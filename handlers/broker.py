"""The FastStream broker that effects and services subscribe to, and its round trips."""

import asyncio
import logging
from typing import Protocol

from faststream.nats import NatsBroker
from nats.aio.client import Client

from streams.jetstream.accounts import Credentials
from streams.jetstream.closing import closed
from streams.jetstream.connection import connect, translated
from streams.jetstream.hardened_client import BrokerClient
from streams.jetstream.majority import has_another, keep_to_majority

_FLUSH_S = 5
"""How long the server may take to answer."""

_STOP_S = 40.0
"""How long stopping may take: FastStream's grace, and the library's 30 s to drain."""

_STAYING: set[asyncio.Task[None]] = set()
"""Tasks are kept by nobody else."""


class Flushing(Protocol):
    """A connection, as far as waiting for the server goes."""

    async def flush(self, timeout: int = _FLUSH_S) -> None:
        """Send a PING and wait for its PONG."""


class _EffectsBroker(NatsBroker):
    """FastStream's broker over a connection of our own kind."""

    opened: BrokerClient | None = None
    """None: it was never connected."""

    def __init__(self, credentials: Credentials) -> None:
        """Note by which credentials it connects; nothing is opened before it does."""
        super().__init__(
            credentials.servers,
            graceful_timeout=5.0,
            logger=_logger(),
            log_level=logging.DEBUG,
        )
        self._credentials = credentials

    async def _connect(self) -> Client:
        """Connect, once, by the client that outlives restarts of the server.

        Raises:
            LogUnavailable: no server answers.
        """
        self.opened = await connect(self._credentials, "echoic handlers")
        self.config.connect(self.opened)
        return self.opened


def faststream_broker(credentials: Credentials) -> _EffectsBroker:
    """Return a broker for our own account that outlives restarts of the server."""
    return _EffectsBroker(credentials)


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


async def start(broker: _EffectsBroker) -> None:
    """Start the subscribers; on return the server knows of all of them.

    Raises:
        LogUnavailable: the server does not answer; what was begun is stopped.
    """
    try:
        with translated("who performs asks"):
            connection = await broker.connect()
            await broker.start()
            await settle(connection)
    except BaseException:
        await stop(broker)
        raise
    if has_another(connection):
        # It ends with the connection.
        staying = asyncio.create_task(keep_to_majority(connection))
        _STAYING.add(staying)
        staying.add_done_callback(_STAYING.discard)


async def stop(broker: _EffectsBroker) -> None:
    """Stop the subscribers; a server that is away is not waited for."""
    connection = broker.opened
    if connection is None:
        return
    await closed(connection, broker.stop(), _STOP_S)
    if not connection.is_closed:
        # One that was cut can be neither drained nor closed with what it has not sent.
        await connection.close()


async def settle(connection: Flushing) -> None:
    """Wait until the server has processed all that was sent so far."""
    await connection.flush(_FLUSH_S)
