"""What the library leaves half done where a connection is closed, or made again."""

import asyncio

from nats.aio.client import Client

from streams.cancellation import ended


async def stop_reconnecting(client: Client) -> None:
    """End its attempts to connect again, before it is closed.

    The library cancels them once. Where that is swallowed they go on for ever: they keep
    the program from ending, and connect again what was closed.
    """
    attempts = client._reconnection_task
    if attempts is not None and attempts is not asyncio.current_task():
        await ended([attempts])


def cut(client: Client) -> None:
    """Cut the connection's socket; to close it may wait for a node that reads nothing."""
    writer = getattr(client._transport, "_io_writer", None)
    if writer is not None and not writer.is_closing():
        writer.transport.abort()


def drop_unsent(client: Client) -> None:
    """Forget what was not sent, at which the library's `close` fails half-way."""
    client._pending, client._pending_data_size = [], 0
