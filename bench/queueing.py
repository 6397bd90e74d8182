"""What latency to expect from the times of single steps: `python -m bench.queueing`.

The model: an event passes the intake stream and comes to the worker, which works in rounds. It
decides on all that has come (`decide_ms` each), and on what comes until the round before is
written; then it writes them at once: `plain_ms` for a single message, else an atomic batch
(`batch_ms`, and `batched_ms` for each turn). The log stores one message after the other, so
that a write takes longer by the share of time for which it stores events. Every time is
measured alone, as the median of repetitions; `alone_ms` is the latency of an event that
comes alone, and what the other steps do not explain of it (wake-ups, hand-overs, the
follower) is added as a delay. The queue is then simulated, with events at a fixed interval
and turns of several messages drawn at `several`, their part among the recorded ones.
"""

import asyncio
import json
import os
import random
import statistics
from collections.abc import Awaitable, Callable, Sequence
from contextlib import aclosing
from dataclasses import asdict, dataclass
from time import perf_counter

# Before numpy is loaded: a second thread of it takes the server's processor.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

from bench import live, mind
from bench.open_loop import DECIDED, WARM_UP_S
from bench.rig import PARTITIONS, Rig, child, rig
from echoic.run.process import prepare
from handlers.worker.loop import INPUTS_AT_ONCE
from schemas.values.record import Wire
from schemas.values.subjects import outputs_of
from streams.groups import groups
from streams.log import GroupWrite

# Enough for a stable median; each repetition takes a few milliseconds.
REPEATED = 60
EVENTS = 2_000
# Messages of the large batch; the slope between 2 and 20 is the cost of one message.
MANY = 20
RATES = (100, 500)


@dataclass(frozen=True, slots=True)
class Service:
    """How long single steps take, in milliseconds, and how often a turn is large."""

    arrive_ms: float
    alone_ms: float
    decide_ms: float
    plain_ms: float
    batch_ms: float
    batched_ms: float
    several: float


def expected(service: Service, per_s: int, seconds: float = 20.0) -> dict[str, float]:
    """Return the latency at a rate by the model: p50 and p95 in milliseconds."""
    rng = random.Random(per_s)
    count = int(per_s * seconds)
    arrivals = [number * 1e3 / per_s for number in range(count)]
    delay_ms = max(service.alone_ms - service.decide_ms - service.plain_ms, 0.0)
    # What is left of the log's time beside storing the events themselves.
    share = max(1 - per_s * service.plain_ms / 1e3, 0.05)
    latencies: list[float] = []
    begun, written = 0.0, 0.0
    while len(latencies) < count:
        now = max(begun, arrivals[len(latencies)])
        rest = arrivals[len(latencies) : len(latencies) + INPUTS_AT_ONCE]
        taken: list[float] = []
        for at in rest:
            # The round is open until it is decided and the one before is written.
            if at > max(now, written):
                break
            now = max(now, at) + service.decide_ms
            taken.append(at)
        begun = max(now, written)
        written = begun + _write_ms(service, len(taken), rng) / share
        latencies += [written + delay_ms - at for at in taken]
    ordered = sorted(latencies)
    return {
        "p50_ms": round(ordered[count // 2], 2),
        "p95_ms": round(ordered[int(count * 0.95)], 2),
    }


def _write_ms(service: Service, turns: int, rng: random.Random) -> float:
    """Return how long a round of so many turns takes to be written."""
    if turns == 1 and rng.random() >= service.several:
        return service.plain_ms
    return service.batch_ms + turns * service.batched_ms


async def measured(running: Rig) -> Service:
    """Measure each step alone, on a rig whose log holds answered events."""
    # What is written here has no marks: no worker could read that log.
    async with rig() as spare:
        one, two, many = [await _writing_ms(spare, each) for each in (1, 2, MANY)]
    # Noise may turn the slope negative; a message never costs less than nothing.
    each = max(many - two, 0.0) / (MANY - 2)
    return Service(
        arrive_ms=await _arriving_ms(running, "ev.*.in.>"),
        alone_ms=await _alone_ms(running),
        decide_ms=(await mind.measured(EVENTS, 1))["sum"] / 1000,
        plain_ms=one,
        # The intercept: what a batch costs before its first message.
        batch_ms=max(two - 2 * each, 0.0),
        batched_ms=each,
        several=await _several(running),
    )


async def _alone_ms(running: Rig) -> float:
    """Measure from publishing an event to its decision at a follower, one at a time."""
    async with child(running, "bench.worker"):
        # The settings that a worker announces at its start are answered first.
        await asyncio.sleep(WARM_UP_S)
        return await _arriving_ms(running, DECIDED)


async def _arriving_ms(running: Rig, subjects: str) -> float:
    """Measure from publishing an event to what a follower of `subjects` gets of it."""
    after = await running.log.last_sequence(">")
    events = iter(running.events(REPEATED))
    async with aclosing(running.log.follow(subjects, after, 1)) as following:

        async def arrive() -> None:
            event = next(events)
            await running.client.publish(
                event.published, event.body, headers=event.headers
            )
            await anext(following)

        return await _median_ms(arrive)


async def _writing_ms(running: Rig, messages: int) -> float:
    """Measure writing `messages` of one partition until they are acknowledged."""
    headers = {"ce-specversion": "1.0"}
    wire = Wire(f"ev.{PARTITIONS[0]}.out._.note.handled", headers, b"{}" * 200)
    end = await running.log.last_sequence(outputs_of(PARTITIONS[0]))

    async def write() -> None:
        nonlocal end
        written = GroupWrite(PARTITIONS[0], end, (wire,) * messages)
        end = (await running.writer.commit([written]))[PARTITIONS[0]]

    return await _median_ms(write)


async def _several(running: Rig) -> float:
    """Return the share of recorded turns that have more than one message."""
    sizes = [
        len(group.outputs)
        for partition in PARTITIONS
        async for group in groups(running.log, partition)
    ]
    return sum(size > 1 for size in sizes) / len(sizes)


async def _median_ms(step: Callable[[], Awaitable[None]]) -> float:
    spent: list[float] = []
    for _ in range(REPEATED):
        begun = perf_counter()
        await step()
        spent.append((perf_counter() - begun) * 1e3)
    return round(statistics.median(spent), 3)


async def compared(running: Rig, rates: Sequence[int] = RATES) -> dict[str, float]:
    """Return the times of the steps, and what the model makes of them at each rate."""
    service = await measured(running)
    found = {key: round(each, 3) for key, each in asdict(service).items()}
    for rate in rates:
        for name, each in expected(service, rate).items():
            found[f"{name}_at_{rate}"] = each
    return found


async def main() -> None:
    """Measure and print."""
    async with live.with_packs(1_000) as running:
        await live.throughput(running, EVENTS)
        print(json.dumps(await compared(running), indent=2))


if __name__ == "__main__":
    prepare()
    asyncio.run(main())
