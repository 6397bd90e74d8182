"""Ways between ports that can be cut, healed, slowed, or closed in one direction alone.

A cut way keeps its connections open and passes nothing on, as a network does that loses each
packet: neither end is told. What was sent meanwhile arrives once it is healed.
"""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field

READ_BYTES = 65_536
THERE, BACK = "there", "back"
"""From whoever connects to whoever listens, and the other way."""


@dataclass
class Link:
    """A port of its own, whose connections lead to another port of this machine."""

    port: int
    target: int
    delay_s: float = 0.0
    """Seconds that each piece of up to `READ_BYTES` waits."""
    _open: dict[str, asyncio.Event] = field(default_factory=dict)
    _passing: set[asyncio.Task[None]] = field(default_factory=set)

    def __post_init__(self) -> None:
        """Begin open in both directions."""
        self._open = {THERE: asyncio.Event(), BACK: asyncio.Event()}
        self.heal()

    def cut(self, *directions: str) -> None:
        """Pass nothing more on, in these directions or in both."""
        for each in directions or (THERE, BACK):
            self._open[each].clear()

    def heal(self) -> None:
        """Pass everything on again, at once."""
        self.delay_s = 0.0
        for each in self._open.values():
            each.set()

    @asynccontextmanager
    async def listening(self) -> AsyncIterator[None]:
        """Pass connections on for the length of the block."""
        server = await asyncio.start_server(self._accept, "127.0.0.1", self.port)
        try:
            yield
        finally:
            server.close()
            for each in self._passing:
                each.cancel()
            await asyncio.gather(*self._passing, return_exceptions=True)
            # What was aborted is closed in the loop's next turn.
            await asyncio.sleep(0)

    # No coroutine: asyncio would begin it later, and a connection that came last be left.
    def _accept(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        task = asyncio.create_task(self._connect(reader, writer))
        self._passing.add(task)

        def ended(_: asyncio.Task[None]) -> None:
            self._passing.discard(task)
            # Also where it was cancelled before it began.
            writer.transport.abort()

        task.add_done_callback(ended)

    async def _connect(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        opened = [writer]
        try:
            # A node that is down refuses: whoever asked is refused, too.
            with suppress(OSError):
                other = await asyncio.open_connection("127.0.0.1", self.target)
                opened.append(other[1])
                async with asyncio.TaskGroup() as group:
                    group.create_task(self._pass(THERE, reader, other[1]))
                    group.create_task(self._pass(BACK, other[0], writer))
        finally:
            for each in opened:
                # What is left unsent is dropped: waiting for a stopped end never ends.
                each.transport.abort()

    async def _pass(
        self, direction: str, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        with suppress(OSError):
            while data := await reader.read(READ_BYTES):
                if self.delay_s:
                    await asyncio.sleep(self.delay_s)
                await self._open[direction].wait()
                writer.write(data)
                await writer.drain()
        # The end of a connection is a packet, too.
        await self._open[direction].wait()
        with suppress(OSError, RuntimeError):
            writer.write_eof() if writer.can_write_eof() else writer.close()
