"""How long heuristics take to answer while the model is asked but never answers.

Two controls: the same without a model, and with one that answers at once, so that the cost
of asking is not taken for the cost of hanging.
"""

import asyncio
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from typing import Any

import orjson

from bench import live
from bench.open_loop import Latency
from bench.rig import Rig

# Events a second: low enough that no queue forms, so only asking can add latency.
RATE = 100
MODULE = "bench.asking_worker"

Serve = Callable[
    [asyncio.StreamReader, asyncio.StreamWriter], Coroutine[Any, Any, None]
]


@dataclass(frozen=True, slots=True)
class Hanging:
    """Latency of what heuristics answered, in milliseconds."""

    without: Latency
    """System 2 is off."""
    answers: Latency
    """It is on, and answers at once."""
    hangs: Latency
    """It is on, and no answer comes."""


async def measured(running: Rig, seconds: float = live.LATENCY_S) -> Hanging:
    """Measure the three in turn, each by different events of the same kind."""

    async def seen(*worker: str) -> Latency:
        path = "heuristic"
        found = await live.latency(
            running, RATE, worker=worker, path=path, seconds=seconds
        )
        return found[0]

    without = await seen(MODULE)
    async with model(answer) as base:
        answers = await seen(MODULE, base)
    async with model(hang) as base:
        hangs = await seen(MODULE, base)
    return Hanging(without, answers, hangs)


@asynccontextmanager
async def model(serve: Serve) -> AsyncIterator[str]:
    """Serve a model that handles each connection with `serve`; yield its URL."""
    tasks: set[asyncio.Task[None]] = set()

    async def connected(
        reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        # Kept, to be cancelled: closing the server waits for connections, and a hanging one
        # never ends by itself.
        task = asyncio.create_task(serve(reader, writer))
        tasks.add(task)
        await asyncio.wait({task})
        writer.close()

    server = await asyncio.start_server(connected, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    try:
        yield f"http://127.0.0.1:{port}/v1"
    finally:
        server.close()
        for task in tasks:
            task.cancel()
        await server.wait_closed()


async def hang(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """Never answer."""
    await asyncio.Event().wait()


async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """Answer each request at once."""
    # A client that closes its kept-alive connection is no failure.
    with suppress(asyncio.IncompleteReadError, ConnectionError):
        while True:
            head = await reader.readuntil(b"\r\n\r\n")
            length = next(
                int(line.partition(b":")[2])
                for line in head.lower().split(b"\r\n")
                if line.startswith(b"content-length")
            )
            await reader.readexactly(length)
            writer.write(_ANSWER)
            await writer.drain()


def _response(text: str) -> bytes:
    message = {"role": "assistant", "content": text}
    body = orjson.dumps(
        {
            "id": "bench",
            "object": "chat.completion",
            "created": 0,
            "model": "bench",
            "choices": [{"index": 0, "message": message, "finish_reason": "stop"}],
        }
    )
    head = (
        "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n"
        f"content-length: {len(body)}\r\n\r\n"
    )
    return head.encode() + body


_ANSWER = _response("Have a look at it when you pass by.")
