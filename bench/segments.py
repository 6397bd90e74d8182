"""What it costs to divide the log over several streams: `python -m bench.segments`.

Rounds alternate between 1, 2 and 4 streams, each over a fresh server: a worker in this process
answers events that wait, then single writes are timed. Figures are medians of the rounds:
microseconds of CPU an event (the 20th percentile of batches in each round), and milliseconds
of wall-clock time of a write of one event and of a full batch. That the answers are the same
is for tests/bench/test_segments.py: here how new an event is depends on when it arrived.
"""

import argparse
import asyncio
import json
import re
import statistics
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from time import perf_counter

from bench import world
from bench.rig import PARTITIONS, Rig, child, load_packs, rig, store
from bench.worker_parts import working, writing
from echoic.run.process import prepare
from handlers.mind.turn import Turn
from handlers.worker.loop import INPUTS_AT_ONCE
from schemas.values.ids import digest
from schemas.values.record import Record, Wire
from schemas.values.subjects import outputs_of, parse
from streams.groups import Group, groups
from streams.jetstream.segments import roll_over
from streams.log import GroupWrite

EVENTS = 4_608
ROUNDS = 5
HEURISTICS = 1_000
SINGLE = 300
"""Writes of one event that are timed in each round."""

_IDS = re.compile(
    rb"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}|[0-9a-f]{32,}"
    # The chain holds the ids of the settings before, a session's is made of a sequence.
    rb'|"(?:chain|session_id)":"[0-9a-f]*"'
)
_TIMES = re.compile(rb"\d{4}-\d\d-\d\dT[\d:.]+Z")


@dataclass(frozen=True, slots=True)
class Round:
    """What one round measured."""

    cpu_us: float
    """Of the whole worker, an event."""
    write_us: float
    """Of CPU for writing alone, an event."""
    single_ms: float
    batch_ms: float


async def one_round(streams: int, events: int, heuristics: int = HEURISTICS) -> Round:
    """Measure a log of so many streams."""
    made: dict[str, Turn] = {}
    wires = [event.wire for event in world.events(events)]
    async with rig() as running:
        await roll_over(running.client, streams)
        async with child(running, "bench.worker"):
            await load_packs(running, world.packs(heuristics))
        running.server.tend()
        after = await _ends(running)
        cpu = await working(running, wires, made)
        groups_made = await _answered(running, after)
        async with rig() as other:
            await roll_over(other.client, streams)
            other.server.tend()
            # The first messages of a stream make its files.
            await store(other, [event.wire for event in world.events(1)])
            write = await writing(other, groups_made)
            single, batch = await _timed(other, groups_made)
    return Round(cpu, write, single, batch)


def answers(made: Mapping[str, Sequence[Wire | Record]]) -> str:
    """Return a digest of outputs by event, without what differs between any two logs."""
    found = []
    for id_ in sorted(made):
        for output in made[id_]:
            body = _TIMES.sub(b"at", _IDS.sub(b"id", output.body))
            found.append(f"{id_} {output.subject} ".encode() + body)
    return digest(*found)


async def _ends(running: Rig) -> dict[int, int]:
    return {
        each: await running.log.last_sequence(outputs_of(each)) for each in PARTITIONS
    }


async def _answered(running: Rig, after: dict[int, int]) -> list[Group]:
    """Return the groups of all partitions, one of each after the other."""
    lanes = [groups(running.log, each, end) for each, end in after.items()]
    found = []
    while lanes:
        for lane in list(lanes):
            try:
                found.append(await anext(lane))
            except StopAsyncIteration:
                lanes.remove(lane)
    return found


async def _timed(running: Rig, made: Sequence[Group]) -> tuple[float, float]:
    """Return the median milliseconds of a write of one group, and of a batch of many."""
    ends = {
        each: await running.log.last_sequence(outputs_of(each)) for each in PARTITIONS
    }

    async def write(batch: Sequence[Group]) -> float:
        messages: dict[int, list[Wire]] = defaultdict(list)
        for group in batch:
            messages[parse(group.input.subject).partition] += [
                Wire(each.subject, each.headers, each.body) for each in group.outputs
            ]
        writes = [
            GroupWrite(each, ends[each], tuple(own)) for each, own in messages.items()
        ]
        begun = perf_counter()
        ends.update(await running.writer.commit(writes))
        return (perf_counter() - begun) * 1_000

    single = [await write([group]) for group in made[:SINGLE]]
    batches = [
        await write(made[start : start + INPUTS_AT_ONCE])
        for start in range(0, len(made), INPUTS_AT_ONCE)
    ]
    return statistics.median(single), statistics.median(batches)


async def measured(rounds: int, events: int) -> dict[str, object]:
    """Measure all numbers of streams in turn, `rounds` times."""
    found: dict[int, list[Round]] = defaultdict(list)
    for _ in range(rounds):
        for streams in (1, 2, 4):
            found[streams].append(await one_round(streams, events))
    figures: dict[str, object] = {
        str(streams): {
            name: round(statistics.median(getattr(each, name) for each in own), 2)
            for name in ("cpu_us", "write_us", "single_ms", "batch_ms")
        }
        for streams, own in found.items()
    }
    return figures | {"rounds": rounds}


def main() -> None:
    """Measure and print."""
    prepare()
    parser = argparse.ArgumentParser(
        prog="python -m bench.segments", description=__doc__
    )
    parser.add_argument("--rounds", type=int, default=ROUNDS)
    parser.add_argument("--events", type=int, default=EVENTS)
    given = parser.parse_args()
    print(json.dumps(asyncio.run(measured(given.rounds, given.events)), indent=2))


if __name__ == "__main__":
    main()
