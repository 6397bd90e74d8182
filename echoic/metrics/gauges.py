"""What is measured now and then rather than counted: the log, the disk, the read models."""

import asyncio
import shutil
import time
from contextlib import suppress
from pathlib import Path

from prometheus_client import CollectorRegistry

from echoic.metrics import catalogue
from echoic.metrics.series import Series
from projections.projector.projector import Projector
from schemas.values.subjects import inputs_of
from streams.cancellation import heed_cancellation
from streams.errors import StreamsError
from streams.log import ReadableLog
from streams.topology import LOG_SUBJECTS

_EVERY_S = 2.0
"""Seconds between two looks at the log and the disk."""


class InstanceGauges:
    """How far the log has got, and how much room there is for it."""

    def __init__(self, log: ReadableLog, data: Path) -> None:
        """Look at a log, and at the file system of a data folder."""
        self.registry = CollectorRegistry()
        self._log = log
        self._data = data
        self._sequence, self._input_sequence, self._free = (
            Series(each, self.registry) for each in catalogue.INSTANCE
        )

    async def keep(self) -> None:
        """Look every few seconds until cancelled."""
        while True:
            heed_cancellation()
            # What is not known now stays as it was: a gauge must not end the instance.
            with suppress(StreamsError, OSError):
                self._free(shutil.disk_usage(self._data).free)
                self._sequence(await self._log.last_sequence(LOG_SUBJECTS))
                self._input_sequence(await self._log.last_sequence(inputs_of("*")))
            await asyncio.sleep(_EVERY_S)


class ProjectionGauges:
    """How far the read models are behind the log."""

    def __init__(self) -> None:
        """Begin with a projector that has not caught up yet."""
        self.registry = CollectorRegistry()
        self._groups, self._behind, self._lag = (
            Series(each, self.registry) for each in catalogue.PROJECTION
        )
        self._projector: Projector | None = None
        self._level_at = time.monotonic()
        """When the read models were last seen up with the log."""

    def wrote(self, groups: int) -> None:
        """Count the groups of one write; the projector's listener."""
        self._groups(groups)

    def watch(self, projector: Projector) -> None:
        """Look at this projector from now on."""
        self._projector = projector

    def look(self) -> None:
        """Set how many partitions are behind, and for how long any has been."""
        if self._projector is None:
            return
        behind, now = self._projector.behind, time.monotonic()
        self._level_at = self._level_at if behind else now
        self._behind(behind)
        self._lag(now - self._level_at)
