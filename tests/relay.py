"""A relay before a server, over which a network is cut off and comes back."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field, replace
from urllib.parse import urlsplit

from streams.jetstream.accounts import Credentials


@dataclass(slots=True)
class Relay:
    """Passes on what goes to and from one server; holds all of it while cut."""

    credentials: Credentials
    """By which the server is reached over the relay."""
    is_open: asyncio.Event = field(default_factory=asyncio.Event)

    def cut(self) -> None:
        """Let nothing through, and close nothing: neither side can tell."""
        self.is_open.clear()

    def mend(self) -> None:
        """Let through what was held, and what follows."""
        self.is_open.set()


@asynccontextmanager
async def relay(server: Credentials) -> AsyncIterator[Relay]:
    """Listen on a port of its own for the length of the block."""
    where = urlsplit(server.url)
    found = Relay(server)
    found.mend()

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        there = await asyncio.open_connection(where.hostname, where.port)
        ways = (_pass(reader, there[1], found), _pass(there[0], writer, found))
        await asyncio.gather(*ways)

    listening = await asyncio.start_server(serve, "127.0.0.1", 0)
    host, port = listening.sockets[0].getsockname()
    found.credentials = replace(server, url=f"nats://{host}:{port}")
    try:
        yield found
    finally:
        listening.close()


async def _pass(
    reader: asyncio.StreamReader, writer: asyncio.StreamWriter, relayed: Relay
) -> None:
    with suppress(OSError):
        while data := await reader.read(65_536):
            await relayed.is_open.wait()
            writer.write(data)
            await writer.drain()
    writer.close()
