"""Measure everything in one run: `python -m bench`; writes `bench/latest.json`.

    python -m bench [--tiny]

`--tiny` measures so little of each that its figures say only that the command works, and
writes no file. All figures are of this machine at this time: ratios within one run say more
than figures of different runs.
"""

import argparse
import asyncio
import json
import os
import sys
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

# Before numpy is loaded: a second thread of it takes the server's processor.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

from bench import (
    comparing,
    executive,
    hanging,
    live,
    logged,
    mind,
    offline,
    proactive,
    queueing,
    recalling,
    recorded,
    saying,
    state,
    tracing,
    wording,
    worker_parts,
)
from bench.rig import Rig
from echoic.run.process import prepare

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

LATEST = Path(__file__).with_name("latest.json")

Figures = dict[str, object]


@dataclass(frozen=True, slots=True)
class Sizes:
    """How much is measured of each."""

    events: int = 12_000
    """That wait for a worker."""
    inputs: int = live.BARE_INPUTS
    batched: int = mind.EVENTS
    runs: int = mind.RUNS
    ticks: int = proactive.TICKS
    worded: int = executive.ANSWERS_WORDED
    remembered: int = 60_000
    """Events of a busy agent."""
    seconds: float = live.LATENCY_S
    agents: int = 1_000
    heuristics: tuple[int, int] = (1_000, 10_000)
    pairs: int = tracing.PAIRS
    rates: tuple[int, ...] = (100, 500)
    compared: int = logged.EVENTS
    recordings: Sequence[Path] = field(default_factory=recorded.shipped)
    lives: int = recorded.RUNS
    logged: int = logged.INPUTS
    said: int = saying.COUNT
    episodes: int = recalling.EPISODES


