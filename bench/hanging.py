"""How long heuristics take to answer while the model, asked all the time, never does."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass

from bench import live
from bench.rig import Rig

RATE = 100
MODULE = "bench.asking_worker"


@dataclass(frozen=True, slots=True)
class Hanging:
    """Latency of what heuristics answered, in milliseconds."""

    without: live.Latency
    """System 2 is off."""
    hangs: live.Latency
    """It is on, and no answer comes."""


async def measured(running: Rig) -> Hanging:
    """Measure one after the other, by other events of the same kind."""
    without, _ = await live.latency(
        running, RATE, worker=(MODULE,), path="heuristic", seed=1
    )
    async with _silent_model() as base:
        hangs, _ = await live.latency(
            running, RATE, worker=(MODULE, base), path="heuristic", seed=2
        )
    return Hanging(without, hangs)


@asynccontextmanager
async def _silent_model() -> AsyncIterator[str]:
    """The URL of a model that takes every request and answers none."""
    over = asyncio.Event()

    async def silent(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await over.wait()
        writer.close()

    server = await asyncio.start_server(silent, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    try:
        yield f"http://127.0.0.1:{port}/v1"
    finally:
        over.set()
        server.close()
        with suppress(ConnectionError):
            await server.wait_closed()
