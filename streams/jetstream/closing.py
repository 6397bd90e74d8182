"""What the library leaves half done where a connection is closed, or made again."""

import asyncio
import logging
from collections.abc import Coroutine
from typing import Any

from nats.aio.client import Client

from streams.cancellation import ended

_CLOSE_S = 5.0
"""Seconds that a close may take, before the socket is cut."""

_log = logging.getLogger(__name__)


async def closed(
    client: Client, close: Coroutine[Any, Any, None], within_s: float = _CLOSE_S
) -> None:
    """Do what closes a connection, and raise nothing of it; every close goes through here.

    So it never takes the place of the error that led to it. Only that the calling task is
    cancelled is raised, once the socket is cut.
    """
    # In a task of its own: a cancellation that the library left in the socket, which another
    # task of its awaited as well, would look like one of the calling task.
    closing = asyncio.create_task(close)
    try:
        await asyncio.wait({closing}, timeout=within_s)
    finally:
        if not closing.done():
            cut(client)
            await ended([closing])
        fault = None if closing.cancelled() else closing.exception()
        if closing.cancelled() or fault is not None:
            # It ended half-way, maybe before it came to the socket.
            cut(client)
            _log.info("a connection was closed by force: %r", fault)


async def stop_reconnecting(client: Client) -> None:
    """End its attempts to connect again, before it is closed.

    The library cancels them once. Where that is swallowed they go on for ever: they keep
    the program from ending, and connect again what was closed.
    """
    attempts = client._reconnection_task
    if attempts is not None and attempts is not asyncio.current_task():
        await ended([attempts])


def cut(client: Client) -> None:
    """Cut the connection's socket; to close it may wait for a node that reads nothing.

    Also one that is being closed: what it has not sent, or TLS's farewell, holds it open.
    """
    writer = getattr(client._transport, "_io_writer", None)
    if writer is not None:
        writer.transport.abort()


def drop_unsent(client: Client) -> None:
    """Forget what was not sent, at which the library's `close` fails half-way."""
    client._pending, client._pending_data_size = [], 0
