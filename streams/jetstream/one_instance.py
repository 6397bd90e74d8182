"""What only one of several instances may do at a time, by a key beside the owners."""

import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

from streams.jetstream.hardened_client import BrokerClient
from streams.jetstream.owners import Entry, OwnerBucket

FORGOTTEN_S = 30.0
"""For how long a key must stand unchanged until its instance counts as dead."""


class OneInstance:
    """The right to do something that instances would spoil for each other.

    A log without a bucket of owners has one instance, which has the right always.
    """

    def __init__(
        self,
        client: BrokerClient,
        key: str,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """Ask by a connection, which the caller closes; `clock` counts seconds."""
        self._bucket, self._key, self._clock = OwnerBucket(client), key, clock
        self._seen: tuple[int, float] = (0, 0.0)
        """The revision of another's key, and since when it is known."""

    @asynccontextmanager
    async def turn(self) -> AsyncIterator[bool]:
        """Tell whether it may be done in the block; False while another one does it.

        Raises:
            LogUnavailable: the broker does not answer.
        """
        if not await self._bucket.exists():
            yield True
            return
        mine = await self._take()
        if mine is None:
            yield False
            return
        try:
            yield True
        finally:
            await self._bucket.write(self._key, b"", mine)

    async def _take(self) -> int | None:
        held = (await self._bucket.read()).get(self._key, Entry(b"", 0))
        if held.value and not self._is_forgotten(held.revision):
            return None
        return await self._bucket.write(self._key, b"1", held.revision)

    def _is_forgotten(self, revision: int) -> bool:
        if self._seen[0] != revision:
            self._seen = revision, self._clock()
        return self._clock() - self._seen[1] >= FORGOTTEN_S
