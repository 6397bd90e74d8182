"""How long starts take over a long log: `python -m bench.starts [--events N]`.

A worker answers some events; the rest repeat them, which the mind answers faster. Seven
agents are busy, one is rarely active, eight partitions are idle, and the log ends as after
a killed worker: up to 15,000 groups follow the newest checkpoints. Then worker, projector,
`state` and `log verify` start over it as an unchanged program would, in this process, each
until it is up to date.
"""

import argparse
import asyncio
import json
import time
from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path
from tempfile import TemporaryDirectory

from bench import world
from bench.rig import Rig, answered, child, load_packs, rig, store
from bench.worker import started
from echoic.client import verified
from echoic.client.state import state_at
from echoic.client.verify_log import verify
from echoic.embedders import embedder
from echoic.run.process import prepare
from handlers.aids import AidProvider, PackLibrary
from handlers.fold_start import Beginnings
from handlers.mind import turn as turns
from handlers.mind.turn import Turn
from handlers.state_sources import state_code
from handlers.worker.checkpointing import GROUPS_BETWEEN, Saver
from handlers.worker.partition_owner import PartitionOwner, advanced, writes
from handlers.worker.recovery import Recovery
from projections.projector.folding import Folding
from replay.chain import Chained
from schemas.codec.decode import read_input
from schemas.codec.encode import wire_digest
from schemas.ports.aids import Aids
from schemas.state.agent import PartitionState
from schemas.values.record import Record
from schemas.values.subjects import PARTITIONS, SHARED_AGENT, parse
from streams.jetstream.checkpoints import JetStreamCheckpoints

EVENTS = 1_000_000
DECIDED = 5_000
"""Events that differ from each other and are answered by a worker."""

# Less than the rig's `BATCH`: one atomic write stores them, so their sequences are
# contiguous, and `_repeat` may count back from the last.
AT_ONCE = 450
SELDOM = world.AGENTS[-1]
# On average one event in so many is of the agent that speaks seldom.
SELDOM_ONE_IN = 500

Figures = dict[str, dict[str, float]]


async def measure(events: int) -> Figures:
    """Build the log, then measure each start in seconds of clock and of CPU."""
    started()  # The embedder is loaded, and is not of what is timed.
    async with rig() as running:
        async with child(running, "bench.worker"):
            await load_packs(running, world.packs(1_000))
            last = await store(running, [each.wire for each in world.events(DECIDED)])
            await answered(running, last)
        with TemporaryDirectory(prefix="echoic-bench-") as folder:
            standings = await _repeat(running, events - DECIDED, Path(folder))
            return await _starts(running, standings, Path(folder))


async def _repeat(running: Rig, count: int, data: Path) -> Mapping[int, PartitionOwner]:
    """Answer `count` repeated events, and keep the marks of a verification near the end."""
    made_by = embedder("wordllama")
    checkpoints = JetStreamCheckpoints(running.client)
    code = state_code(made_by.digest)
    library = PackLibrary(running.log, made_by)
    standings = await _recovered(running, library)
    saver = Saver(checkpoints, running.log.epoch, code)
    events = world.events(DECIDED)[-4_000:]
    busy = [each.wire for each in events if each.agent != SELDOM]
    seldom = [each.wire for each in events if each.agent == SELDOM]
    aids = Aids(packs=library.packs)
    done = 0
    lasts: dict[int, Turn] = {}
    while done < count:
        wires = [busy[(done + n) % len(busy)] for n in range(AT_ONCE - 1)]
        wires.append((seldom if done % SELDOM_ONE_IN < AT_ONCE else busy)[0])
        last = await store(running, wires)
        made: list[Turn] = []
        states = {each.partition: each.state for each in standings.values()}
        now = time.time_ns()
        for place, wire in enumerate(wires, last - len(wires) + 1):
            record = Record(wire.subject, wire.headers, wire.body, place, now)
            partition = parse(wire.subject).partition
            turn = turns.answer(
                states[partition], read_input(record), aids, running.log.epoch
            )
            states[partition] = turn.state
            made.append(turn)
        lasts |= {turn.input.partition: turn for turn in made}
        # Fenced like a worker's writes, so the log is one that every reader accepts.
        ends = await running.writer.commit(writes(made, standings))
        standings |= advanced(made, ends)
        saver.note(made)
        saver.save(standings)
        done += len(wires)
        if done % (100 * AT_ONCE) == 0:
            print(f"{done:,} repeated", flush=True)
        # Kept once, within a checkpoint interval of the end: what `log verify` would have
        # left before the kill.
        if count - done < GROUPS_BETWEEN and not (data / verified.FILE).exists():
            verified.keep(data, _marks(running, standings, lasts))
    return standings


