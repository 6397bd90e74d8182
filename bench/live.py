"""Live figures: how many events a second, how soon an answer, how much memory."""

import asyncio
import gc
import time
from collections.abc import AsyncIterator, Iterator, Sequence, Set
from contextlib import AsyncExitStack, aclosing, asynccontextmanager, contextmanager
from dataclasses import dataclass, replace

import orjson
import psutil  # type: ignore[import-untyped]  # has no types

from bench import bare, world
from bench.rig import (
    PARTITIONS,
    Rig,
    answered,
    child,
    load_packs,
    rate,
    rig,
    store,
    written,
)
from schemas.values.record import Record, Wire
from schemas.values.subjects import inputs_of, outputs_of, partition_of
from streams.log import scan

# About a hundred full batches of the bare loop: long enough for a steady rate.
BARE_INPUTS = 20_000
LATENCY_S = 8.0
PATIENCE_S = 30.0
SETTLE_S = 1.5
"""Three times as long as traces wait for others before they are sent."""
WARM_UP_S = 1.0
"""So much of an open loop is not counted."""

DECIDED = "ev.*.out.*.decision.decided"


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


@dataclass(frozen=True, slots=True)
class Latency:
    """Milliseconds at one rate of events."""

    p50_ms: float
    p95_ms: float
    p99_ms: float


async def bare_loop() -> float:
    """Measure the events per second of the bare loop."""
    bodies = [event.body for event in world.events(BARE_INPUTS)]
    headers = {"ce-specversion": "1.0"}
    wires = [Wire(bare.INPUT, headers, body) for body in bodies]
    async with rig() as running:
        last = await store(running, wires)
        async with child(running, "bench.bare"):
            # Its outputs have no marks: they are counted.
            await written(running, last + bare.OUTPUTS * len(wires))
        return await rate(running, last, len(wires))


@asynccontextmanager
async def with_packs(heuristics: int) -> AsyncIterator[Rig]:
    """Run a rig whose log has packs in force; the worker that loaded them is stopped."""
    async with rig() as running:
        async with child(running, "bench.worker"):
            await load_packs(running, heuristics)
        yield running


async def throughput(
    running: Rig, count: int, processes: int = 1, *, seed: int = 0, collector: str = ""
) -> Throughput:
    """Let fresh workers, each with its partitions, answer events that are in the log.

    With a collector's address, they send it their traces.
    """
    first = await running.log.last_sequence(outputs_of("*"))
    # Other events than of an earlier run over the same log: repeats are answered sooner.
    stored = await store_all(running, world.events(count, seed=seed or processes))
    rss = 0
    async with AsyncExitStack() as stack:
        # All begin together: one that came later would find the others half way.
        started = await asyncio.gather(
            *(
                stack.enter_async_context(
                    child(running, "bench.worker", f"{number}/{processes}", collector)
                )
                for number in range(processes)
            )
        )
        workers = [psutil.Process(each.pid) for each in started]
        broker = [psutil.Process(running.server.process_id)]
        begun_s = _cpu_s(workers), _cpu_s(broker)

        def watch() -> None:
            nonlocal rss
            rss = max(rss, *(each.memory_info().rss for each in workers))

        for last in stored:
            await answered(running, last, watch)
        watch()
        # What a worker does after its answers, such as sending traces, is its cost too.
        await asyncio.sleep(SETTLE_S)
        spent_s = _cpu_s(workers) - begun_s[0], _cpu_s(broker) - begun_s[1]
        # PSS is read once, at the end: the kernel walks every page for it, which takes time
        # from the workers that are measured.
        pss = max(each.memory_full_info().pss for each in workers)
    return Throughput(
        await rate(running, first, count),
        spent_s[0] / count * 1e6,
        spent_s[1] / count * 1e6,
        rss / 2**20,
        pss / 2**20,
    )


def _cpu_s(processes: Sequence[psutil.Process]) -> float:
    times = [each.cpu_times() for each in processes]
    return float(sum(each.user + each.system for each in times))


async def store_all(running: Rig, events: Sequence[world.Event]) -> list[int]:
    """Put events into the log; return the last sequence of each partition."""
    await store(running, [event.wire for event in events])
    partitions = sorted({partition_of(event.agent) for event in events})
    return [await running.log.last_sequence(inputs_of(each)) for each in partitions]