TINY = Sizes(
    events=600, inputs=500, batched=1_920, runs=1, ticks=30, worded=100,
    remembered=1_000, seconds=0.5, agents=20, heuristics=(1_000, 1_000), pairs=1,
    rates=(50,), compared=200, recordings=recorded.shipped()[1:2], lives=1,
    logged=500, said=2, episodes=4_000,
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Run:
    """Measurements of one size, in the order of what they build on."""

    sizes: Sizes
    figures: Figures = field(default_factory=dict)

    async def measure(self) -> None:
        """Fill in every figure."""
        sizes, figures = self.sizes, self.figures
        await self._alone()
        _say("the bare loop")
        before = await live.bare_loop(sizes.inputs)
        small, large = sizes.heuristics
        _say(f"live, {small} heuristics, {sizes.events} events")
        async with live.with_packs(small) as rig:
            one = await live.throughput(rig, sizes.events)
            processes = len(os.sched_getaffinity(0))
            _say(f"live again, {processes} worker processes")
            shared = await live.throughput(rig, sizes.events, processes)
            _say("the bare loop again: others use this machine, too")
            # On both sides of the live runs, so that a drift of the machine cancels out.
            bare = (before + await live.bare_loop(sizes.inputs)) / 2
            figures["bare"] = {"events_per_s": round(bare)}
            figures["live_1k"] = _live(one, bare)
            figures["live_1k_all_cores"] = _live(shared, bare)
            await self._traced(rig)
            _say(f"live, {large} heuristics, {sizes.events // 2} events")
            async with live.with_packs(large) as other:
                many = await live.throughput(other, sizes.events // 2)
            figures["live_10k"] = _live(many, bare)
            await self._again(rig)
            await self._latencies(rig)
        _say(f"recall with {sizes.episodes} episodes")
        recall = await recalling.measured(sizes.episodes)
        figures["recall_100k"] = _rounded(recall, 2)
        figures["worker_rss_mb"] = round(many.rss_mb)
        figures["cli_first_output_ms"] = round(offline.first_output_ms())

    async def _alone(self) -> None:
        """Measure what needs no log that is answered."""
        sizes, figures = self.sizes, self.figures
        _say("the worker and the mind, part by part")
        parts = await worker_parts.measured(sizes.batched, sizes.runs)
        figures["mind_cpu_us"] = await mind.measured(sizes.batched, sizes.runs)
        figures["worker_cpu_us"] = parts
        _say("recorded lives")
        lives = await recorded.measured(sizes.recordings, sizes.lives)
        figures["recorded_us"] = {name: each.us for name, each in lives.items()}
        _say("a tick at which somebody is spoken to unasked")
        figures["proactive"] = proactive.measured(sizes.ticks)
        figures["executive"] = await executive.measured(sizes.batched, sizes.worded)
        _say(f"the state of a busy agent, {sizes.remembered} events")
        figures["state_mb"] = state.measured(sizes.remembered)

    async def _traced(self, rig: Rig) -> None:
        _say("live, with traces")
        cost = await tracing.measured(rig, self.sizes.events // 2, self.sizes.pairs)
        self.figures["tracing"] = _rounded(cost, 3)

    async def _again(self, rig: Rig) -> None:
        """Measure replays, from the broker and from files, and the read models."""
        figures = self.figures
        _say("replay")
        figures["replay"] = {"events_per_s": round(await offline.replaying(rig))}
        _say("replay on all cores")
        rate = await offline.replaying_on_all_cores(rig)
        figures["replay_all_cores"] = {"events_per_s": round(rate)}
        _say("comparing with a challenger")
        compared = await asyncio.to_thread(comparing.measured, self.sizes.compared)
        figures["compare"] = _rounded(compared, 0)
        _say(f"replay at logged state, {self.sizes.logged} inputs, two strategies")
        figures["replay_logged"] = _rounded(logged.measured(self.sizes.logged), 1)
        _say("rebuild")
        rebuilt = await offline.rebuilding(rig)
        figures["rebuild"] = {"events_per_s": round(rebuilt)}

    async def _latencies(self, rig: Rig) -> None:
        """Measure from event to decision, at several rates, with and without a model."""
        sizes, figures = self.sizes, self.figures
        _say("what the queueing model expects")
        figures["latency_expected"] = await queueing.compared(rig, sizes.rates)
        for rate in sizes.rates:
            _say(f"latency at {rate} events/s")
            seen, stored = await live.latency(rig, rate, seconds=sizes.seconds)
            figures[f"latency_{rate}"] = _rounded(seen, 2)
            _say(f"  of it within the broker and the worker: {_rounded(stored, 2)}")
        _say(f"latency of {sizes.agents} agents, and of one, at 20 events/s together")
        one = await live.crowd(rig, 1, 20, sizes.seconds)
        figures["latency_20_of_1_agent"] = _rounded(one, 2)
        many = await live.crowd(rig, sizes.agents, 20, sizes.seconds)
        figures["latency_20_of_1000"] = _rounded(many, 2)
        _say("heuristics' latency without a model, and while one hangs")
        found = await hanging.measured(rig, sizes.seconds)
        figures["latency_without_model"] = _rounded(found.without, 2)
        figures["latency_while_model_answers"] = _rounded(found.answers, 2)
        figures["latency_while_model_hangs"] = _rounded(found.hangs, 2)
        _say("the first text, and the first sound")
        figures["saying"] = await saying.measured(sizes.said)
        figures["wording"] = await asyncio.to_thread(wording.costs, sizes.worded)


def show(figures: Figures) -> None:
    """Print a table."""
    for name, value in figures.items():
        parts = value if isinstance(value, dict) else {"": value}
        cells = "  ".join(f"{key} {figure:,}".strip() for key, figure in parts.items())
        print(f"{name:<20} {cells}")


def _live(found: live.Throughput, bare: float) -> dict[str, float]:
    ratio = round(found.events_per_s / bare, 3)
    return {
        "events_per_s": round(found.events_per_s),
        "ratio": ratio,
        "worker_us": round(found.worker_us),
        "broker_us": round(found.broker_us),
    }


def _rounded(found: "DataclassInstance", digits: int) -> dict[str, float]:
    return {name: round(value, digits) for name, value in asdict(found).items()}


def _say(what: str) -> None:
    print(what, file=sys.stderr, flush=True)


def main() -> None:
    """Measure, print, write."""
    prepare()
    parser = argparse.ArgumentParser(prog="python -m bench", description=__doc__)
    parser.add_argument("--tiny", action="store_true")
    run = Run(TINY if (is_tiny := parser.parse_args().tiny) else Sizes())
    try:
        asyncio.run(run.measure())
    finally:
        # What was measured before something failed is told all the same.
        if not is_tiny:
            LATEST.write_text(json.dumps(run.figures, indent=2) + "\n")
        show(run.figures)


if __name__ == "__main__":
    main()
