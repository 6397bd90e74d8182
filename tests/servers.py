"""Real servers for tests, as plain async context managers over fresh folders."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from streams.broker.server import EmbeddedServer, embedded_server
from streams.jetstream.append import JetStreamWriter
from streams.jetstream.hardened_client import BrokerClient
from streams.jetstream.migrate import migrate, open_intake
from streams.jetstream.read import JetStreamReader


@dataclass(frozen=True, slots=True)
class Broker:
    """A running server with an empty log, and a connection as Echoic."""

    server: EmbeddedServer
    client: BrokerClient
    reader: JetStreamReader
    writer: JetStreamWriter


@asynccontextmanager
async def fresh_server() -> AsyncIterator[EmbeddedServer]:
    """A server without streams over a folder that is gone afterwards."""
    with TemporaryDirectory(prefix="echoic-nats-") as folder:
        async with embedded_server(Path(folder) / "nats") as server:
            yield server


@asynccontextmanager
async def fresh_broker() -> AsyncIterator[Broker]:
    """A server with an empty log; starts in well under a second."""
    async with fresh_server() as server, opened(server) as broker:
        yield broker


@asynccontextmanager
async def opened(server: EmbeddedServer) -> AsyncIterator[Broker]:
    """One more connection to a server, whose log is made if it is missing."""
    client = await server.connect("tests")
    try:
        epoch = await migrate(client)
        await open_intake(client)
        reader = JetStreamReader(client, epoch)
        yield Broker(server, client, reader, JetStreamWriter(client))
    finally:
        await client.close()
