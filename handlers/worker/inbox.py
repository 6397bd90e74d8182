"""What arrives in the log, read with a timeout that loses nothing."""

import asyncio
from collections.abc import AsyncIterator
from typing import Any

from streams.log import Records

# How long a cancelled read may take to end before it is cancelled once more.
CANCEL_AGAIN_S = 0.1


class Arrivals:
    """An endless iterator of records that one can stop waiting for and come back to."""

    def __init__(self, arriving: AsyncIterator[Records]) -> None:
        """Own the iterator: nobody else may advance or close it."""
        self._arriving = arriving
        self._next: asyncio.Future[Records] | None = None

    async def within(self, seconds: float | None) -> Records:
        """Return the next records; nothing if none come in so many seconds.

        Raises:
            StopAsyncIteration: nothing will come any more.
        """
        # `wait`, not `wait_for`: that would cancel the read at the timeout, and lose its
        # records.
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
        """Return a future of the next records; the same one until they are fetched."""
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
        """Stop waiting, and close the iterator."""
        while self._next is not None and not self._next.done():
            # Once may not be enough: see `heed_cancellation`.
            self._next.cancel()
            await asyncio.wait({self._next}, timeout=CANCEL_AGAIN_S)
        close = getattr(self._arriving, "aclose", None)
        if close is not None:
            await close()
