"""The start of a fold: the last checkpoint that fits, else before the first message.

A checkpoint fits if it is of this log and this code, and if the log still holds the input
it was taken at. Worker, projector and commands all start here.
"""

import logging
from dataclasses import dataclass
from datetime import datetime

from schemas.codec import checkpoint as codec
from schemas.codec.decode import read_input
from schemas.state.agent import PartitionState
from schemas.values.record import moment
from schemas.values.subjects import forgettings_of
from streams.jetstream.checkpoints import Checkpoints, Label
from streams.log import ReadableLog

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class _Beginning:
    """A state that was folded before, and what belongs to it."""

    state: PartitionState
    last_output: int = 0
    """The sequence of the last output folded into it, 0 for none."""
    last_input_id: str = ""


@dataclass(frozen=True, slots=True)
class Beginnings:
    """Finds where to begin a fold of one log."""

    log: ReadableLog
    checkpoints: Checkpoints | None
    code: str
    """Of `handlers.state_sources.state_code`; a checkpoint of other code is not used."""

    async def of(
        self, partition: int, *, until: int | None = None, at: datetime | None = None
    ) -> _Beginning:
        """Return the last usable beginning of a partition, at or before an input or a time.

        Raises:
            LogUnavailable: the broker does not answer.
        """
        if self.checkpoints is None:
            return _Beginning(PartitionState())
        # Newest first; one that cannot be used gives way to the one before it.
        for label in await self.checkpoints.labels(partition):
            if _is_by(label, until, at):
                found = await self._at(label, self.checkpoints)
                if found is not None:
                    return found
        return _Beginning(PartitionState())

    async def _at(self, label: Label, checkpoints: Checkpoints) -> _Beginning | None:
        fault = await self._fault(label)
        if fault is None:
            state = await checkpoints.load(label)
            try:
                if state is not None:
                    return _Beginning(
                        codec.load(state), label.last_output, label.message_id
                    )
            except codec.CheckpointError as error:
                fault = str(error)
        _log.info(
            "the checkpoint of partition %d at %d is not used: %s",
            label.partition,
            label.sequence,
            fault,
        )
        return None

    async def _fault(self, label: Label) -> str | None:
        """Return why a checkpoint does not fit; None if it does."""
        # A data folder may have been restored or emptied: sequences alone prove nothing.
        if label.epoch != self.log.epoch:
            return f"it is of the log {label.epoch}, not {self.log.epoch}"
        if label.code != self.code:
            return "it was made by other code"
        # The same sequence must hold the same input, or the log was damaged or replaced.
        record = await self.log.record(label.sequence)
        if record is None or read_input(record).id != label.message_id:
            return f"the log does not hold its input at sequence {label.sequence}"
        # It knows what that person said, which a fold of the log does not any more.
        forgetting = forgettings_of(label.partition)
        if label.sequence < await self.log.last_sequence(forgetting):
            return "a person was forgotten since"
        return None


def _is_by(label: Label, until: int | None, at: datetime | None) -> bool:
    early = until is None or label.sequence <= until
    return early and (at is None or moment(label.time_ns) <= at)
