"""The rig: a real server, a real worker in its own process, and inputs put in the log.

As in production there are three processes: the server, the worker, and whoever publishes.
Credentials go to a child by its standard input.
"""

import asyncio
import itertools
import os
import sys
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from uuid import uuid4

import orjson
import psutil  # type: ignore[import-untyped]  # has no types

from bench import world
from bench.beside import beside
from handlers.worker.loop import INPUTS_AT_ONCE
from schemas.messages.controls import PackLoaded
from schemas.packs.manifest import Pack, to_blob
from schemas.values.record import Wire
from schemas.values.subjects import (
    SHARED_AGENT,
    inputs_of,
    outputs_of,
    parse,
    partition_of,
)
from streams.broker.server import EmbeddedServer, embedded_server
from streams.groups import answer
from streams.jetstream.accounts import Credentials
from streams.jetstream.append import JetStreamWriter
from streams.jetstream.connection import connect
from streams.jetstream.hardened_client import BrokerClient
from streams.jetstream.migrate import migrate, open_intake
from streams.jetstream.read import JetStreamReader
from streams.log import append_input

PARTITIONS = tuple(sorted({partition_of(agent) for agent in world.AGENTS}))
# Below the 1,000 messages that nats-server allows in one atomic batch by default.
BATCH = 500
START_S = 60.0
PATIENCE_S = 120.0
POLL_S = 0.2


@dataclass(frozen=True, slots=True)
class Rig:
    """A running server with an empty log, and a connection to it."""

    server: EmbeddedServer
    client: BrokerClient
    log: JetStreamReader
    writer: JetStreamWriter
    seeds: Iterator[int]

    def events(self, count: int) -> list[world.Event]:
        """Return events that nobody told over this log before.

        Those of one seed have the same ids each time, and the mind refuses a repeat.
        """
        return world.events(count, seed=next(self.seeds))


@asynccontextmanager
async def rig(first_seed: int = 1) -> AsyncIterator[Rig]:
    """Run a server over a temporary folder, and connect to it.

    Its events are of `first_seed`, of the next number, and so on.
    """
    with TemporaryDirectory(prefix="echoic-bench-") as folder:
        async with embedded_server(Path(folder)) as server:
            client = await server.connect("bench")
            try:
                epoch = await migrate(client)
                await open_intake(client)
                server.tend()
                log, writer = JetStreamReader(client, epoch), JetStreamWriter(client)
                yield Rig(server, client, log, writer, itertools.count(first_seed))
            finally:
                await client.close()


@asynccontextmanager
async def child(
    rig: Rig,
    module: str,
    *arguments: str,
    credentials: Credentials | None = None,
    may_end: bool = False,
) -> AsyncIterator[asyncio.subprocess.Process]:
    """Start a process that connects to the server, and yield it once it is ready.

    If it ends before the block does, so does the block: what it waits for never comes. One
    that `may_end` ends the block only if it fails.

    Raises:
        RuntimeError: it ended, or printed something else first.
        TimeoutError: it was not ready within `START_S` seconds.
    """
    async with AsyncExitStack() as stack:
        command, given = (module, *arguments), credentials or rig.server.core
        process = await stack.enter_async_context(_process(command, given))
        ending = _ending(command, process, may_end=may_end)
        await stack.enter_async_context(beside(ending, may_end=may_end))
        async with asyncio.timeout(START_S):
            await _ready(command, process)
        yield process


@asynccontextmanager
async def workers(
    rig: Rig,
    processes: int,
    *arguments: str,
    note: Callable[[psutil.Process], None] = lambda _: None,
) -> AsyncIterator[list[psutil.Process]]:
    """Start workers that share the partitions, all at once; yield them once all are ready.

    `note` is told of each when it is ready, the first before the last.
    """
    commands = [
        ("bench.worker", f"{number}/{processes}", *arguments)
        for number in range(processes)
    ]

    async def ready(
        command: Sequence[str], process: asyncio.subprocess.Process
    ) -> None:
        await _ready(command, process)
        note(psutil.Process(process.pid))

    async with AsyncExitStack() as stack:
        made = [
            await stack.enter_async_context(_process(each, rig.server.core))
            for each in commands
        ]
        await stack.enter_async_context(beside(*map(_ending, commands, made)))
        async with asyncio.timeout(START_S):
            await asyncio.gather(*map(ready, commands, made))
        yield [psutil.Process(each.pid) for each in made]


@asynccontextmanager
async def _process(
    command: Sequence[str], given: Credentials
) -> AsyncIterator[asyncio.subprocess.Process]:
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        "-m",
        *command,
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        # A second thread of numpy takes the processor of the server or of another child.
        env={**os.environ, "OPENBLAS_NUM_THREADS": "1"},
    )
    assert process.stdin is not None
    # Not by argument or environment: other users of the machine can read both.
    process.stdin.write(orjson.dumps(asdict(given)) + b"\n")
    await process.stdin.drain()
    try:
        yield process
    finally:
        if process.returncode is None:
            process.terminate()
        await process.wait()


