"""Live figures: how many events a second, how soon an answer, how much memory."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace

import psutil  # type: ignore[import-untyped]  # has no types

from bench import bare, world
from bench.open_loop import WARM_UP_S, Latency, open_loop
from bench.rig import (
    PARTITIONS,
    Rig,
    answered,
    child,
    cpu_s,
    load_packs,
    rate,
    rig,
    store,
    store_all,
    workers,
    written,
)
from schemas.values.record import Wire
from schemas.values.subjects import outputs_of, partition_of

# About a hundred full batches of the bare loop: long enough for a steady rate.
BARE_INPUTS = 20_000
LATENCY_S = 8.0
SETTLE_S = 1.5
"""Three times as long as traces wait for others before they are sent."""


@dataclass(frozen=True, slots=True)
class Throughput:
    """Rate, cost and memory of workers whose inputs waited for them."""

    events_per_s: float
    worker_us: float
    """CPU of all workers an event, in microseconds, from when they are ready."""
    broker_us: float
    """CPU of the broker an event, meanwhile."""
    rss_mb: float
    """The highest memory seen."""
    pss_mb: float
    """At the end, with its share of pages that other processes use too."""


async def bare_loop(inputs: int = BARE_INPUTS) -> float:
    """Measure the events per second of the bare loop."""
    bodies = [event.body for event in world.events(inputs)]
    headers = {"ce-specversion": "1.0"}
    wires = [Wire(bare.INPUT, headers, body) for body in bodies]
    async with rig() as running:
        last = await store(running, wires)
        async with child(running, "bench.bare"):
            # Its outputs have no marks: they are counted.
            await written(running, last + bare.OUTPUTS * len(wires))
        return await rate(running, last, len(wires))


@asynccontextmanager
async def with_packs(heuristics: int, first_seed: int = 1) -> AsyncIterator[Rig]:
    """Run a rig whose log has packs in force; the worker that loaded them is stopped."""
    async with rig(first_seed) as running:
        async with child(running, "bench.worker"):
            await load_packs(running, world.packs(heuristics))
        yield running


async def throughput(
    running: Rig, count: int, processes: int = 1, *, collector: str = ""
) -> Throughput:
    """Let fresh workers, each with its partitions, answer events that are in the log.

    With a collector's address, they send it their traces.
    """
    first = await running.log.last_sequence(outputs_of("*"))
    stored = await store_all(running, [each.wire for each in running.events(count)])
    rss = 0
    # All begin together: one that came later would find the others half way.
    async with workers(running, processes, collector) as started:
        broker = psutil.Process(running.server.process_id)
        begun_s = cpu_s(*started), cpu_s(broker)

        def watch() -> None:
            nonlocal rss
            rss = max(rss, *(each.memory_info().rss for each in started))

        for last in stored:
            await answered(running, last, watch)
        watch()
        # What a worker does after its answers, such as sending traces, is its cost too.
        await asyncio.sleep(SETTLE_S)
        spent_s = cpu_s(*started) - begun_s[0], cpu_s(broker) - begun_s[1]
        # PSS is read once, at the end: the kernel walks every page for it, which takes time
        # from the workers that are measured.
        pss = max(each.memory_full_info().pss for each in started)
    return Throughput(
        await rate(running, first, count),
        spent_s[0] / count * 1e6,
        spent_s[1] / count * 1e6,
        rss / 2**20,
        pss / 2**20,
    )


async def crowd(
    running: Rig, agents: int, per_s: int, seconds: float = LATENCY_S
) -> Latency:
    """Measure latency when events come to many agents in turn, all known already."""
    names = [
        name
        # Only about half of the partitions have packs, so more names than needed are tried.
        for name in (f"agent{number}" for number in range(4 * agents))
        if partition_of(name) in PARTITIONS
    ][:agents]
    met = [
        replace(event, agent=name)
        for event, name in zip(running.events(agents), names, strict=True)
    ]
    stored = await store_all(running, [event.wire for event in met])
    async with child(running, "bench.worker"):
        for last in stored:
            await answered(running, last)
    return (await latency(running, per_s, agents=names, seconds=seconds))[0]


async def latency(
    running: Rig,
    per_s: int,
    *,
    worker: Sequence[str] = ("bench.worker",),
    path: str = "",
    agents: Sequence[str] = (),
    seconds: float = LATENCY_S,
) -> tuple[Latency, Latency]:
    """Measure from publishing to the decision as a follower gets it, and as it is stored.

    The second is the broker's time of the decision minus that of its event in the log.
    Events come in an open loop: whoever is late does not slow them down. With a path,
    only decisions that took it count; with agents, events are theirs.
    """
    events = running.events(int(per_s * (seconds + WARM_UP_S)))
    if agents:
        # Another one each time: their neighbours in the list are of other partitions.
        events = [
            replace(event, agent=agents[7 * number % len(agents)])
            for number, event in enumerate(events)
        ]
    async with child(running, *worker):
        loop = await open_loop(running, events, per_s)
    return loop.latencies(path)
