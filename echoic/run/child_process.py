"""Child processes of an instance: a job goes in by standard input, news come out by lines.

A child ends when its standard input does, so it never outlives the instance, not even one
that is killed.
"""

import asyncio
import sys
from asyncio.subprocess import PIPE, Process
from collections.abc import Coroutine
from contextlib import suppress
from typing import Any

import orjson

from echoic.run.process import log_to_stderr
from echoic.run.supervision import Notify
from streams.cancellation import CANCEL_AGAIN_S
from streams.cancellation import ended as cancelled

STANDS_STILL = 3
"""The exit code of a child that would fail the same way if it were restarted at once."""

NOT_ALONE = 4
"""The exit code of a child some of whose partitions others have, by another range."""

PAUSE_S = 2.0
"""Seconds before a child that ended by itself is restarted, so a crash loop stays slow."""

_LIMIT = 1 << 20
"""Bytes of one line of news at most: a long error exceeds asyncio's 64 KiB."""


async def run(module: str, job: object, heard: Notify, stop_s: float) -> int:
    """Run a module with a job until it ends; return its exit code.

    When cancelled, close the child's standard input, and kill it if it takes over `stop_s`
    seconds to end.
    """
    # Ctrl-C goes to the instance's group alone; the instance says when this one ends.
    child = await asyncio.create_subprocess_exec(
        sys.executable,
        # A folder `handlers` or `schemas` in the working directory must not hide ours.
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
        # Its standard input stays open: the end of input is the signal to stop.
        async for line in child.stdout:
            heard(line.decode().strip())
        return await child.wait()
    finally:
        child.stdin.close()
        await _ended(child, stop_s)


async def _ended(child: Process, stop_s: float) -> None:
    """Wait for a child whose standard input is closed; kill it after `stop_s`."""
    with suppress(TimeoutError):
        async with asyncio.timeout(stop_s):
            await child.wait()
    if child.returncode is None:
        child.kill()
        await child.wait()


def given_job() -> Any:
    """Return, in the child, what it was given to do; call it once, before anything else."""
    log_to_stderr()
    return orjson.loads(sys.stdin.buffer.readline())


def tell(news: str) -> None:
    """Report, in the child, one line of news to the instance."""
    # A line break within would be read as two pieces of news.
    print(news.replace("\n", " "), flush=True)


async def until_told(
    work: Coroutine[Any, Any, None], again_s: float = CANCEL_AGAIN_S
) -> bool:
    """Work, in the child, until standard input ends; tell whether that is what ended it.

    It then has `again_s` seconds to finish. What the work raises is raised.
    """
    ended = asyncio.create_task(_end_of_input())
    working = asyncio.create_task(work)
    await asyncio.wait({ended, working}, return_when=asyncio.FIRST_COMPLETED)
    if working.done():
        # It is done; awaiting it raises what it failed with.
        await working
        return False
    await cancelled([working], again_s)
    return True


async def _end_of_input() -> None:
    """Wait for the end of standard input without a thread, which would hold up the exit."""
    stream = asyncio.StreamReader()
    await asyncio.get_running_loop().connect_read_pipe(
        lambda: asyncio.StreamReaderProtocol(stream), sys.stdin
    )
    await stream.read()
