"""How much later heuristics answer while something else fails: `python -m bench.disturbances`.

    python -m bench.disturbances [--pairs 5] [--seconds 6] [--part PART ...] [NAME ...]

Each disturbance is measured in pairs at 100 events/s: the same events, told once in calm
and once disturbed, each to an instance of its own over a new log. What is told of a pair is
the difference between its two sides. Both sides' logs are decided on again afterwards, by
the mind alone: each output has to be the same, byte for byte, or this ends with status 1.

Without names each part is measured by its worst fault, against itself as it should be; with
`--json` everything is told.
"""

import argparse
import asyncio
import json
import os
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import median

# Before numpy is loaded: a second thread of it takes the server's processor.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

from bench import hanging, live, offline
from bench.open_loop import Latency
from bench.sides import (
    Side,
    alone,
    with_collector,
    with_database,
    with_door,
    with_hanging_database,
    with_model,
    with_webhook,
    without_collector,
    without_database,
)
from echoic.run.process import prepare

RATE = 100
HEURISTICS = 1_000
PAIRS = 5
SECONDS = 6.0
AIM_MS = 5.0
"""By how much p95 may rise."""


@dataclass(frozen=True, slots=True)
class Disturbance:
    """A fault, and the calm that it is compared with."""

    calm: Side
    disturbed: Side


_MODEL_ANSWERS = with_model(hanging.answer)

DISTURBANCES = {
    "collector_good": Disturbance(alone, with_collector("good")),
    "collector_dead": Disturbance(alone, without_collector),
    "collector_hanging": Disturbance(alone, with_collector("hanging")),
    "collector_refusing": Disturbance(alone, with_collector("refusing")),
    "collector_slow": Disturbance(alone, with_collector("slow")),
    "collector_fails": Disturbance(with_collector("good"), with_collector("hanging")),
    "model_hanging": Disturbance(_MODEL_ANSWERS, with_model(hanging.hang)),
    "webhook_hanging": Disturbance(with_webhook("good"), with_webhook("hanging")),
    "webhook_slow": Disturbance(with_webhook("good"), with_webhook("slow")),
    "database_dead": Disturbance(alone, without_database),
    "database_fails": Disturbance(with_database, without_database),
    "database_hanging": Disturbance(with_database, with_hanging_database),
    "door_unread": Disturbance(with_door("read"), with_door("unread")),
}
"""By name. Where the calm is `alone`, the part is not there at all."""

PARTS = {
    "collector": "collector_fails",
    "model": "model_hanging",
    "webhook": "webhook_hanging",
    "database": "database_hanging",
    "door": "door_unread",
}
"""For each part, the fault that is worst: it takes what it is sent and never answers."""


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
        "calm_p50_ms": round(median(before.p50_ms for before, _ in found), 2),
        "calm_p95_ms": round(median(before.p95_ms for before, _ in found), 2),
    }


def _in_turn(disturbance: Disturbance, number: int) -> Sequence[Side]:
    sides = disturbance.calm, disturbance.disturbed
    return sides[::-1] if number % 2 else sides


async def _latency(side: Side, seed: int, seconds: float) -> Latency:
    """Measure what heuristics answer on one side, and decide again on its log."""
    async with live.with_packs(HEURISTICS, seed) as running:
        async with side(running) as worker:
            seen, _ = await live.latency(
                running, RATE, worker=worker, path="heuristic", seconds=seconds
            )
        await offline.replaying(running)
    return seen


Found = Mapping[str, Mapping[str, float | list[float]]]


def as_table(found: Found) -> str:
    """Return a line for each disturbance, of milliseconds; `ok` if the aim is met."""
    head = (
        "disturbance",
        "calm p50",
        "calm p95",
        "p50 +",
        "p95 +",
        "",
        "p95 + of each",
    )
    lines: list[tuple[str, ...]] = [head]
    for name, told in found.items():
        told_p95 = told["p95_ms"]
        assert isinstance(told_p95, float)
        lines.append(
            (
                name,
                *(str(told[each]) for each in ("calm_p50_ms", "calm_p95_ms", "p50_ms")),
                str(told_p95),
                "ok" if told_p95 <= AIM_MS else "MISSED",
                str(told["p95_ms_each"]).strip("[]"),
            )
        )
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    return "\n".join(
        "  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True))
        for line in lines
    )


async def main() -> None:
    """Measure what is asked for, and print it."""
    given = _arguments()
    named = [*(PARTS[each] for each in given.part), *given.names]
    found = {}
    try:
        for name in named or PARTS.values():
            print(name, file=sys.stderr, flush=True)
            disturbance = DISTURBANCES[name]
            found[name] = await measured(disturbance, given.pairs, given.seconds)
    except RuntimeError as error:
        sys.exit(str(error))
    finally:
        # What was measured before something failed is told all the same.
        print(json.dumps(found, indent=2) if given.json else as_table(found))


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m bench.disturbances", description=__doc__
    )
    parser.add_argument("--pairs", type=int, default=PAIRS)
    parser.add_argument("--seconds", type=float, default=SECONDS)
    parser.add_argument("--part", nargs="*", choices=PARTS, default=())
    parser.add_argument("--json", action="store_true")
    # Its own choices would refuse that none is named.
    parser.add_argument(
        "names", nargs="*", metavar="NAME", help=", ".join(DISTURBANCES)
    )
    given = parser.parse_args()
    if unknown := set(given.names) - DISTURBANCES.keys():
        parser.error(f"there is no {', '.join(sorted(unknown))}")
    return given


if __name__ == "__main__":
    prepare()
    asyncio.run(main())
