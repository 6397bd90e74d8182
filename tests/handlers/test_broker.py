"""The connection of effects and services: what it leaves behind when it is made again."""

import asyncio

import pytest
from nats.aio.client import Client
from nats.errors import FlushTimeoutError

from handlers.broker import faststream_broker, start, stop
from tests.patience import PATIENCE_S
from tests.servers import Broker, fresh_server

pytestmark = pytest.mark.services


async def test_a_connection_that_fails_is_closed_before_the_next(
    broker: Broker, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Not left to the garbage collector, one more for each attempt."""
    faststream = faststream_broker(broker.server.core)
    client = await faststream.connect()
    await start(faststream)
    left: list[asyncio.StreamWriter] = []
    flush = client.flush

    async def fail_once(timeout: int = 10) -> None:
        if not left:
            left.append(writer_of(client))
            raise FlushTimeoutError
        await flush(timeout)

    try:
        monkeypatch.setattr(client, "flush", fail_once)
        await client.force_reconnect()
        async with asyncio.timeout(PATIENCE_S):
            while not (left and client.is_connected):  # noqa: ASYNC110
                await asyncio.sleep(0.01)

        assert left[0].is_closing()
        assert writer_of(client) is not left[0]
        await client.flush()
    finally:
        await stop(faststream)


async def test_one_that_stops_without_a_server_leaves_nothing_open() -> None:
    """Whatever it had to send: the library would end at that, half-way through closing."""
    async with fresh_server() as server:
        faststream = faststream_broker(server.core)
        client = await faststream.connect()
        await start(faststream)
        await client.request("$JS.API.INFO", b"", timeout=PATIENCE_S)
        await server.kill()
        async with asyncio.timeout(PATIENCE_S):
            while client.is_connected:  # noqa: ASYNC110
                await asyncio.sleep(0.01)
        await client.publish("svc._.nobody", b"never sent")
        await stop(faststream)

    assert client._subs == {}
    assert writer_of(client).is_closing()


def writer_of(client: Client) -> asyncio.StreamWriter:
    """What a client is connected by."""
    found: asyncio.StreamWriter = getattr(client._transport, "_io_writer")  # noqa: B009
    return found
