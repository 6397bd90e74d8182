"""Throughput, cost and latency by workers and agents: `python -m bench.scaling`.

    python -m bench.scaling [--workers 1 2 4] [--agents 1 100 10000] [--events 6000]

Each number of agents is a new log with 1,000 heuristics in force in all partitions, whose
agents all are known already. Rates are of events that wait in the log, answered by workers
that begin together, each a process with its part of the partitions (`worker.processes`);
`ratio` is to the bare loop of the same run (`bench.bare`). Latencies are of an open loop of
100 events/s, from publishing to the decision at a follower. CPU is counted by process, so it
holds on a machine that does other things, where rates and latencies do not.
"""

import argparse
import asyncio
import itertools
import json
import os
import sys
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import asdict, dataclass, replace
from pathlib import Path

# Before numpy is loaded: a second thread of it takes another process's processor.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import psutil  # type: ignore[import-untyped]  # has no types

from bench import live, world
from bench.open_loop import WARM_UP_S, open_loop
from bench.rig import (
    Rig,
    answered,
    child,
    cpu_s,
    load_packs,
    rate,
    rig,
    store_all,
    workers,
)
from echoic.run.process import prepare
from schemas.values.subjects import ALL_PARTITIONS, inputs_of, outputs_of
from streams.jetstream.connection import call
from streams.topology import LOG

HEURISTICS = 1_000
PER_S = 100
OPEN_S = 8.0
MB = 2**20
DISK_BLOCK = 512
"""Bytes that `st_blocks` counts in, on every system."""


@dataclass(frozen=True, slots=True)
class Row:
    """What so many workers and agents came to."""

    workers: int
    agents: int
    events_per_s: float
    ratio: float
    """Of the bare loop's rate in the same run."""
    worker_us: float
    """CPU of all workers an event, in microseconds."""
    broker_us: float
    p50_ms: float
    p95_ms: float
    lone_worker_us: float
    """CPU of all workers an event that comes alone, at `PER_S`."""
    lone_broker_us: float
    worker_mb: float
    """The highest resident memory of a worker."""
    broker_mb: float
    start_s: float
    """CPU seconds of a worker until it can answer, over the log so far; the highest."""
    log_bytes: float
    """Of the log on disk so far, an input with its answers."""


async def measured(
    workers: Sequence[int], agents: Sequence[int], events: int
) -> list[Row]:
    """Measure each number of agents by each number of workers."""
    say("the bare loop")
    bare = await live.bare_loop()
    rows = []
    for count in agents:
        async with _with_agents(count) as (running, names):
            for processes in workers:
                say(f"{processes} workers, {count} agents")
                row = await _row(running, names, processes, events, bare)
                # At once: a run takes minutes, and may not reach its end.
                say(json.dumps(asdict(row)))
                rows.append(row)
    return rows


@asynccontextmanager
async def _with_agents(count: int) -> AsyncIterator[tuple[Rig, Sequence[str]]]:
    """Run a rig with packs in force, whose agents have all been told something."""
    names = [f"agent{number}" for number in range(count)]
    async with rig() as running:
        met = _told(running.events(count), names)
        async with child(running, "bench.worker"):
            await load_packs(running, world.packs(HEURISTICS), ALL_PARTITIONS)
            for last in await store_all(running, [event.wire for event in met]):
                await answered(running, last)
        yield running, names


def _told(events: Sequence[world.Event], names: Sequence[str]) -> list[world.Event]:
    """Return the events as told to agents in turn."""
    pairs = zip(events, itertools.cycle(names), strict=False)
    return [replace(event, agent=name) for event, name in pairs]


