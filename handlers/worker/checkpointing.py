"""Saving checkpoints: every few thousand groups, in the background, one at a time."""

import asyncio
import logging
from collections import Counter
from collections.abc import Mapping, Sequence
from uuid import UUID

from handlers.mind.turn import Turn
from handlers.worker.partition_owner import PartitionOwner
from handlers.worker.recovery import checkpoint_of
from schemas.messages.controls import SessionStarted
from streams.jetstream.checkpoints import Checkpoints

_log = logging.getLogger(__name__)

GROUPS_BETWEEN = 15_000
"""About how many groups, of all partitions together, a start has to fold at most."""

_GROUPS_AT_END = 100
"""A partition with so many unsaved groups is saved when the worker ends."""

_END_S = 10.0
"""How long saving may take when the worker ends: the broker may be away."""


class Saver:
    """Saves the checkpoints of all partitions."""

    def __init__(
        self,
        checkpoints: Checkpoints | None,
        epoch: UUID,
        code: str,
        groups_between: int = GROUPS_BETWEEN,
    ) -> None:
        """Save to `checkpoints`; without a store nothing is saved."""
        self._checkpoints = checkpoints
        self._epoch = epoch
        self._code = code
        self._groups_between = groups_between
        self._groups: Counter[int] = Counter()
        """Groups of each partition since its newest checkpoint."""
        self._saving: asyncio.Task[None] | None = None

    def recovered(self, standing: PartitionOwner) -> None:
        """Count what had to be folded, so that the next start need not fold it again."""
        self._groups[standing.partition] = standing.folded

    def note(self, turns: Sequence[Turn]) -> None:
        """Count acknowledged groups; the start of a session is worth a checkpoint."""
        for turn in turns:
            # Replays begin at sessions, so a state before one is asked for again and again.
            starts = isinstance(turn.input.message, SessionStarted)
            self._groups[turn.input.partition] += self._groups_between if starts else 1

    def save(self, owners: Mapping[int, PartitionOwner]) -> None:
        """Start saving the partition with most unsaved groups, if one is due and none
        runs.
        """
        is_busy = self._saving is not None and not self._saving.done()
        if is_busy or self._groups.total() < self._groups_between:
            return
        ((partition, _),) = self._groups.most_common(1)
        self._saving = asyncio.create_task(self._save(owners[partition]))

    def forget(self, partition: int) -> None:
        """Save no more of a partition."""
        self._groups.pop(partition, None)

    async def finish(self, owners: Mapping[int, PartitionOwner]) -> None:
        """Save what is worth it, and wait for it, for `_END_S` seconds at most."""
        try:
            async with asyncio.timeout(_END_S):
                if self._saving is not None:
                    await self._saving
                for partition, groups in self._groups.most_common():
                    if groups >= _GROUPS_AT_END:
                        await self._save(owners[partition])
        except TimeoutError:
            _log.warning("not all checkpoints were saved: the next start takes longer")

    async def _save(self, standing: PartitionOwner) -> None:
        # Reset first: groups that are answered while this is written count for the next
        # one.
        self._groups[standing.partition] = 0
        await self._write(standing)

    async def _write(self, standing: PartitionOwner) -> None:
        if self._checkpoints is None or not standing.state.position:
            return
        # A state is a value, so a thread may write it down while the next is made.
        made = await asyncio.to_thread(checkpoint_of, standing, self._epoch, self._code)
        await self._checkpoints.save(made)
