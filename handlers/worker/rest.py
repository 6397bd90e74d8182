"""Changes to what a worker owns, made while it answers nothing and no write is under way."""

import asyncio
from collections import deque
from collections.abc import Callable
from typing import Any, TypeVar

T = TypeVar("T")


class AtRest:
    """Changes that wait for the next moment of rest; each lasts no longer than a call."""

    def __init__(self, wake: Callable[[], None]) -> None:
        """Ask for a rest by `wake`."""
        self._wake = wake
        self._waiting: deque[tuple[Callable[[], Any], asyncio.Future[Any]]] = deque()

    async def make(self, change: Callable[[], T]) -> T:
        """Have a change made, and return its result."""
        done: asyncio.Future[T] = asyncio.get_running_loop().create_future()
        self._waiting.append((change, done))
        self._wake()
        return await done

    def reached(self) -> None:
        """Make the changes that wait."""
        while self._waiting:
            change, done = self._waiting.popleft()
            # Whoever gave up waiting wants no change any more.
            if not done.done():
                done.set_result(change())
