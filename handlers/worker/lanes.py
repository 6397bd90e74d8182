"""Lanes: partitions are read apart and served in turn, so none waits for another's flood.

Each partition has a reader of its own, which holds a few records and asks for more when
they are served. Within a partition the order is that of the log; between partitions there
is none.
"""

import asyncio
from collections import deque
from collections.abc import AsyncGenerator, Mapping, Sequence

from handlers.worker.inbox import Arrivals
from schemas.values.record import Record
from schemas.values.subjects import inputs_of
from streams.log import ReadableLog, Records

READ_AT_ONCE = 192
"""How many records of a partition are taken from its reader at once; twice as many are
held at most, besides what the reader asked for and the next that it has ready."""


async def in_turn(
    log: ReadableLog, after: Mapping[int, int], limit: int
) -> AsyncGenerator[Records, None]:
    """Yield the inputs of partitions behind these sequences, at most `limit` at a time.

    Each time every partition that has some gives one before any gives another.

    Raises:
        LogRefused, LogUnavailable: of the first reader that ends.
    """
    lanes = [
        _Lane(Arrivals(log.follow(inputs_of(partition), position, READ_AT_ONCE)))
        for partition, position in after.items()
    ]
    try:
        while True:
            for lane in lanes:
                lane.take_in()
            # Nothing is at hand: sleep until any reader has something, then look at all.
            if not any(lane.waiting for lane in lanes):
                await asyncio.wait(
                    {lane.arrivals.coming() for lane in lanes},
                    return_when=asyncio.FIRST_COMPLETED,
                )
                continue
            yield tuple(served(lanes, limit))
            # Whoever came first gives way next time, where the limit leaves some out.
            lanes.append(lanes.pop(0))
    finally:
        for lane in lanes:
            # Also when one reader failed: the others would keep their subscriptions open.
            await lane.arrivals.close()


class _Lane:
    """One partition: its reader, and the records that were read and not yet served."""

    def __init__(self, arrivals: Arrivals) -> None:
        self.arrivals = arrivals
        self.waiting: deque[Record] = deque()

    def take_in(self) -> None:
        """Queue what was read, unless enough waits, and start the next read."""
        if len(self.waiting) < READ_AT_ONCE:
            self.waiting.extend(self.arrivals.arrived())
            self.arrivals.coming()


def served(lanes: Sequence[_Lane], limit: int) -> list[Record]:
    """Remove and return up to `limit` records, one of each lane in turn."""
    taken: list[Record] = []
    while len(taken) < limit and any(lane.waiting for lane in lanes):
        for lane in lanes:
            if lane.waiting and len(taken) < limit:
                taken.append(lane.waiting.popleft())
    return taken
