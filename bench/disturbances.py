"""How much later heuristics answer while something else fails: `python -m bench.disturbances`.

    python -m bench.disturbances [--pairs 5] [--seconds 8] [NAME ...]

Each disturbance is measured in pairs at 100 events/s: the same events, told once in calm
and once disturbed, each to an instance of its own over a new log. What is told of a pair is
the difference between its two sides. Both sides' logs are decided on again afterwards, by
the mind alone: each output has to be the same, byte for byte, or this ends with status 1.
"""

import argparse
import asyncio
import json
import os
import sys
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory

# Before numpy is loaded: a second thread of it takes the server's processor.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

from prometheus_client import CollectorRegistry

from bench import hanging, live, offline
from bench.collectors import collector
from bench.open_loop import Latency
from bench.rig import Rig
from echoic.metrics.reports import Reports
from echoic.run import projector_process
from echoic.run.process import prepare
from handlers.worker.listening import tell_nobody
from streams.embedded import free_port

RATE = 100
HEURISTICS = 1_000
PAIRS = 5

Side = Callable[[Rig], AbstractAsyncContextManager[Sequence[str]]]
"""Makes the conditions of one side of a pair; yields the command line of its worker."""


@dataclass(frozen=True, slots=True)
class Disturbance:
    """A fault, and the calm that it is compared with."""

    calm: Side
    disturbed: Side


@asynccontextmanager
async def _alone(_: Rig) -> AsyncIterator[Sequence[str]]:
    yield ("bench.worker",)


@asynccontextmanager
async def _without_collector(_: Rig) -> AsyncIterator[Sequence[str]]:
    yield ("bench.worker", f"http://127.0.0.1:{free_port()}")


def _with_collector(kind: str) -> Side:
    @asynccontextmanager
    async def side(running: Rig) -> AsyncIterator[Sequence[str]]:
        async with collector(running, kind) as address:
            yield ("bench.worker", address)

    return side


def _with_model(serve: hanging.Serve) -> Side:
    @asynccontextmanager
    async def side(_: Rig) -> AsyncIterator[Sequence[str]]:
        async with hanging.model(serve) as base:
            yield (hanging.MODULE, base)

    return side


@asynccontextmanager
async def _without_database(running: Rig) -> AsyncIterator[Sequence[str]]:
    """Keep up a projector as an instance does, whose database nobody can reach."""
    with TemporaryDirectory(prefix="echoic-bench-") as folder:
        job = projector_process.Job(
            credentials=running.server.core,
            database_url=f"postgresql://echoic@127.0.0.1:{free_port()}/echoic",
            embedder="wordllama",
            trace_endpoint=None,
            spool=str(Path(folder) / "traces.jsonl"),
        )
        reports = Reports(CollectorRegistry(), ())
        keeping = asyncio.create_task(
            projector_process.keep_up(job, tell_nobody, reports)
        )
        try:
            yield ("bench.worker",)
        finally:
            keeping.cancel()
            await asyncio.wait({keeping})


DISTURBANCES = {
    "collector_good": Disturbance(_alone, _with_collector("good")),
    "collector_dead": Disturbance(_alone, _without_collector),
    "collector_hanging": Disturbance(_alone, _with_collector("hanging")),
    "collector_refusing": Disturbance(_alone, _with_collector("refusing")),
    "collector_slow": Disturbance(_alone, _with_collector("slow")),
    "model_hanging": Disturbance(
        _with_model(hanging.answer), _with_model(hanging.hang)
    ),
    "database_dead": Disturbance(_alone, _without_database),
}
"""The collectors' calm is a worker that traces nothing."""


async def measured(
    disturbance: Disturbance, pairs: int, seconds: float
) -> dict[str, float | list[float]]:
    """Measure pairs; return differences in milliseconds, and their medians.

    Raises:
        RuntimeError: an output in a log is not what the mind alone answers.
    """
    found: list[tuple[Latency, Latency]] = []
    for number in range(pairs):
        sides = {
            side: await _latency(side, number, seconds)
            # In turn, so that a drift of the machine cancels out.
            for side in _in_turn(disturbance, number)
        }
        found.append((sides[disturbance.calm], sides[disturbance.disturbed]))
    p50 = [after.p50_ms - before.p50_ms for before, after in found]
    p95 = [after.p95_ms - before.p95_ms for before, after in found]
    return {
        "p50_ms": round(median(p50), 2),
        "p95_ms": round(median(p95), 2),
        "p50_ms_each": [round(each, 2) for each in p50],
        "p95_ms_each": [round(each, 2) for each in p95],
        "calm_p95_ms": round(median(before.p95_ms for before, _ in found), 2),
    }


def _in_turn(disturbance: Disturbance, number: int) -> Sequence[Side]:
    sides = disturbance.calm, disturbance.disturbed
    return sides[::-1] if number % 2 else sides


async def _latency(side: Side, seed: int, seconds: float) -> Latency:
    """Measure what heuristics answer on one side, and decide again on its log."""
    async with live.with_packs(HEURISTICS) as running:
        async with side(running) as worker:
            seen, _ = await live.latency(
                running,
                RATE,
                worker=worker,
                path="heuristic",
                seed=seed,
                seconds=seconds,
            )
        await offline.replaying(running)
    return seen


async def main() -> None:
    """Measure what is asked for, and print it."""
    parser = argparse.ArgumentParser(
        prog="python -m bench.disturbances", description=__doc__
    )
    parser.add_argument("--pairs", type=int, default=PAIRS)
    parser.add_argument("--seconds", type=float, default=live.LATENCY_S)
    parser.add_argument("names", nargs="*", metavar="NAME", choices=DISTURBANCES)
    given = parser.parse_args()
    found = {}
    try:
        for name in given.names or DISTURBANCES:
            print(name, file=sys.stderr, flush=True)
            disturbance = DISTURBANCES[name]
            found[name] = await measured(disturbance, given.pairs, given.seconds)
    except RuntimeError as error:
        sys.exit(str(error))
    finally:
        # What was measured before something failed is told all the same.
        print(json.dumps(found, indent=2))


if __name__ == "__main__":
    prepare()
    asyncio.run(main())
