"""A proxy before the broker that can keep what the broker says to itself.

Between a write and its acknowledgement there is too little time to hit by chance; behind a
proxy that passes on what comes, and nothing that goes back, there is as much as one likes.
"""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field

_BYTES = 1 << 16


@dataclass(slots=True)
class Proxy:
    """Passes on what its clients say, and what they are told."""

    host: str
    port: int
    address: str = ""
    """Where it listens, as the address of a broker."""
    hears: asyncio.Event = field(default_factory=asyncio.Event)
    """Whether what the broker says is passed on."""

    async def serve(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        """Serve one client."""
        try:
            theirs = await asyncio.open_connection(self.host, self.port)
        except OSError:
            writer.close()
            return
        there = asyncio.create_task(_pass_on(reader, theirs[1], None))
        back = asyncio.create_task(_pass_on(theirs[0], writer, self.hears))
        try:
            await asyncio.wait({there, back}, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for each in (there, back):
                each.cancel()
            for end in (writer, theirs[1]):
                end.close()


async def _pass_on(
    reader: asyncio.StreamReader,
    writer: asyncio.StreamWriter,
    gate: asyncio.Event | None,
) -> None:
    with suppress(ConnectionError):
        while data := await reader.read(_BYTES):
            if gate is not None:
                await gate.wait()
            writer.write(data)
            await writer.drain()


@asynccontextmanager
async def proxy(host: str, port: int) -> AsyncIterator[Proxy]:
    """Serve a proxy for the length of the block."""
    made = Proxy(host, port)
    made.hears.set()
    tasks = set[asyncio.Task[None]]()

    def connected(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        # Kept, to be cancelled: closing the server waits for what is open.
        task = asyncio.create_task(made.serve(reader, writer))
        tasks.add(task)
        task.add_done_callback(tasks.discard)

    server = await asyncio.start_server(connected, "127.0.0.1", 0)
    made.address = f"nats://127.0.0.1:{server.sockets[0].getsockname()[1]}"
    try:
        yield made
    finally:
        server.close()
        for each in list(tasks):
            each.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        await server.wait_closed()
