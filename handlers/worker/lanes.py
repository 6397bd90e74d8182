"""Lanes: partitions are read apart and served in turn, so none waits for another's flood.

Each partition has a reader of its own, which holds a few records and asks for more when
they are served. Within a partition the order is that of the log; between partitions there
is none.
"""

import asyncio
from collections import deque
from collections.abc import Mapping, Sequence
from contextlib import aclosing

from schemas.values.record import Record
from schemas.values.subjects import inputs_of
from streams.cancellation import ended, heed_cancellation
from streams.log import ReadableLog, Records

READ_AT_ONCE = 192
"""How many records of a partition are taken from its reader at once; twice as many are
held at most, besides what the reader asked for and the next that it has ready."""


class Lanes:
    """The records that arrive in some partitions; waiting for them can be given up.

    One future wakes whoever waits. A task for each wait, over a task for each lane, would
    cost more than the mind where events come one at a time.
    """

    def __init__(self, log: ReadableLog, after: Mapping[int, int], limit: int) -> None:
        """Read inputs behind these sequences by partition; serve `limit` at a time."""
        self._log = log
        self._limit = limit
        self._lanes: list[_Lane] = []
        self._full: list[_Lane] = []
        """Those whose readers wait for room."""
        self._news: asyncio.Future[None] | None = None
        self._fault: BaseException | None = None
        self._readers: dict[int, tuple[_Lane, asyncio.Task[None]]] = {}
        """By partition."""
        self._ending: list[asyncio.Task[None]] = []
        """Readers of partitions that are served no more."""
        for partition, position in after.items():
            self.add(partition, position)

    def add(self, partition: int, position: int) -> None:
        """Read the inputs of one more partition, behind a sequence."""
        lane = _Lane()
        reading = self._read(lane, inputs_of(partition), position)
        reader = asyncio.create_task(reading)
        reader.add_done_callback(self._ended)
        self._lanes.append(lane)
        self._readers[partition] = lane, reader

    def remove(self, partition: int) -> None:
        """Serve nothing more of a partition; its reader ends by itself."""
        lane, reader = self._readers.pop(partition)
        self._lanes.remove(lane)
        if lane in self._full:
            self._full.remove(lane)
        reader.remove_done_callback(self._ended)
        reader.cancel()
        self._ending.append(reader)

    async def within(self, seconds: float | None) -> Records:
        """Return the next records; nothing if none come in so many seconds.

        Each partition that has some gives one before any gives another.

        Raises:
            LogRefused, LogUnavailable: of the first reader that ended.
        """
        loop = asyncio.get_running_loop()
        timer = None if seconds is None else loop.call_later(seconds, self.wake)
        try:
            await self._wait()
        finally:
            if timer is not None:
                timer.cancel()
        return self._served()

    async def before(self, end: asyncio.Task[None]) -> Records:
        """Return the next records; nothing if none come before `end`.

        Raises:
            LogRefused, LogUnavailable: of the first reader that ended.
        """
        end.add_done_callback(self.wake)
        try:
            await self._wait()
        finally:
            end.remove_done_callback(self.wake)
        return self._served()

    async def close(self) -> None:
        """Stop reading."""
        for partition in [*self._readers]:
            self.remove(partition)
        ending, self._ending, self._fault = self._ending, [], None
        await ended(ending)

    async def _wait(self) -> None:
        """Wait for a record, the end of a reader, or whoever else calls `wake`."""
        self._news = asyncio.get_running_loop().create_future()
        # Others get to run in any case: a write that was just begun is to be sent.
        if self._fault or any(lane.waiting for lane in self._lanes):
            self.wake()
            await asyncio.sleep(0)
        await self._news

    def wake(self, *_: object) -> None:
        """End a wait, whether there are records or not."""
        if self._news is not None and not self._news.done():
            self._news.set_result(None)

    async def _read(self, lane: "_Lane", subjects: str, position: int) -> None:
        following = self._log.follow(subjects, position, READ_AT_ONCE)
        async with aclosing(following):
            async for records in following:
                heed_cancellation()
                lane.waiting.extend(records)
                self.wake()
                if len(lane.waiting) >= READ_AT_ONCE:
                    self._full.append(lane)
                    lane.has_room.clear()
                    await lane.has_room.wait()

    def _ended(self, reader: asyncio.Task[None]) -> None:
        # Nobody goes on with only some of the partitions.
        if not reader.cancelled():
            self._fault = self._fault or reader.exception()
        self.wake()

    def _served(self) -> Records:
        if self._fault is not None:
            raise self._fault
        taken = served(self._lanes, self._limit)
        for lane in [each for each in self._full if len(each.waiting) < READ_AT_ONCE]:
            self._full.remove(lane)
            lane.has_room.set()
        # Whoever came first gives way next time, where the limit leaves some out.
        if self._lanes:
            self._lanes.append(self._lanes.pop(0))
        return tuple(taken)


class _Lane:
    """One partition: the records that were read and not yet served."""

    def __init__(self) -> None:
        self.waiting: deque[Record] = deque()
        self.has_room = asyncio.Event()


def served(lanes: Sequence[_Lane], limit: int) -> list[Record]:
    """Remove and return up to `limit` records, one of each lane in turn."""
    taken: list[Record] = []
    busy = [lane for lane in lanes if lane.waiting]
    while busy and len(taken) < limit:
        taken += [lane.waiting.popleft() for lane in busy[: limit - len(taken)]]
        busy = [lane for lane in busy if lane.waiting]
    return taken
