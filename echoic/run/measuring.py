"""The metrics of an instance: what its processes count, and the endpoint that shows it."""

from collections.abc import Iterator
from contextlib import contextmanager

from echoic.config.load import Settings
from echoic.metrics.catalogue import PROJECTOR, WORKERS
from echoic.metrics.endpoint import served
from echoic.metrics.gauges import InstanceGauges
from echoic.metrics.reports import Reports
from echoic.run.supervision import Notify
from streams.log import ReadableLog


class Measuring:
    """What an instance counts, whether or not anybody reads it."""

    def __init__(
        self, settings: Settings, log: ReadableLog, others: int, *, has_tables: bool
    ) -> None:
        """Expect reports of so many other workers, and of a projector if `has_tables`."""
        children = (*WORKERS[1 : others + 1], *([PROJECTOR] if has_tables else []))
        self.gauges = InstanceGauges(log, settings.data)
        self.reports = Reports(self.gauges.registry, children)
        self._listen = settings.metrics_listen

    @contextmanager
    def served(self, notify: Notify) -> Iterator[str | None]:
        """Serve them for the length of the block; yield where, None if switched off."""
        if self._listen is None:
            yield None
            return
        with served(self._listen, self.reports, notify) as url:
            yield url
