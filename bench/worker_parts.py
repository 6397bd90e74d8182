"""CPU time of the worker besides its mind, part by part: `python -m bench.worker_parts`.

Over a real server, in batches: `receive` reads inputs that wait, in turn by partition;
`write` sends groups that a worker made as it sends them; `worker` is a whole worker; `rest`
is one whose mind takes no time, since it repeats what the whole one answered, less the
decoding that `mind` (`python -m bench.mind`) has as a part. Not the difference of the two:
the mind takes half as much again beside a busy processor. A figure is microseconds of CPU
an event: the 20th percentile of batches, for `receive` the mean.
"""

import argparse
import asyncio
import json
import os
import statistics
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from time import process_time_ns
from typing import Any
from unittest.mock import patch
from uuid import UUID

from msgspec.structs import replace

# Before numpy is loaded: a second thread of it counts as the worker's.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

from bench import live, mind, world
from bench.beside import beside
from bench.rig import PARTITIONS, Rig, rig, store
from bench.worker import a_worker
from echoic.embedders import embedder
from echoic.run.process import prepare
from handlers.aids import AidProvider, PackLibrary
from handlers.mind import turn as turns
from handlers.mind.turn import Turn
from handlers.worker.lanes import Lanes
from handlers.worker.listening import Listeners, Timed
from handlers.worker.loop import INPUTS_AT_ONCE
from schemas.codec.envelope import Input
from schemas.ports.aids import Aids
from schemas.state.agent import PartitionState
from schemas.values.record import Wire
from schemas.values.subjects import parse
from streams.groups import Group, groups
from streams.jetstream.segments import listed
from streams.log import GroupWrite, ReadableLog
from streams.segments import Segments

EVENTS = 6_144
# Three batches: decided and written work overlap, so one alone would show only a part.
WINDOW = 3 * INPUTS_AT_ONCE

Figures = dict[str, float]


async def measured(events: int = EVENTS, runs: int = mind.RUNS) -> Figures:
    """Measure microseconds of CPU per event, by part."""
    made: dict[str, Turn] = {}
    wires = [event.wire for event in world.events(events)]
    async with live.with_packs(1_000) as running:
        after = await running.log.last_sequence(">")
        whole = await working(running, wires, made)
        receive = await _receiving(running, after, events)
        answered = [group async for group in _answered(running, after)]
    async with rig() as running:
        with patch.object(turns, "answer", _repeating(made)):
            carried = await working(running, wires, {}, _NoAids(running.log))
    async with rig() as running:
        await store(running, [event.wire for event in world.events(1)])
        write = await writing(running, answered)
    in_memory = await mind.measured(events, runs)
    return {
        "receive": round(receive, 1),
        "write": round(write, 1),
        "mind": in_memory["sum"],
        "worker": round(whole, 1),
        "rest": round(carried - in_memory["read_input"], 1),
    }


class _NoAids(AidProvider):
    """Makes nothing: a repeated answer needs no vectors."""

    def __init__(self, log: ReadableLog) -> None:
        made_by = embedder("wordllama")
        super().__init__(made_by, PackLibrary(log, made_by))

    async def for_inputs(
        self, inputs: Sequence[Input], shed: Sequence[bool] = ()
    ) -> list[Aids]:
        """Return empty aids."""
        return [Aids()] * len(inputs)


def _repeating(made: Mapping[str, Turn]) -> Callable[..., Turn]:
    """Return `turn.answer` for a mind that has answered all events before."""
    answer = turns.answer

    def repeated(
        state: PartitionState, input_: Input, aids: Aids, epoch: UUID, **options: Any
    ) -> Turn:
        known = made.get(input_.id)
        if known is None:
            return answer(state, input_, aids, epoch, **options)
        after = replace(state, position=input_.sequence)
        return Turn(input_, known.outputs, after)

    return repeated


async def working(
    running: Rig,
    wires: Sequence[Wire],
    made: dict[str, Turn],
    provider: AidProvider | None = None,
) -> float:
    """Let a worker in this process answer what waits; return microseconds per event.

    What it answered is put into `made`, by the id of the event.
    """
    left = {wire.headers["ce-id"] for wire in wires}
    for each in by_stream(await listed(running.client), wires):
        await store(running, each)
    spent: list[float] = []
    begun, count = process_time_ns(), 0
    done = asyncio.Event()

    def answered(timed: Sequence[Timed]) -> None:
        nonlocal begun, count
        count += len(timed)
        made.update((turn.input.id, turn) for turn, _ in timed)
        # While one batch is written the next is decided on: single ones tell nothing.
        if count >= WINDOW:
            spent.append((process_time_ns() - begun) / count / 1000)
            begun, count = process_time_ns(), 0
        left.difference_update(turn.input.id for turn, _ in timed)
        if not left:
            done.set()

    worker = a_worker(
        running.log, running.writer, Listeners(answered), provider=provider
    )
    async with beside(worker.run()):
        await done.wait()
    # The first window includes the settings that every partition gets at the start.
    return _percentile_20(spent[1:])


def by_stream(segments: Segments, wires: Sequence[Wire]) -> list[list[Wire]]:
    """Return messages, those of each stream together: a batch goes to one stream."""
    found: dict[str, list[Wire]] = {}
    for wire in wires:
        stream = segments.open_of(parse(wire.subject).partition).stream
        found.setdefault(stream, []).append(wire)
    return list(found.values())


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


async def writing(running: Rig, answered: list[Group]) -> float:
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
