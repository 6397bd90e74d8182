"""A connection that is closed while it tries to connect again."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager, suppress

import pytest
from nats.aio.client import Client
from nats.aio.transport import TcpTransport

from handlers.broker import faststream_broker, start, stop
from streams.jetstream.accounts import Credentials
from streams.jetstream.connection import connected
from tests.servers import fresh_server

pytestmark = pytest.mark.services

Made = Callable[[Credentials], AbstractAsyncContextManager[Client]]


@asynccontextmanager
async def effects(core: Credentials) -> AsyncIterator[Client]:
    """The connection of the effects."""
    broker = faststream_broker(core)
    client = await broker.connect()
    await start(broker)
    try:
        yield client
    finally:
        await stop(broker)


@pytest.mark.parametrize("made", [connected, effects])
async def test_its_attempts_end_with_it(
    made: Made, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whatever swallows that they are cancelled; else they would go on for ever."""
    tries = asyncio.Event()

    async def swallow(*_: object, **__: object) -> None:
        tries.set()
        # As `asyncio.wait_for` does, if what it waits for comes at the same moment.
        with suppress(asyncio.CancelledError):
            await asyncio.sleep(60)
        raise ConnectionRefusedError

    async with fresh_server() as server:
        async with asyncio.timeout(30), made(server.core) as client:
            monkeypatch.setattr(TcpTransport, "connect", swallow)
            await server.kill()
            await tries.wait()
        monkeypatch.undo()

        attempts = client._reconnection_task
        assert attempts is not None
        assert attempts.done()
        assert client.is_closed