async def _ready(command: Sequence[str], process: asyncio.subprocess.Process) -> None:
    assert process.stdout is not None
    if await process.stdout.readline() != b"ready\n":
        raise RuntimeError(f"{command[0]!r} did not start: see its output above")


async def _ending(
    command: Sequence[str],
    process: asyncio.subprocess.Process,
    *,
    may_end: bool = False,
) -> None:
    code = await process.wait()
    if code or not may_end:
        raise RuntimeError(f"{command[0]!r} ended ({code}): see its output above")


def given_credentials() -> Credentials:
    """In the child: read the parent's credentials from stdin; to be called once."""
    return Credentials(**orjson.loads(sys.stdin.readline()))


async def connected_child() -> BrokerClient:
    """In the child: connect with the parent's credentials."""
    return await connect(given_credentials(), "bench child")


async def load_packs(
    rig: Rig, packs: Sequence[Pack], partitions: Sequence[int] = PARTITIONS
) -> None:
    """Put packs in force in every partition that has agents; a worker must run."""
    for pack in packs:
        digest = await rig.writer.put_blob(to_blob(pack))
        message = PackLoaded(name=pack.name, pack_version=pack.version, digest=digest)
        for partition in partitions:
            sequence = await append_input(
                rig.writer,
                rig.log.epoch,
                message,
                agent=SHARED_AGENT,
                partition=partition,
                id_=str(uuid4()),
                source="/bench",
            )
            await answer(rig.log, partition, sequence, START_S)


async def store_all(rig: Rig, wires: Sequence[Wire]) -> list[int]:
    """Put inputs into the log; return the last sequence of each partition."""
    await store(rig, wires)
    partitions = sorted({parse(wire.subject).partition for wire in wires})
    return [await rig.log.last_sequence(inputs_of(each)) for each in partitions]


async def store(rig: Rig, wires: Sequence[Wire]) -> int:
    """Put inputs into the log, many in a batch: what sensors do, only faster.

    Returns:
        The sequence of the last one.
    """
    last = 0
    for start in range(0, len(wires), BATCH):
        last = await _store_at_once(rig.client, wires[start : start + BATCH])
    return last


async def _store_at_once(client: BrokerClient, wires: Sequence[Wire]) -> int:
    batch = {"Nats-Batch-Id": uuid4().hex}
    # Only the message that closes the batch is acknowledged; the others are staged by the
    # broker until it comes.
    for place, wire in enumerate(wires[:-1], start=1):
        headers = {**wire.headers, **batch, "Nats-Batch-Sequence": str(place)}
        await client.publish(wire.subject, wire.body, headers=headers)
    closing = wires[-1]
    headers = {**closing.headers, **batch, "Nats-Batch-Sequence": str(len(wires))}
    headers["Nats-Batch-Commit"] = "1"
    answered = await client.request(closing.subject, closing.body, 10, headers=headers)
    return int(orjson.loads(answered.data)["seq"])


async def answered(
    rig: Rig, sequence: int, watch: Callable[[], None] = lambda: None
) -> None:
    """Wait until the input at `sequence` is answered; call `watch` now and then."""
    record = await rig.log.record(sequence)
    assert record is not None
    outputs = outputs_of(parse(record.subject).partition)
    async with asyncio.timeout(PATIENCE_S):
        # Following the outputs would take time from the worker that is measured.
        while await _cause_of_last(rig, outputs) < sequence:
            watch()
            await asyncio.sleep(POLL_S)


def cpu_s(*processes: psutil.Process) -> float:
    """Return the CPU seconds of processes so far."""
    times = [each.cpu_times() for each in processes]
    return float(sum(each.user + each.system for each in times))


async def written(rig: Rig, sequence: int) -> None:
    """Wait until the log holds an output at `sequence`."""
    async with asyncio.timeout(PATIENCE_S):
        while await rig.log.last_sequence(outputs_of("*")) < sequence:  # noqa: ASYNC110
            await asyncio.sleep(POLL_S)


async def _cause_of_last(rig: Rig, outputs: str) -> int:
    last = await rig.log.record(await rig.log.last_sequence(outputs))
    return int(last.headers.get("ce-causeseq", 0)) if last is not None else 0


async def rate(rig: Rig, after: int, count: int) -> float:
    """Return events per second, by the broker's times of the outputs after `after`.

    The first write only starts the clock; it is assumed to be a full batch.
    """
    outputs = outputs_of("*")
    (first,) = await rig.log.page(outputs, after, 1)
    last = await rig.log.record(await rig.log.last_sequence(outputs))
    assert last is not None
    return (count - INPUTS_AT_ONCE) / (last.time_ns - first.time_ns) * 1e9
