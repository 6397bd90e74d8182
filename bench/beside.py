"""Works beside a block: a block that waits for what they do ends with the first that dies."""

import asyncio
import signal
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine
from contextlib import asynccontextmanager
from typing import Any

from streams.cancellation import ended

END_S = 15.0
"""How long a work may take to end before it is cancelled once more: a worker that shares
its partitions hands them over for up to 12 s."""


@asynccontextmanager
async def beside(
    *works: Coroutine[Any, Any, object], may_end: bool = False
) -> AsyncIterator[tuple[asyncio.Task[object], ...]]:
    """Do works for the length of the block, and cancel them at its end.

    A work that fails ends the block at once, whatever it awaits, and so does one that
    returns, unless it `may_end`: the block would wait for what nobody does any more. Not
    for a fixture, whose block is awaited by another task than the one that entered it:
    there the failure is raised at the end only.

    Raises:
        RuntimeError: a work ended by itself.
        Exception: what a work failed with; an ExceptionGroup if the block failed, too.
    """
    try:
        async with asyncio.TaskGroup() as group:
            tasks = tuple(
                group.create_task(each if may_end else _lasting(each)) for each in works
            )
            try:
                yield tasks
            finally:
                await ended(tasks, END_S)
    except BaseExceptionGroup as failed:
        if len(failed.exceptions) > 1:
            raise
        raise failed.exceptions[0] from None


async def until_terminated(
    *works: Coroutine[Any, Any, object],
    begun: Callable[[], Awaitable[object]] | None = None,
) -> None:
    """In a child: do works until it is told to end, by SIGTERM; say when they have `begun`.

    To be called once. The parent (`bench.rig.child`) waits for the word on standard output.

    Raises:
        RuntimeError: a work ended by itself.
        Exception: what a work failed with.
    """
    told = asyncio.Event()
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, told.set)
    async with beside(*works):
        if begun is not None:
            await begun()
        print("ready", flush=True)
        await told.wait()


async def _lasting(work: Coroutine[Any, Any, object]) -> None:
    await work
    raise RuntimeError(f"{work!r} ended before what waits for it")
