"""The partitions that a worker owns: taken up, left and folded again."""

from collections.abc import Iterable, Sequence
from typing import Protocol

from handlers.worker.checkpointing import Saver
from handlers.worker.clock import Alarms
from handlers.worker.entering import Entrance
from handlers.worker.lanes import Lanes
from handlers.worker.partition_owner import PartitionOwner
from schemas.state.agent import PartitionState


class Tenure(Protocol):
    """What a worker asks before it writes, and after a write of it was refused."""

    def lapsed(self) -> bool:
        """Tell whether nothing may be decided now; it costs no more than reading a clock."""
        ...

    async def look(self) -> bool:
        """Ask the broker whether the partitions are still this worker's; wait for it."""
        ...


class Unlimited:
    """The tenure of a worker whose partitions nobody else takes."""

    def lapsed(self) -> bool:
        """Tell that it goes on."""
        return False

    async def look(self) -> bool:
        """Tell that they are."""
        return True


class Holdings:
    """How far each partition is, what is read of it, its timers and its checkpoints."""

    def __init__(
        self, entrance: Entrance, lanes: Lanes, alarms: Alarms, saver: Saver
    ) -> None:
        """Own nothing yet."""
        self.owners: dict[int, PartitionOwner] = {}
        """Only what the log has acknowledged; turns decided ahead are the worker's own."""
        self._entrance = entrance
        self._lanes = lanes
        self._alarms = alarms
        self._saver = saver

    async def begin(self, partitions: Sequence[int]) -> None:
        """Fold and announce partitions, and own them, before any input is answered.

        Raises:
            LogDamaged, UnreadableOutputError, MissingPackError: one cannot be folded.
        """
        standings = await self._entrance.recover(partitions)
        # Recovered first: the announcement is an input like any other, and is answered.
        await self._entrance.announce(partitions)
        begins = await self._entrance.first_to_read(standings)
        self._adopt(standings)
        for each in standings:
            self._lanes.add(each.partition, begins[each.partition])

    def let_go(self) -> None:
        """Leave all: others took them, and go on from what the log holds."""
        for partition in [*self.owners]:
            del self.owners[partition]
            self._lanes.remove(partition)
            self._alarms.note_all(partition, PartitionState())
            self._saver.forget(partition)

    async def fold_again(self, partitions: Iterable[int]) -> None:
        """Drop the states of partitions, and fold them from the log."""
        self._adopt(await self._entrance.recover(partitions))

    def _adopt(self, standings: Iterable[PartitionOwner]) -> None:
        for each in standings:
            self.owners[each.partition] = each
            self._alarms.note_all(each.partition, each.state)
            self._saver.recovered(each)
