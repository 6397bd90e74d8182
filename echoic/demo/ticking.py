"""A line a second on stderr of what goes on, where nothing else would be seen."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from echoic.terminal.output import note


@asynccontextmanager
async def told_each_second(what: str, *, quiet: bool) -> AsyncIterator[None]:
    """Say each second that `what` goes on, and since when; nothing if quiet."""
    ticking = asyncio.create_task(_tick(what, quiet))
    try:
        yield
    finally:
        ticking.cancel()


async def _tick(what: str, quiet: bool) -> None:
    second = 0
    while not quiet:
        await asyncio.sleep(1)
        second += 1
        note(f"  {what}: {second} s")