async def _row(
    running: Rig, names: Sequence[str], processes: int, events: int, bare: float
) -> Row:
    first = await running.log.last_sequence(outputs_of("*"))
    waiting = _told(running.events(events), names)
    stored = await store_all(running, [event.wire for event in waiting])
    async with _workers(running, processes) as ran:
        for last in stored:
            await answered(running, last)
        worker_s, broker_s = ran.spent()
        memory, start_s = ran.memory(), max(ran.starts_s)
    per_s = await rate(running, first, events)
    size = _stored_bytes(running) / await _inputs(running)

    lone = _told(running.events(int(PER_S * (OPEN_S + WARM_UP_S))), names)
    async with _workers(running, processes) as ran:
        loop = await open_loop(running, lone, PER_S)
        lone_worker_s, lone_broker_s = ran.spent()
    latency = loop.latencies()[0]
    return Row(
        workers=processes,
        agents=len(names),
        events_per_s=round(per_s),
        ratio=round(per_s / bare, 2),
        worker_us=round(worker_s / events * 1e6),
        broker_us=round(broker_s / events * 1e6),
        p50_ms=round(latency.p50_ms, 1),
        p95_ms=round(latency.p95_ms, 1),
        lone_worker_us=round(lone_worker_s / len(lone) * 1e6),
        lone_broker_us=round(lone_broker_s / len(lone) * 1e6),
        worker_mb=round(memory[0]),
        broker_mb=round(memory[1]),
        start_s=round(start_s, 1),
        log_bytes=round(size),
    )


@dataclass(frozen=True, slots=True)
class _Processes:
    """The processes that are measured, and what each had taken when it was ready."""

    workers: Sequence[psutil.Process]
    broker: psutil.Process
    starts_s: Sequence[float]
    """CPU seconds of each worker until it was ready: the first answers before the last is."""
    broker_s: float
    """CPU seconds of the broker until the first worker was ready."""

    def spent(self) -> tuple[float, float]:
        """Return the CPU seconds of all workers and of the broker since then."""
        workers = cpu_s(*self.workers) - sum(self.starts_s)
        return workers, cpu_s(self.broker) - self.broker_s

    def memory(self) -> tuple[float, float]:
        """Return the resident memory of the largest worker and of the broker, in MB."""
        largest = max(each.memory_info().rss for each in self.workers)
        return largest / MB, self.broker.memory_info().rss / MB


@asynccontextmanager
async def _workers(running: Rig, processes: int) -> AsyncIterator[_Processes]:
    """Run workers that share the partitions, once all are ready."""
    broker = psutil.Process(running.server.process_id)
    ready: list[tuple[psutil.Process, float, float]] = []

    def note(started: psutil.Process) -> None:
        ready.append((started, cpu_s(started), cpu_s(broker)))

    async with workers(running, processes, note=note):
        started, starts_s, broker_s = zip(*ready, strict=True)
        yield _Processes(started, broker, starts_s, min(broker_s))


async def _inputs(running: Rig) -> int:
    """Return how many inputs the log has."""
    request = {"subjects_filter": inputs_of("*")}
    info = await call(running.client, f"$JS.API.STREAM.INFO.{LOG.name}", request)
    return sum(info["state"]["subjects"].values())


def _stored_bytes(running: Rig) -> int:
    """Return what the log's files take on disk."""
    (log,) = Path(running.server.folder).rglob(f"streams/{LOG.name}")
    size = 0
    for each in log.rglob("*"):
        # The server replaces some of them at any time.
        with suppress(FileNotFoundError):
            size += each.stat().st_blocks * DISK_BLOCK
    return size


def as_table(rows: Sequence[Row]) -> str:
    """Return the rows as Markdown."""
    names = list(asdict(rows[0]))
    lines = [names, ["---"] * len(names)]
    lines += [[f"{value:g}" for value in asdict(row).values()] for row in rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def say(what: str) -> None:
    """Tell how far it is."""
    print(f"{time.strftime('%H:%M:%S')} {what}", file=sys.stderr, flush=True)


def main() -> None:
    """Measure what is asked for, and print it."""
    parser = argparse.ArgumentParser(
        prog="python -m bench.scaling", description=__doc__
    )
    parser.add_argument("--workers", type=int, nargs="+", default=(1, 2, 4))
    parser.add_argument("--agents", type=int, nargs="+", default=(1, 100, 10_000))
    parser.add_argument("--events", type=int, default=6_000)
    parser.add_argument("--json", action="store_true")
    given = parser.parse_args()
    rows = asyncio.run(measured(given.workers, given.agents, given.events))
    told = [asdict(each) for each in rows]
    print(json.dumps(told, indent=2) if given.json else as_table(rows))


if __name__ == "__main__":
    prepare()
    main()
