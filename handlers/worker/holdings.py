"""The partitions that a worker owns: taken up, left and folded again while others go on."""

import asyncio
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import Any, TypeVar

from handlers.worker.checkpointing import Saver
from handlers.worker.clock import Alarms
from handlers.worker.entering import Entrance
from handlers.worker.lanes import Lanes
from handlers.worker.partition_owner import PartitionOwner
from schemas.state.agent import PartitionState


class Holdings:
    """How far each partition is, what is read of it, its timers and its checkpoints."""

    def __init__(
        self, entrance: Entrance, lanes: Lanes, alarms: Alarms, saver: Saver
    ) -> None:
        """Own nothing yet."""
        self.owners: dict[int, PartitionOwner] = {}
        """Only what the log has acknowledged; turns decided ahead are the worker's own."""
        self.rest = _AtRest(lanes.wake)
        self._entrance = entrance
        self._lanes = lanes
        self._alarms = alarms
        self._saver = saver

    @property
    def holding(self) -> frozenset[int]:
        """The partitions whose inputs are being answered."""
        return frozenset(self.owners)

    async def begin(self, partitions: Sequence[int]) -> None:
        """Take up partitions before any input is answered."""
        (await self._entered(partitions))()

    async def take(self, partition: int) -> None:
        """Take up one more partition; the others are answered meanwhile.

        Raises:
            LogDamaged, UnreadableOutputError, MissingPackError: it cannot be folded.
        """
        if partition not in self.owners:
            await self.rest.make(await self._entered([partition]))

    async def give(self, partition: int) -> None:
        """Leave a partition once what was written of it is stored, and save it."""
        standing = self.owners.get(partition)
        groups = await self.rest.make(partial(self._leave, partition))
        if standing is not None:
            await self._saver.hand_over(standing, groups)

    async def drop(self) -> None:
        """Leave all: others took them, and go on from what the log holds."""
        await self.rest.make(self.let_go)

    def let_go(self) -> None:
        """Leave all, while no input is being answered."""
        for partition in [*self.owners]:
            self._leave(partition)

    async def fold_again(self, partitions: Iterable[int]) -> None:
        """Drop the states of partitions, and fold them from the log."""
        self._adopt(await self._entrance.recover(partitions))

    async def _entered(self, partitions: Sequence[int]) -> Callable[[], None]:
        """Fold and announce partitions; return what then makes them this worker's."""
        standings = await self._entrance.recover(partitions)
        # Recovered first: the announcement is an input like any other, and is answered.
        await self._entrance.announce(partitions)
        begins = await self._entrance.first_to_read(standings)

        def enter() -> None:
            self._adopt(standings)
            for each in standings:
                self._lanes.add(each.partition, begins[each.partition])

        return enter

    def _adopt(self, standings: Iterable[PartitionOwner]) -> None:
        for each in standings:
            self.owners[each.partition] = each
            self._alarms.note_all(each.partition, each.state)
            self._saver.recovered(each)

    def _leave(self, partition: int) -> int:
        """Answer nothing more of a partition; return how many of its groups are unsaved."""
        if self.owners.pop(partition, None) is not None:
            self._lanes.remove(partition)
            self._alarms.note_all(partition, PartitionState())
        return self._saver.forget(partition)


_T = TypeVar("_T")


class _AtRest:
    """Changes that wait until the worker answers nothing and no write is under way.

    Each lasts no longer than a call.
    """

    def __init__(self, wake: Callable[[], None]) -> None:
        """Ask for a rest by `wake`."""
        self._wake = wake
        self._waiting: deque[tuple[Callable[[], Any], asyncio.Future[Any]]] = deque()

    async def make(self, change: Callable[[], _T]) -> _T:
        """Have a change made, and return its result."""
        done: asyncio.Future[_T] = asyncio.get_running_loop().create_future()
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
