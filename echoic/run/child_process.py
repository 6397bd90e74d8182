"""A process of ours beside the instance: its job comes by standard input, its news by output.

It ends when its standard input does, so it never outlives the instance, however that ends.
"""

import asyncio
import logging
import sys
from asyncio.subprocess import PIPE, Process
from collections.abc import Coroutine
from contextlib import suppress
from typing import Any

import orjson

from echoic.run.supervision import Notify

STANDS_STILL = 3
"""The exit code of a process that starting again at once would not help."""

PAUSE_S = 2.0
"""Before a process that ended by itself is started again."""

CANCEL_AGAIN_S = 0.2

_LIMIT = 1 << 20
"""Bytes that a line of news may have."""


async def run(module: str, job: object, heard: Notify, stop_s: float) -> int:
    """Run a module with a job until it ends; return its exit code.

    When cancelled, the process is told to end, and killed if it takes over `stop_s`.
    """
    # Ctrl-C goes to the instance's group alone; the instance says when this one ends.
    child = await asyncio.create_subprocess_exec(
        sys.executable,
        "-P",
        "-m",
        module,
        stdin=PIPE,
        stdout=PIPE,
        process_group=0,
        limit=_LIMIT,
    )
    if child.stdin is None or child.stdout is None:
        raise AssertionError("pipes were asked for")
    try:
        child.stdin.write(orjson.dumps(job) + b"\n")
        await child.stdin.drain()
        async for line in child.stdout:
            heard(line.decode().strip())
        return await child.wait()
    finally:
        child.stdin.close()
        await _ended(child, stop_s)


async def _ended(child: Process, stop_s: float) -> None:
    """Wait for the end of a process that has been told to end."""
    with suppress(TimeoutError):
        async with asyncio.timeout(stop_s):
            await child.wait()
    if child.returncode is None:
        child.kill()
        await child.wait()


def given_job() -> Any:
    """In the process: what it was given to do; to be called once, first."""
    logging.basicConfig(level=logging.WARNING, format="%(name)s: %(message)s")
    return orjson.loads(sys.stdin.buffer.readline())


def tell(news: str) -> None:
    """In the process: say something to the instance, in one line."""
    print(news.replace("\n", " "), flush=True)


async def until_told(work: Coroutine[Any, Any, None]) -> bool:
    """In the process: work until standard input ends; whether it was that which ended it.

    What the work raises is raised.
    """
    ended = asyncio.create_task(_end_of_input())
    working = asyncio.create_task(work)
    await asyncio.wait({ended, working}, return_when=asyncio.FIRST_COMPLETED)
    if working.done():
        await working
        return False
    # Again until it ends: before Python 3.12 a request may swallow a cancellation.
    while not working.done():
        working.cancel()
        await asyncio.wait({working}, timeout=CANCEL_AGAIN_S)
    return True


async def _end_of_input() -> None:
    """Wait until nobody writes any more; in no thread, for which the exit would wait."""
    stream = asyncio.StreamReader()
    await asyncio.get_running_loop().connect_read_pipe(
        lambda: asyncio.StreamReaderProtocol(stream), sys.stdin
    )
    await stream.read()
