"""What traces cost the worker: CPU and rate of the live loop, with them and without.

    python -m bench.tracing

At default sampling, over HTTP to a collector that takes every batch and looks at none.
Runs alternate, so that a drift of the machine cancels out.
"""

import asyncio
from dataclasses import dataclass
from statistics import median

from bench import live
from bench.collectors import collector
from bench.rig import Rig
from echoic.run.process import prepare

PAIRS = 3


@dataclass(frozen=True, slots=True)
class Cost:
    """How much more a worker takes with traces than without, and what it sends."""

    cpu: float
    """Its CPU an event, as a share of that without: 0.1 is a tenth more."""
    rate: float
    """By how much the events a second fall, as a share."""
    traced_us: float
    untraced_us: float


async def measured(running: Rig, events: int) -> Cost:
    """Let fresh workers answer other events each time, traced and not."""
    found: list[tuple[live.Throughput, live.Throughput]] = []
    async with collector(running, "good") as address:
        for number in range(PAIRS):
            seeds = 100 + 2 * number, 101 + 2 * number
            off = await live.throughput(running, events, seed=seeds[0])
            on = await live.throughput(
                running, events, seed=seeds[1], collector=address
            )
            found.append((off, on))
    return Cost(
        cpu=median(on.worker_us / off.worker_us for off, on in found) - 1.0,
        rate=1.0 - median(on.events_per_s / off.events_per_s for off, on in found),
        traced_us=median(on.worker_us for _, on in found),
        untraced_us=median(off.worker_us for off, _ in found),
    )


async def main() -> None:
    """Measure and print."""
    async with live.with_packs(1_000) as running:
        print(await measured(running, 6_000))


if __name__ == "__main__":
    prepare()
    asyncio.run(main())
