"""CPU time of the mind in memory, part by part: `python -m bench.mind [--events N]`.

Events of the bench's household are answered with 1,000 heuristics as a worker answers
what waits for it, in batches, but without a broker. A figure is microseconds of CPU an
event: the 20th percentile of the batches of a run, then the median of the runs, since
whoever else uses the machine can only make a batch dearer.
"""

import argparse
import asyncio
import json
import os
import statistics
from collections.abc import Sequence
from itertools import count
from time import process_time_ns
from uuid import UUID

from msgspec.structs import replace

# Before numpy is loaded: a second thread of it counts as the mind's.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

from bench import world
from bench.rig import PARTITIONS
from bench.worker import started
from echoic.embedders import embedder
from echoic.run.process import prepare
from handlers.aids import AidProvider, PackLibrary
from handlers.mind import handle, turn
from handlers.mind.turn import Turn
from handlers.worker.loop import INPUTS_AT_ONCE
from handlers.worker.partition_owner import PartitionOwner, writes
from handlers.worker.timing import StageClock
from projections.folds import partition, rate_limits
from schemas.codec.decode import read_input
from schemas.codec.encode import write_input
from schemas.codec.envelope import Input
from schemas.messages.controls import MindStarted, PackLoaded
from schemas.packs.manifest import to_blob
from schemas.ports.aids import Aids
from schemas.ports.faults import check_size
from schemas.state.agent import PartitionState
from schemas.values.record import Record, Wire
from schemas.values.settings import MindSettings
from schemas.values.subjects import SHARED_AGENT
from streams.headers import block_of
from streams.log import check_writes
from tests.memory_log import MemoryLog

# 32 full batches of `INPUTS_AT_ONCE`.
EVENTS = 6_144
HEURISTICS = 1_000
RUNS = 3
PARTS = ("read_input", "aids", "handle", "ids_headers_json", "chain_and_fold", "commit")
EPOCH = UUID(int=5)
BEGIN_NS = 1_767_600_000_000_000_000
# Two milliseconds between events by the log's clock.
STEP_NS = 2_000_000

Figures = dict[str, float]
"""Microseconds of CPU for each event, by part, and their `sum`."""


async def measured(events: int = EVENTS, runs: int = RUNS) -> Figures:
    """Run several times, and return the median of each figure."""
    found = [await _run(events) for _ in range(runs)]
    medians = {part: statistics.median(each[part] for each in found) for part in PARTS}
    medians["sum"] = statistics.median(sum(each.values()) for each in found)
    return {part: round(figure, 1) for part, figure in medians.items()}


