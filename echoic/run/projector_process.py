"""The read models' own process: it keeps the tables up beside the mind, never in its way.

Its rule: it ends when its standard input does, so it never outlives the instance. What
stops the tables is told in a line on its standard output, and never stops the mind.
"""

import asyncio
import logging
import sys
from asyncio.subprocess import PIPE, Process
from contextlib import suppress
from dataclasses import asdict, dataclass

import orjson

from echoic.embedders import embedder
from echoic.run.supervision import Notify
from handlers.aids import Bringer, PackLibrary
from handlers.fold_start import Beginnings
from handlers.state_sources import state_code
from projections.errors import ProjectionError
from projections.projector.projector import Projector
from projections.store.store import Store
from schemas.codec.decode import UnreadableOutputError
from schemas.ports.aids import MissingPackError
from schemas.state.agent import PartitionState
from streams.errors import LogDamaged, StreamsError
from streams.jetstream.accounts import Credentials
from streams.jetstream.checkpoints import JetStreamCheckpoints
from streams.jetstream.connection import connected
from streams.jetstream.read import open_reader

STANDS_STILL = 3
"""The exit code of a process that starting again at once would not help."""

PAUSE_S = 2.0
"""Before a process that ended by itself is started again."""

STILL_S = 10.0
"""Before tables that stood still are looked at again: a rebuild may have mended them."""

CANCEL_AGAIN_S = 0.2

STOP_S = 10.0
"""How long the write under way may take at the end."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """What to project, and into what."""

    credentials: Credentials
    database_url: str
    embedder: str


async def keep_up(job: Job, notify: Notify) -> None:
    """Run the process, again whenever it ends, until cancelled."""
    said = ""

    def say(line: str) -> None:
        nonlocal said
        if line != said:
            notify(line)
        said = line

    while True:
        if await _run(job, say) == STANDS_STILL:
            await asyncio.sleep(STILL_S)
            continue
        say("the read models' process has ended by itself: it is started again")
        await asyncio.sleep(PAUSE_S)


async def _run(job: Job, notify: Notify) -> int:
    # Ctrl-C goes to the instance's group alone; the instance says when this one ends.
    child = await asyncio.create_subprocess_exec(
        sys.executable,
        "-P",
        "-m",
        __spec__.name,
        stdin=PIPE,
        stdout=PIPE,
        process_group=0,
    )
    if child.stdin is None or child.stdout is None:
        raise AssertionError("pipes were asked for")
    try:
        child.stdin.write(orjson.dumps(asdict(job)) + b"\n")
        await child.stdin.drain()
        async for line in child.stdout:
            notify(line.decode().strip())
        return await child.wait()
    finally:
        child.stdin.close()
        await _ended(child)


async def _ended(child: Process) -> None:
    """Wait for the end of a process that has been told to end."""
    with suppress(TimeoutError):
        async with asyncio.timeout(STOP_S):
            await child.wait()
    if child.returncode is None:
        child.kill()
        await child.wait()


def main() -> int:
    """Be that process; return its exit code."""
    logging.basicConfig(level=logging.WARNING, format="%(name)s: %(message)s")
    job = _job(sys.stdin.buffer.readline())
    return asyncio.run(_project(job))


def _job(line: bytes) -> Job:
    fields = orjson.loads(line)
    return Job(**fields | {"credentials": Credentials(**fields["credentials"])})


async def _project(job: Job) -> int:
    """Project until standard input ends, or until something stands in the way."""
    ended = asyncio.create_task(_end_of_input())
    work = asyncio.create_task(_follow(job))
    await asyncio.wait({ended, work}, return_when=asyncio.FIRST_COMPLETED)
    if not work.done():
        await _cancelled(work)
        return 0
    try:
        await work
    except (
        ProjectionError,
        LogDamaged,
        UnreadableOutputError,
        MissingPackError,
    ) as error:
        print(f"the read models stand still: {error}", flush=True)
        return STANDS_STILL
    except StreamsError as error:
        print(f"the read models lost the broker: {error}", flush=True)
    return 1


async def _end_of_input() -> None:
    """Wait until nobody writes any more; in no thread, for which the exit would wait."""
    stream = asyncio.StreamReader()
    await asyncio.get_running_loop().connect_read_pipe(
        lambda: asyncio.StreamReaderProtocol(stream), sys.stdin
    )
    await stream.read()


async def _cancelled(work: asyncio.Task[None]) -> None:
    """Cancel it until it ends: before Python 3.12 a request may swallow a cancellation."""
    while not work.done():
        work.cancel()
        await asyncio.wait({work}, timeout=CANCEL_AGAIN_S)


async def _follow(job: Job) -> None:
    made_by = embedder(job.embedder)
    async with connected(job.credentials, "echoic projector") as client:
        log = await open_reader(client)
        bringer = Bringer(made_by, PackLibrary(log, made_by))
        beginnings = Beginnings(
            log, JetStreamCheckpoints(client), state_code(made_by.digest)
        )

        async def begin(partition: int, written: int) -> tuple[PartitionState, int]:
            found = await beginnings.of(partition, until=written)
            await bringer.bring_packs_of(found.state)
            return found.state, found.last_output

        with Store(job.database_url) as store:
            await Projector(log, store, bringer, begin=begin).run()


if __name__ == "__main__":
    sys.exit(main())
