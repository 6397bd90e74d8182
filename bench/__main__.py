"""Measure everything in one run: `python -m bench`; writes `bench/latest.json`.

    python -m bench [--events N]

All figures are of this machine at this time: ratios within one run say more than figures
of different runs.
"""

import argparse
import asyncio
import json
import os
import sys
from dataclasses import asdict
from pathlib import Path

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
    saying,
    state,
    tracing,
    wording,
    worker_parts,
)
from bench.open_loop import Latency
from bench.rig import Rig
from echoic.run.process import prepare

LATEST = Path(__file__).with_name("latest.json")
EVENTS = 12_000
RATES = (100, 500)

Figures = dict[str, object]


async def measure(events: int, figures: Figures) -> None:
    """Fill in every figure, in the order of what it builds on."""
    _say("the worker and the mind, part by part")
    parts = await worker_parts.measured()
    figures["mind_cpu_us"] = await mind.measured()
    figures["worker_cpu_us"] = parts
    _say("a tick at which somebody is spoken to unasked")
    figures["proactive"] = proactive.measured()
    figures["executive"] = await executive.measured()
    _say("the state of a busy agent, 60,000 events")
    figures["state_mb"] = state.measured(60_000)
    _say("the bare loop")
    before = await live.bare_loop()
    _say(f"live, 1,000 heuristics, {events} events")
    async with live.with_packs(1_000) as rig:
        small = await live.throughput(rig, events)
        processes = len(os.sched_getaffinity(0))
        _say(f"live again, {processes} worker processes")
        shared = await live.throughput(rig, events, processes)
        _say("the bare loop again: others use this machine, too")
        # On both sides of the live runs, so that a drift of the machine cancels out.
        bare = (before + await live.bare_loop()) / 2
        figures["bare"] = {"events_per_s": round(bare)}
        figures["live_1k"] = _live(small, bare)
        figures["live_1k_all_cores"] = _live(shared, bare)
        _say("live, with traces")
        cost = await tracing.measured(rig, events // 2)
        figures["tracing"] = {k: round(v, 3) for k, v in asdict(cost).items()}
        _say(f"live, 10,000 heuristics, {events // 2} events")
        async with live.with_packs(10_000) as other:
            large = await live.throughput(other, events // 2)
        figures["live_10k"] = _live(large, bare)
        figures.update(await _replays(rig))
        _say("rebuild")
        rebuilt = await offline.rebuilding(rig)
        figures["rebuild"] = {"events_per_s": round(rebuilt)}
        figures.update(await _latencies(rig))
    _say("recall with 100,000 episodes")
    recall = await recalling.measured()
    figures["recall_100k"] = {k: round(v, 2) for k, v in asdict(recall).items()}
    figures["worker_rss_mb"] = round(large.rss_mb)
    figures["cli_first_output_ms"] = round(offline.first_output_ms())


async def _latencies(rig: Rig) -> Figures:
    """Measure from event to decision, at several rates, with and without a model."""
    figures: Figures = {}
    _say("what the queueing model expects")
    figures["latency_expected"] = await queueing.compared(rig, RATES)
    for rate in RATES:
        _say(f"latency at {rate} events/s")
        seen, stored = await live.latency(rig, rate)
        figures[f"latency_{rate}"] = _latency(seen)
        _say(f"  of it within the broker and the worker: {_latency(stored)}")
    _say("latency of 1,000 agents, and of one, at 20 events/s together")
    figures["latency_20_of_1_agent"] = _latency(await live.crowd(rig, 1, 20))
    figures["latency_20_of_1000"] = _latency(await live.crowd(rig, 1_000, 20))
    _say("heuristics' latency without a model, and while one hangs")
    found = await hanging.measured(rig)
    figures["latency_without_model"] = _latency(found.without)
    figures["latency_while_model_answers"] = _latency(found.answers)
    figures["latency_while_model_hangs"] = _latency(found.hangs)
    _say("the first text, and the first sound")
    figures["saying"] = await saying.measured(saying.COUNT)
    figures["wording"] = await asyncio.to_thread(wording.costs, 20_000)
    return figures


async def _replays(rig: Rig) -> Figures:
    """Measure replays, from the broker and from files."""
    figures: Figures = {}
    _say("replay")
    figures["replay"] = {"events_per_s": round(await offline.replaying(rig))}
    _say("replay on all cores")
    rate = await offline.replaying_on_all_cores(rig)
    figures["replay_all_cores"] = {"events_per_s": round(rate)}
    _say("comparing with a challenger")
    compared = await asyncio.to_thread(comparing.measured)
    figures["compare"] = {
        "decisions_per_cpu_s": round(compared.decisions_per_cpu_s),
        "decisions_per_s": round(compared.decisions_per_s),
    }
    _say("replay at logged state, 100,000 inputs, two strategies")
    again = logged.measured()
    figures["replay_logged"] = {
        "inputs_per_s": round(again.inputs_per_s),
        "rss_mb": round(again.rss_mb),
        "rss_growth_mb": round(again.rss_growth_mb, 1),
    }
    return figures


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


def _latency(found: Latency) -> dict[str, float]:
    return {name: round(value, 2) for name, value in asdict(found).items()}


def _say(what: str) -> None:
    print(what, file=sys.stderr, flush=True)


def main() -> None:
    """Measure, print, write."""
    prepare()
    parser = argparse.ArgumentParser(prog="python -m bench", description=__doc__)
    parser.add_argument("--events", type=int, default=EVENTS)
    figures: Figures = {}
    try:
        asyncio.run(measure(parser.parse_args().events, figures))
    finally:
        # What was measured before something failed is told all the same.
        LATEST.write_text(json.dumps(figures, indent=2) + "\n")
        show(figures)


if __name__ == "__main__":
    main()
