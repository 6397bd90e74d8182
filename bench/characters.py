"""How soon reflexes answer while every model hangs: `python -m bench.characters`.

So many characters are told of their bodies in turn, together at each rate; every second report
is one that a reflex answers. The talker of each has asked a model that never answers, and does
so again when that is given up. A line for each rate: how many events a second were answered,
latency from publishing to the reflex's decision at a follower, the part of it within broker and
worker, the processors' shares, and what limited it.
"""

import argparse
import asyncio
import os
import time
from dataclasses import dataclass

import psutil  # type: ignore[import-untyped]  # has no types

from bench import hanging, villagers, world
from bench.open_loop import WARM_UP_S, Latency, open_loop
from bench.rig import Rig, answered, child, cpu_s, load_packs, rig, store_all
from echoic.run.process import prepare
from schemas.values.subjects import partition_of

AGENTS = 100
RATES = (50, 100, 150, 200, 250, 300)
SECONDS = 8.0
AIM_MS = 12.0
"""At most so much is wanted of p95 at 100 events/s, on two cores."""

HEAD = (
    "| events/s | answered/s | by reflex | p50 ms | p95 ms | p99 ms | p95 in broker and worker"
    " | worker | broker | bench | others | limited by |\n"
    "|---|---|---|---|---|---|---|---|---|---|---|---|"
)


@dataclass(frozen=True, slots=True)
class Load:
    """How much of a processor each took, 1 for all of one."""

    worker: float
    broker: float
    bench: float
    others: float


@dataclass(frozen=True, slots=True)
class Point:
    """What came of one rate."""

    per_s: int
    answered_per_s: float
    by_reflex: float
    wire: Latency
    """Of reflexes, from publishing to a follower."""
    inside: Latency
    """Of reflexes, from the event in the log to the decision in the log."""
    load: Load

    @property
    def limit(self) -> str:
        """What kept the rate or the latency from being better."""
        load = self.load
        ours = load.worker + load.broker + load.bench
        if load.others > 0.2:
            return "other programs: measure again"
        if ours > 0.95 * _cores():
            return "all processors"
        if load.worker > 0.9:
            return "the worker's processor"
        if self.answered_per_s < 0.97 * self.per_s:
            return "the bench's publisher, or the way into the log"
        if self.inside.p95_ms > AIM_MS:
            return "broker and worker: the disk's syncs"
        return "nothing" if self.wire.p95_ms <= AIM_MS else "the way into the log"

    def row(self) -> str:
        """Return it as a line of the table."""
        load, wire = self.load, self.wire
        shares = (load.worker, load.broker, load.bench, load.others)
        cells = (
            f"{self.per_s}", f"{self.answered_per_s:.0f}", f"{self.by_reflex:.0%}",
            f"{wire.p50_ms:.1f}", f"{wire.p95_ms:.1f}", f"{wire.p99_ms:.1f}",
            f"{self.inside.p95_ms:.1f}", *(f"{each:.0%}" for each in shares), self.limit,
        )  # fmt: skip
        return f"| {' | '.join(cells)} |"


async def measured(agents: int, rates: list[int], seconds: float) -> None:
    """Measure each rate in turn, by a worker of its own, and print it."""
    names = villagers.names(agents)
    async with rig() as running, hanging.model(hanging.hang) as base:
        async with child(running, "bench.worker"):
            await meet(running, villagers.met(names))
        reports = villagers.Reports(names)
        print(HEAD, flush=True)
        for per_s in rates:
            try:
                point = await _point(running, base, reports, per_s, seconds)
            except TimeoutError:
                print(f"| {per_s} | too few: what was told in {seconds:g} s is not answered"
                      " half a minute later |")  # fmt: skip
                return
            print(point.row(), flush=True)


async def meet(running: Rig, first: list[world.Event]) -> None:
    """Let a running worker hear of each body once, with the pack in force."""
    partitions = sorted({partition_of(each.agent) for each in first})
    await load_packs(running, [villagers.pack()], partitions)
    for last in await store_all(running, [each.wire for each in first]):
        await answered(running, last)


async def _point(
    running: Rig, base: str, reports: villagers.Reports, per_s: int, seconds: float
) -> Point:
    events = reports.events(int(per_s * (seconds + WARM_UP_S)), seed=per_s)
    async with child(running, hanging.MODULE, base) as worker:
        ids = (worker.pid, running.server.process_id, os.getpid())
        programs = [psutil.Process(each) for each in ids]
        began, spent = time.perf_counter(), [cpu_s(each) for each in programs]
        busy = _busy_s()
        loop = await open_loop(running, events, per_s, reports.body, reports.notice)
        took = time.perf_counter() - began
        worker_s, broker_s, bench_s = (
            cpu_s(each) - before for each, before in zip(programs, spent, strict=True)
        )
        others_s = _busy_s() - busy - worker_s - broker_s - bench_s
    wire, inside = loop.latencies("reflex")
    load = Load(worker_s / took, broker_s / took, bench_s / took, others_s / took)
    return Point(per_s, loop.per_s, loop.share("reflex"), wire, inside, load)


def _busy_s() -> float:
    """Return the seconds of all processors that were used so far, by whomever."""
    times = psutil.cpu_times()
    return float(sum(times) - times.idle - times.iowait - times.guest)


def _cores() -> int:
    return len(os.sched_getaffinity(0))


def main() -> None:
    """Measure and print."""
    prepare()
    parser = argparse.ArgumentParser(
        prog="python -m bench.characters", description=__doc__
    )
    parser.add_argument("--agents", type=int, default=AGENTS)
    parser.add_argument("--rates", type=int, nargs="+", default=list(RATES))
    parser.add_argument("--seconds", type=float, default=SECONDS)
    args = parser.parse_args()
    asyncio.run(measured(args.agents, args.rates, args.seconds))


if __name__ == "__main__":
    main()
