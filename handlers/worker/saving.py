"""When checkpoints are made: now and then, in the background, one at a time."""

import asyncio
from collections import Counter
from collections.abc import Sequence
from uuid import UUID

from handlers.turns import Turn
from handlers.worker.recovery import checkpoint_of
from handlers.worker.standing import Standing
from schemas.controls import SessionStarted
from streams.checkpoints import Checkpoints

GROUPS_BETWEEN = 10_000
"""How many groups a start may have to fold at most, or little more."""


class Saver:
    """Makes the checkpoints of all partitions."""

    def __init__(
        self,
        checkpoints: Checkpoints | None,
        epoch: UUID,
        code: str,
        groups_between: int = GROUPS_BETWEEN,
    ) -> None:
        """Make none if there is nowhere to keep them."""
        self._checkpoints = checkpoints
        self._epoch = epoch
        self._code = code
        self._groups_between = groups_between
        self._groups: Counter[int] = Counter()
        self._saving: asyncio.Task[None] | None = None

    def recovered(self, standing: Standing) -> None:
        """Count what had to be folded: the next start should not have to."""
        self._groups[standing.partition] = standing.folded

    def note(self, turns: Sequence[Turn]) -> None:
        """Count acknowledged groups; the start of a session is worth a checkpoint."""
        for turn in turns:
            starts = isinstance(turn.taken.message, SessionStarted)
            self._groups[turn.taken.partition] += self._groups_between if starts else 1

    def save(self, standing: Standing) -> None:
        """Begin to save the partition, if that is due and no other is being saved."""
        is_due = self._groups[standing.partition] >= self._groups_between
        is_busy = self._saving is not None and not self._saving.done()
        if self._checkpoints is None or is_busy or not is_due:
            return
        self._groups[standing.partition] = 0
        self._saving = asyncio.create_task(self._save(self._checkpoints, standing))

    async def finish(self) -> None:
        """Wait for the checkpoint that is being saved."""
        if self._saving is not None:
            await self._saving

    async def _save(self, checkpoints: Checkpoints, standing: Standing) -> None:
        # A state is a value, so a thread may write it down while the next is made.
        made = await asyncio.to_thread(checkpoint_of, standing, self._epoch, self._code)
        await checkpoints.save(made)
