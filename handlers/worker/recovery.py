"""Finding out where a partition stands: from its checkpoint, then from the log.

A checkpoint counts only if it is of this log, of this code, and if the log still holds
the input it was taken at. Otherwise the whole log is folded.
"""

import asyncio
import logging
from dataclasses import dataclass
from uuid import UUID

from handlers import turns
from handlers.aids import Bringer
from handlers.worker.listening import Progress, tell_nobody
from handlers.worker.standing import Standing
from schemas import checkpoint as codec
from schemas.reading import read_input
from schemas.state import PartitionState
from schemas.subjects import outputs_of
from streams.checkpoints import Checkpoint, Checkpoints
from streams.errors import LogDamaged
from streams.log import ReadableLog
from streams.order import groups

BEHIND_S = 0.05
"""How long to wait for a reader that is behind the writes, each time."""

PATIENCE = 200
"""How many times; what is not whole by then never will be."""

GROUPS_BETWEEN_NEWS = 500

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Recovery:
    """What partitions are recovered with."""

    log: ReadableLog
    bringer: Bringer
    checkpoints: Checkpoints | None
    code: str
    """A digest of the code; a checkpoint of other code is not used."""
    progress: Progress = tell_nobody

    async def recover(self, partition: int) -> Standing:
        """Fold a partition up to the last group that its log holds.

        Raises:
            LogUnavailable: the broker does not answer.
            LogDamaged, UnreadableOutputError: the log cannot be folded.
            MissingPackError: a pack in force has no blob any more.
        """
        standing = await self._from_checkpoint(partition)
        end = await self._end(partition)
        for _ in range(PATIENCE):
            standing = await self._fold(standing, end)
            if standing.last_output >= end:
                return standing
            await asyncio.sleep(BEHIND_S)
        raise LogDamaged(
            "incomplete", end, f"the last group of partition {partition} is not whole"
        )

    async def _end(self, partition: int) -> int:
        return await self.log.last_sequence(outputs_of(partition))

    async def _fold(self, standing: Standing, end: int) -> Standing:
        """Fold whatever groups follow."""
        state, last_output = standing.state, standing.last_output
        last_input_id, folded = standing.last_input_id, standing.folded
        await self.bringer.bring_packs_of(state)
        recorded = groups(self.log, standing.partition, state.position)
        async for group, taken, aids in self.bringer.along(recorded):
            state = turns.fold(state, taken, group.outputs, aids)
            last_output = group.outputs[-1].sequence
            last_input_id = taken.id
            folded += 1
            if folded % GROUPS_BETWEEN_NEWS == 0:
                self.progress(standing.partition, last_output, end)
        return Standing(standing.partition, state, last_output, last_input_id, folded)

    async def _from_checkpoint(self, partition: int) -> Standing:
        fresh = Standing(partition, PartitionState())
        kept = await self.checkpoints.load(partition) if self.checkpoints else None
        if kept is None:
            return fresh
        if (fault := await self._fault(kept)) is not None:
            _log.info(
                "the checkpoint of partition %d is not used: %s", partition, fault
            )
            return fresh
        try:
            state = codec.load(kept.state)
        except codec.CheckpointError as error:
            _log.info(
                "the checkpoint of partition %d is not used: %s", partition, error
            )
            return fresh
        return Standing(partition, state, kept.last_output, kept.message_id)

    async def _fault(self, kept: Checkpoint) -> str | None:
        """Why a checkpoint does not fit; None if it does."""
        if kept.epoch != self.log.epoch:
            return f"it is of the log {kept.epoch}, not {self.log.epoch}"
        if kept.code != self.code:
            return "it was made by other code"
        record = await self.log.record(kept.sequence)
        if record is None or read_input(record).id != kept.message_id:
            return f"the log does not hold its input at sequence {kept.sequence}"
        return None


def checkpoint_of(standing: Standing, epoch: UUID, code: str) -> Checkpoint:
    """The checkpoint of a partition as it stands."""
    return Checkpoint(
        partition=standing.partition,
        sequence=standing.state.position,
        message_id=standing.last_input_id,
        last_output=standing.last_output,
        epoch=epoch,
        code=code,
        state=codec.dump(standing.state),
    )
