"""The samples of all processes of an instance, joined for one endpoint.

Each child process reports its samples by a line of its output, once a second; the instance
keeps the last report of each and gives every sample the name of its process. When a process
ends its report goes, so that Prometheus sees a counter reset and no stale gauge.
"""

import asyncio
import json
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Protocol

from prometheus_client import CollectorRegistry
from prometheus_client.core import Metric as Family
from prometheus_client.registry import Collector

from echoic.metrics.catalogue import INSTANCE, METRICS, PROCESS, UP

MARK = "metrics: "
"""How a line of news begins that is a report."""
_EVERY_S = 1.0
"""Seconds between two reports of a process."""
_STALE_S = 10.0
"""Seconds without a report after which a process counts as not working."""

_Sample = tuple[str, str, Mapping[str, str], float]
"""The family's name, the sample's own, its labels and its value."""

_FAMILIES = {each.name.removesuffix("_total"): each for each in METRICS}


class Source(Protocol):
    """Something that counts, within one process."""

    @property
    def registry(self) -> CollectorRegistry:
        """Holds what it counts."""
        ...

    def look(self) -> None:
        """Set what is counted only when somebody asks."""
        ...


def samples_of(source: Source) -> list[_Sample]:
    """Return every sample of a source, but not when each counter was created."""
    source.look()
    return [
        (family.name, sample.name, sample.labels, sample.value)
        for family in source.registry.collect()
        for sample in family.samples
        if not sample.name.endswith("_created")
    ]


async def report(source: Source, tell: Callable[[str], None]) -> None:
    """Report, in a child process, a source's samples until cancelled."""
    while True:
        # In a thread: with many agents counting takes milliseconds.
        found = await asyncio.to_thread(samples_of, source)
        tell(MARK + json.dumps(found))
        await asyncio.sleep(_EVERY_S)


class Reports(Collector):
    """What the endpoint of an instance shows."""

    def __init__(
        self, instance: CollectorRegistry, children: Iterable[str] = ()
    ) -> None:
        """`instance` holds what has no process; `children` are reported by lines."""
        self._instance = instance
        self._own: dict[str, tuple[Source, Callable[[], bool]]] = {}
        self._children: dict[str, tuple[float, list[_Sample]] | None] = dict.fromkeys(
            children
        )

    def add(self, process: str, source: Source, is_ready: Callable[[], bool]) -> None:
        """Show a source within this process; `is_ready` tells whether it works yet."""
        self._own[process] = (source, is_ready)

    def take(self, process: str, line: str) -> bool:
        """Take a child's line if it is a report; tell whether it was."""
        if not line.startswith(MARK):
            return False
        self._children[process] = time.monotonic(), json.loads(line[len(MARK) :])
        return True

    def forget(self, process: str) -> None:
        """Drop the report of a process that has ended."""
        self._children[process] = None

    def collect(self) -> Iterator[Family]:
        """Yield each metric once, with the samples of every process."""
        families = {
            name: Family(name, each.meaning, each.kind)
            for name, each in _FAMILIES.items()
            if each not in INSTANCE
        }
        # A copy, as the event loop may add to it while this thread reads.
        for process, found in self._found():
            families[UP.name].add_sample(UP.name, {PROCESS: process}, found is not None)
            for family, name, labels, value in found or ():
                shown = families.get(family)
                if shown is not None:
                    shown.add_sample(name, {**labels, PROCESS: process}, value)
        yield from (each for each in families.values() if each.samples)
        yield from self._instance.collect()

    def _found(self) -> Iterator[tuple[str, list[_Sample] | None]]:
        for process, (source, is_ready) in list(self._own.items()):
            yield process, samples_of(source) if is_ready() else None
        now = time.monotonic()
        for process, last in list(self._children.items()):
            is_fresh = last is not None and now - last[0] < _STALE_S
            yield process, last[1] if last is not None and is_fresh else None
