"""CPU time of the worker besides its mind, part by part: `python -m bench.worker_parts`.

Over a real server, in batches: `receive` reads inputs that wait, in turn by partition;
`write` sends groups that a worker made as it sends them; `worker` is a whole worker, of
which `rest` is what the mind in memory (`python -m bench.mind`) does not take. A figure is
microseconds of CPU an event: the 20th percentile of batches, for `receive` the mean.
"""

import argparse
import asyncio
import json
import os
import statistics
from collections.abc import AsyncIterator, Sequence
from time import process_time_ns

# Before numpy is loaded: a second thread of it counts as the worker's.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

from bench import live, mind, world
from bench.rig import PARTITIONS, Rig, rig, store
from bench.worker import a_worker
from echoic.run.process import prepare
from handlers.worker.lanes import Lanes
from handlers.worker.listening import Listeners, Timed
from handlers.worker.loop import INPUTS_AT_ONCE
from schemas.values.record import Wire
from streams.groups import Group, groups
from streams.log import GroupWrite

EVENTS = 6_144
# Three batches: decided and written work overlap, so one alone would show only a part.
WINDOW = 3 * INPUTS_AT_ONCE

Figures = dict[str, float]


async def measured(events: int = EVENTS) -> Figures:
    """Measure microseconds of CPU per event, by part."""
    async with live.with_packs(1_000) as running:
        after = await running.log.last_sequence(">")
        last = await store(running, [event.wire for event in world.events(events)])
        whole = await _working(running, last)
        receive = await _receiving(running, after, events)
        answered = [group async for group in _answered(running, after)]
    async with rig() as running:
        await store(running, [event.wire for event in world.events(1)])
        write = await _writing(running, answered)
    in_memory = (await mind.measured(events))["sum"]
    return {
        "receive": round(receive, 1),
        "write": round(write, 1),
        "mind": in_memory,
        "worker": round(whole, 1),
        "rest": round(whole - in_memory, 1),
    }


async def _working(running: Rig, last: int) -> float:
    """Let a worker in this process answer what waits; return microseconds per event."""
    spent: list[float] = []
    begun, count = process_time_ns(), 0
    done = asyncio.Event()

    def answered(timed: Sequence[Timed]) -> None:
        nonlocal begun, count
        count += len(timed)
        # While one batch is written the next is decided on: single ones tell nothing.
        if count >= WINDOW:
            spent.append((process_time_ns() - begun) / count / 1000)
            begun, count = process_time_ns(), 0
        if any(turn.input.sequence == last for turn, _ in timed):
            done.set()

    worker = a_worker(running.log, running.writer, Listeners(answered))
    running_on = asyncio.create_task(worker.run())
    await done.wait()
    running_on.cancel()
    await asyncio.wait({running_on})
    # The first window includes the settings that every partition gets at the start.
    return _percentile_20(spent[1:])


async def _receiving(running: Rig, after: int, events: int) -> float:
    """Read what waits as the worker does; return microseconds per event."""
    taken, begun = 0, process_time_ns()
    positions = dict.fromkeys(PARTITIONS, after)
    arriving = Lanes(running.log, positions, INPUTS_AT_ONCE)
    while taken < events:
        taken += len(await arriving.within(None))
    await arriving.close()
    return (process_time_ns() - begun) / taken / 1000


async def _answered(running: Rig, after: int) -> AsyncIterator[Group]:
    """Yield the groups of all partitions, one of each after the other."""
    lanes = [groups(running.log, partition, after) for partition in PARTITIONS]
    while lanes:
        for lane in list(lanes):
            try:
                yield await anext(lane)
            except StopAsyncIteration:
                lanes.remove(lane)


async def _writing(running: Rig, answered: list[Group]) -> float:
    """Write groups as the worker does; return microseconds per group."""
    spent, ends = [], dict.fromkeys(PARTITIONS, 0)
    for start in range(0, len(answered), INPUTS_AT_ONCE):
        messages: dict[int, list[Wire]] = {}
        batch = answered[start : start + INPUTS_AT_ONCE]
        for group in batch:
            partition = int(group.input.subject.split(".")[1])
            messages.setdefault(partition, []).extend(
                Wire(each.subject, each.headers, each.body) for each in group.outputs
            )
        writes = [GroupWrite(key, ends[key], tuple(messages[key])) for key in messages]
        begun = process_time_ns()
        ends |= await running.writer.commit(writes)
        spent.append((process_time_ns() - begun) / len(batch) / 1000)
    return _percentile_20(spent)


def _percentile_20(figures: list[float]) -> float:
    return statistics.quantiles(figures, n=5)[0]


def main() -> None:
    """Measure and print."""
    prepare()
    parser = argparse.ArgumentParser(
        prog="python -m bench.worker_parts", description=__doc__
    )
    parser.add_argument("--events", type=int, default=EVENTS)
    print(json.dumps(asyncio.run(measured(parser.parse_args().events)), indent=2))


if __name__ == "__main__":
    main()
