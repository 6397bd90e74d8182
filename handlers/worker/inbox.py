"""What arrives in the log, with an end to waiting."""

import asyncio
from collections.abc import AsyncIterator
from typing import Any

from streams.log import Records

CANCEL_AGAIN_S = 0.1


class Arrivals:
    """An endless iterator of records that one can stop waiting for and come back to."""

    def __init__(self, arriving: AsyncIterator[Records]) -> None:
        """Take the iterator over, and close it in the end."""
        self._arriving = arriving
        self._next: asyncio.Future[Records] | None = None

    async def within(self, seconds: float | None) -> Records:
        """Return the next records; nothing if none come in so many seconds.

        Raises:
            StopAsyncIteration: nothing will come any more.
        """
        await asyncio.wait({self.coming()}, timeout=seconds)
        return self.arrived()

    async def before(self, end: asyncio.Task[None]) -> Records:
        """Return the next records; nothing if none come before `end`.

        Raises:
            StopAsyncIteration: nothing will come any more.
        """
        either: set[asyncio.Future[Any]] = {self.coming(), end}
        await asyncio.wait(either, return_when=asyncio.FIRST_COMPLETED)
        return self.arrived()

    def coming(self) -> asyncio.Future[Records]:
        """Return the next records, once they are there."""
        if self._next is None:
            self._next = asyncio.ensure_future(anext(self._arriving))
        return self._next

    def arrived(self) -> Records:
        """Return the next records if they are there, else nothing.

        Raises:
            StopAsyncIteration: nothing will come any more.
        """
        if self._next is None or not self._next.done():
            return ()
        input_, self._next = self._next, None
        return input_.result()

    async def close(self) -> None:
        """Stop waiting for good."""
        while self._next is not None and not self._next.done():
            # Once may not be enough: see `heed_cancellation`.
            self._next.cancel()
            await asyncio.wait({self._next}, timeout=CANCEL_AGAIN_S)
        close = getattr(self._arriving, "aclose", None)
        if close is not None:
            await close()
