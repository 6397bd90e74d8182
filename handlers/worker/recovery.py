"""Recovering a partition: its checkpoint first, then whatever the log holds after it."""

import asyncio
from dataclasses import dataclass
from uuid import UUID

from handlers.aids import AidProvider
from handlers.fold_start import Beginnings
from handlers.worker.listening import Progress, tell_nobody
from handlers.worker.partition_owner import PartitionOwner
from projections.folds.partition import fold_recorded
from schemas.codec import checkpoint as codec
from schemas.values.subjects import outputs_of
from streams.errors import LogDamaged
from streams.groups import groups
from streams.jetstream.checkpoints import Checkpoint, Checkpoints, Label
from streams.log import ReadableLog

_BEHIND_S = 0.05
"""How long to wait for a reader that is behind the writes, each time."""

_PATIENCE = 200
"""How many times: 10 s in all; a group that is not whole by then never will be."""

_GROUPS_BETWEEN_NEWS = 500


@dataclass(frozen=True, slots=True)
class Recovery:
    """Folds partitions up to the end of the log."""

    log: ReadableLog
    provider: AidProvider
    checkpoints: Checkpoints | None
    code: str
    """Of `handlers.state_sources.state_code`; a checkpoint of other code is not used."""
    progress: Progress = tell_nobody

    async def recover(self, partition: int) -> PartitionOwner:
        """Fold a partition up to the last group that its log holds.

        Raises:
            LogUnavailable: the broker does not answer.
            LogDamaged, UnreadableOutputError: the log cannot be folded.
            MissingPackError: a pack in force has no blob any more.
        """
        # A checkpoint is a cache: without a fitting one the fold begins before the first
        # message.
        found = await Beginnings(self.log, self.checkpoints, self.code).of(partition)
        standing = PartitionOwner(
            partition, found.state, found.last_output, found.last_input_id
        )
        # Read back from the log: a write of which no acknowledgement came is found here.
        end = await self._end(partition)
        # Pages may come from a replica that lags behind the sequence that the leader gave.
        for _ in range(_PATIENCE):
            standing = await self._fold(standing, end)
            if standing.last_output >= end:
                return standing
            await asyncio.sleep(_BEHIND_S)
        raise LogDamaged(
            "incomplete", end, f"the last group of partition {partition} is not whole"
        )

    async def _end(self, partition: int) -> int:
        return await self.log.last_sequence(outputs_of(partition))

    async def _fold(self, standing: PartitionOwner, end: int) -> PartitionOwner:
        """Fold whatever groups follow."""
        state = standing.state
        # The packs in force at a checkpoint were loaded by inputs before it, not read here.
        await self.provider.fetch_packs_of(state)
        recorded = groups(self.log, standing.partition, state.position)
        async for group, input_, aids in self.provider.for_recorded(recorded):
            # Outputs are folded as recorded; the mind is not asked again what it would say.
            state = fold_recorded(state, input_, group.outputs, aids)
            standing = PartitionOwner(
                standing.partition,
                state,
                group.outputs[-1].sequence,
                input_.id,
                group.input.time_ns,
                standing.folded + 1,
            )
            if standing.folded % _GROUPS_BETWEEN_NEWS == 0:
                self.progress(standing.partition, standing.last_output, end)
        return standing


def checkpoint_of(standing: PartitionOwner, epoch: UUID, code: str) -> Checkpoint:
    """Encode a partition as a checkpoint; takes long, so it runs in a thread."""
    label = Label(
        partition=standing.partition,
        sequence=standing.state.position,
        time_ns=standing.last_input_ns,
        message_id=standing.last_input_id,
        last_output=standing.last_output,
        epoch=epoch,
        code=code,
    )
    return Checkpoint(label=label, state=codec.dump(standing.state))