async def _recovered(running: Rig, library: PackLibrary) -> dict[int, PartitionOwner]:
    made_by = embedder("wordllama")
    provider = AidProvider(made_by, library)
    recovery = Recovery(
        running.log,
        provider,
        JetStreamCheckpoints(running.client),
        state_code(made_by.digest),
    )
    return {each: await recovery.recover(each) for each in range(PARTITIONS)}


def _marks(
    running: Rig, standings: Mapping[int, PartitionOwner], last: Mapping[int, Turn]
) -> verified.Marks:
    """Return the marks of a verification up to here, without the count of groups."""
    marks = {}
    for partition, standing in standings.items():
        if partition in last:
            chains = {name: each.chain for name, each in standing.state.agents.items()}
            chains[SHARED_AGENT] = standing.state.shared.chain
            marks[partition] = Chained(
                position=standing.state.position,
                message_id=standing.last_input_id,
                digest=_digest(last[partition].input.record),
                last_output=standing.last_output,
                chains=chains,
            )
    return verified.Marks(str(running.log.epoch), 0, marks)


def _digest(record: Record) -> str:
    return wire_digest(record.subject, record.headers, record.body).hex()


async def _starts(
    running: Rig, standings: Mapping[int, PartitionOwner], data: Path
) -> Figures:
    made_by = embedder("wordllama")
    checkpoints = JetStreamCheckpoints(running.client)
    beginnings = Beginnings(running.log, checkpoints, state_code(made_by.digest))

    async def project() -> None:
        provider = AidProvider(made_by, PackLibrary(running.log, made_by))

        async def begin(partition: int, written: int) -> tuple[PartitionState, int]:
            found = await beginnings.of(partition, until=written)
            await provider.fetch_packs_of(found.state)
            return found.state, found.last_output

        folding = Folding(running.log, provider, begin)
        for partition, standing in standings.items():
            written = standing.state.position
            async for _ in folding.advance(partition, written=written):
                pass

    async def state() -> None:
        await state_at(running.log, world.AGENTS[0], made_by, checkpoints=checkpoints)

    middle = standings[max(standings)].state.position // 2

    async def state_then() -> None:
        await state_at(
            running.log,
            world.AGENTS[0],
            made_by,
            sequence=middle,
            checkpoints=checkpoints,
        )

    async def check() -> None:
        found = await verify(running.log, data, lambda _: None, full=False)
        assert not found.breaks

    async def recover() -> None:
        await _recovered(running, PackLibrary(running.log, made_by))

    return {
        "worker": await _timed(recover),
        "projector": await _timed(project),
        "state": await _timed(state),
        "state_at_half": await _timed(state_then),
        "log_verify": await _timed(check),
    }


async def _timed(start: Callable[[], Awaitable[None]]) -> dict[str, float]:
    began, cpu = time.perf_counter(), time.process_time()
    await start()
    return {
        "s": round(time.perf_counter() - began, 1),
        "cpu_s": round(time.process_time() - cpu, 1),
    }


def main() -> None:
    """Measure and print."""
    prepare()
    parser = argparse.ArgumentParser(prog="python -m bench.starts", description=__doc__)
    parser.add_argument("--events", type=int, default=EVENTS)
    print(json.dumps(asyncio.run(measure(parser.parse_args().events)), indent=2))


if __name__ == "__main__":
    main()