async def crowd(running: Rig, agents: int, per_s: int) -> Latency:
    """Measure latency when events come to many agents in turn, all known already."""
    names = [
        name
        # Only about half of the partitions have packs, so more names than needed are tried.
        for name in (f"agent{number}" for number in range(4 * agents))
        if partition_of(name) in PARTITIONS
    ][:agents]
    met = [
        replace(event, agent=name)
        for event, name in zip(world.events(agents, seed=agents), names, strict=True)
    ]
    stored = await store_all(running, met)
    async with child(running, "bench.worker"):
        for last in stored:
            await answered(running, last, lambda: None)
    return (await latency(running, per_s, seed=agents, agents=names))[0]


async def latency(
    running: Rig,
    per_s: int,
    *,
    worker: Sequence[str] = ("bench.worker",),
    path: str = "",
    seed: int = 0,
    agents: Sequence[str] = (),
    seconds: float = LATENCY_S,
) -> tuple[Latency, Latency]:
    """Measure from publishing to the decision as a follower gets it, and as it is stored.

    The second is the broker's time of the decision minus that of its event in the log.
    Events come in an open loop: whoever is late does not slow them down. With a path,
    only decisions that took it count; with agents, events are theirs.
    """
    events = world.events(int(per_s * (seconds + WARM_UP_S)), seed=per_s + seed)
    if agents:
        # Another one each time: their neighbours in the list are of other partitions.
        events = [
            replace(event, agent=agents[7 * number % len(agents)])
            for number, event in enumerate(events)
        ]
    after = await running.log.last_sequence(">")
    async with child(running, *worker):
        wanted = {event.id for event in events}
        with _uncollected():
            seeing = asyncio.create_task(_see(running, after, wanted))
            published = await _publish(running, events, per_s)
            seen = await asyncio.wait_for(seeing, PATIENCE_S)
    counted = [event.id for event in events[int(per_s * WARM_UP_S) :]]
    counted = [id_ for id_ in counted if path in ("", seen[id_].path)]
    on_the_wire = [seen[id_].at_ns - published[id_] for id_ in counted]
    at_the_broker = [seen[id_].decided_ns - seen[id_].arrived_ns for id_ in counted]
    return _percentiles(on_the_wire), _percentiles(at_the_broker)


@contextmanager
def _uncollected() -> Iterator[None]:
    """Collect no garbage in this process: it would count as latency of what is measured."""
    gc.disable()
    try:
        yield
    finally:
        gc.enable()


@dataclass(frozen=True, slots=True)
class _Seen:
    """A decision as the follower got it; all in nanoseconds since 1970."""

    at_ns: int
    decided_ns: int
    arrived_ns: int
    """When its event came into the log."""
    path: str


async def _publish(
    running: Rig, events: Sequence[world.Event], per_s: int
) -> dict[str, int]:
    """Publish as sensors do, each event at its own time; return when each was sent."""
    sent: dict[str, int] = {}
    begin = time.perf_counter()
    for number, event in enumerate(events):
        # From the begin, not from the last event: delays must not add up to a lower rate.
        early = begin + number / per_s - time.perf_counter()
        if early > 0:
            await asyncio.sleep(early)
        sent[event.id] = time.time_ns()
        await running.client.publish(event.published, event.body, headers=event.headers)
    return sent


async def _see(running: Rig, after: int, wanted: Set[str]) -> dict[str, _Seen]:
    """Follow decisions until all events have one; what was left over before counts not."""
    decided: dict[str, tuple[int, Record]] = {}
    async with aclosing(running.log.follow(DECIDED, after, 1000)) as following:
        async for records in following:
            # One clock reading a page: that is when the follower got all of it.
            now = time.time_ns()
            for record in records:
                cause = record.headers["ce-causeid"]
                if cause in wanted:
                    decided[cause] = (now, record)
            if len(decided) >= len(wanted):
                break
    # Only now: reading the log beside the follower would take time from the broker.
    arrivals = await _arrivals(running, after)
    return {
        id_: _Seen(at_ns, record.time_ns, arrivals[id_], _path(record))
        for id_, (at_ns, record) in decided.items()
    }


def _path(decided: Record) -> str:
    return str(orjson.loads(decided.body)["path"])


async def _arrivals(running: Rig, after: int) -> dict[str, int]:
    """Return when each event came into the log, by id."""
    events = scan(running.log, "ev.*.in.*.sensor.>", after)
    return {each.headers["ce-id"]: each.time_ns async for each in events}


def _percentiles(nanoseconds: Sequence[int]) -> Latency:
    ordered = sorted(nanoseconds)
    p50, p95, p99 = (
        ordered[int(len(ordered) * part)] / 1e6 for part in (0.5, 0.95, 0.99)
    )
    return Latency(p50, p95, p99)
