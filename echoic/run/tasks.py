"""The background tasks of an instance."""

import asyncio
from collections.abc import Coroutine
from typing import Any, TypeVar

from streams.cancellation import ended

_T = TypeVar("_T")


class Tasks:
    """The background tasks of an instance; the first that fails ends the instance."""

    def __init__(self) -> None:
        self._tasks: dict[str, asyncio.Task[None]] = {}

    def start(self, name: str, work: Coroutine[Any, Any, None]) -> None:
        """Start a task that runs until the instance ends."""
        self._tasks[name] = asyncio.create_task(work, name=name)

    async def failure(self) -> None:
        """Wait until one of them ends, and raise what it ended with."""
        # Not a TaskGroup: it would cancel the siblings, which have to end in the stack's
        # order.
        done, _ = await asyncio.wait(
            self._tasks.values(), return_when=asyncio.FIRST_COMPLETED
        )
        for task in done:
            task.result()

    async def beside(self, work: Coroutine[Any, Any, _T]) -> _T:
        """Await `work`, and return its result; raise the failure of a task that ends before."""
        doing = asyncio.create_task(work)
        try:
            await asyncio.wait(
                (doing, *self._tasks.values()), return_when=asyncio.FIRST_COMPLETED
            )
            if not doing.done():
                await self.failure()
            return await doing
        finally:
            # Nothing may go on over a connection that is closed after this.
            await ended([doing])

    async def stop(self) -> None:
        """Cancel all tasks and wait for their end; drop what they raise."""
        for task in self._tasks.values():
            task.cancel()
        await asyncio.gather(*self._tasks.values(), return_exceptions=True)