async def _run(events: int) -> Figures:
    """Return microseconds per event of each part: the 20th percentile of all batches."""
    life = Life()
    await life.begin()
    told = [event.wire for event in world.events(events)]
    batches = [
        await life.answer(told[start : start + INPUTS_AT_ONCE])
        for start in range(0, len(told), INPUTS_AT_ONCE)
    ]
    # The first fill caches, and a short last one is none.
    whole = batches[1 : events // INPUTS_AT_ONCE]
    return {part: percentile_20([each[part] for each in whole]) for part in PARTS}


class Life:
    """All partitions that have agents, as one worker keeps them."""

    def __init__(
        self, settings: MindSettings | None = None, step_ns: int = STEP_NS
    ) -> None:
        """Live by these settings, else by the bench's; events come `step_ns` apart."""
        self._settings, self._step_ns = settings, step_ns
        log, made_by = MemoryLog(EPOCH), embedder("wordllama")
        self._log = log
        self._provider = AidProvider(made_by, PackLibrary(log, made_by))
        self._states = {number: PartitionState() for number in PARTITIONS}
        self._sequences = count(1)

    async def begin(self) -> None:
        """Start a mind with the pack in force in each partition."""
        pack = world.pack(HEURISTICS)
        digest = await self._log.put_blob(to_blob(pack))
        loaded = PackLoaded(name=pack.name, pack_version=pack.version, digest=digest)
        for number in PARTITIONS:
            for message in (self._started(), loaded):
                wire = write_input(
                    message,
                    agent=SHARED_AGENT,
                    partition=number,
                    id_=f"{number}-{message.token}",
                    source="/bench",
                )
                await self.answer([wire])

    def _started(self) -> MindStarted:
        message = started()
        if self._settings is None:
            return message
        return replace(message, settings=self._settings)

    async def answer(self, wires: Sequence[Wire]) -> Figures:
        """Answer inputs as one batch; return microseconds per input by part."""
        records = [self._record(wire) for wire in wires]
        watch = _Watch()
        inputs = [read_input(record) for record in records]
        watch.lap("read_input")
        # As the worker does: what the rate limit refuses needs no embedding.
        shed = rate_limits.sheds(self._states, inputs)
        brought = await self._provider.for_inputs(inputs, shed)
        watch.lap("aids")
        steps = [self._step(*each) for each in zip(inputs, brought, strict=True)]
        watch.lap("handle")
        for step in steps:
            step.mark()
        watch.lap("ids_headers_json")
        for step in steps:
            step.conclude()
        watch.lap("chain_and_fold")
        # The two were done within the steps, too: each needs the state after the last.
        watch.take("handle", "ids_headers_json", "chain_and_fold")
        self._prepare_commit([step.turn for step in steps])
        watch.lap("commit")
        return watch.each(len(wires))

    def _step(self, taken: Input, aids: Aids) -> "_Step":
        """Answer one input, and keep the state after it."""
        before = self._states[taken.partition]
        # Timed as the worker times it, whether or not somebody traces.
        probe = StageClock().enter
        answer = handle.handle(before, taken, aids, EPOCH, probe=probe)
        step = _Step(before, taken, aids, answer)
        self._states[taken.partition] = step.turn.state
        return step

    def _prepare_commit(self, made: Sequence[Turn]) -> None:
        """Build the messages and headers that a writer would send."""
        standings = {
            key: PartitionOwner(key, state) for key, state in self._states.items()
        }
        found = writes(made, standings)
        check_writes(found)
        for write in found:
            for wire in write.messages:
                block_of(wire.headers)

    def _record(self, wire: Wire) -> Record:
        sequence = next(self._sequences)
        at = BEGIN_NS + self._step_ns * sequence
        return Record(wire.subject, wire.headers, wire.body, sequence, at)


class _Step:
    """An answered input, whose later parts can be repeated to be timed alone."""

    def __init__(
        self, before: PartitionState, taken: Input, aids: Aids, answer: handle.Outputs
    ) -> None:
        self._before, self._taken, self._aids = before, taken, aids
        self._answer = answer
        self.mark()
        self.conclude()

    def mark(self) -> None:
        self._outputs = turn.marked(self._taken, self._answer, EPOCH)
        check_size([output.record.body for output in self._outputs])

    def conclude(self) -> None:
        agent, outputs = self._answer.agent, self._outputs
        after = partition.concluded(
            self._before, self._taken, outputs, agent, self._aids
        )
        self.turn = Turn(self._taken, outputs, after)


class _Watch:
    """CPU time by part.

    It is read a few times a batch: to read it for each input makes way for whoever else
    wants the processor, and what comes back finds its caches cold.
    """

    def __init__(self) -> None:
        self._spent_ns = dict.fromkeys(PARTS, 0)
        self._last_ns = process_time_ns()

    def lap(self, part: str) -> None:
        now_ns = process_time_ns()
        self._spent_ns[part] += now_ns - self._last_ns
        self._last_ns = now_ns

    def take(self, part: str, *others: str) -> None:
        self._spent_ns[part] -= sum(self._spent_ns[other] for other in others)

    def each(self, inputs: int) -> Figures:
        return {part: spent / inputs / 1000 for part, spent in self._spent_ns.items()}


# Load from outside only ever adds, so a low percentile; not the minimum, which is one
# lucky batch.
def percentile_20(figures: Sequence[float]) -> float:
    return statistics.quantiles(figures, n=5)[0]


def main() -> None:
    """Measure and print."""
    prepare()
    parser = argparse.ArgumentParser(prog="python -m bench.mind", description=__doc__)
    parser.add_argument("--events", type=int, default=EVENTS)
    parser.add_argument("--runs", type=int, default=RUNS)
    given = parser.parse_args()
    print(json.dumps(asyncio.run(measured(given.events, given.runs)), indent=2))


if __name__ == "__main__":
    main()
