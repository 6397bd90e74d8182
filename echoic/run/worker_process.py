"""Workers in processes of their own: each owns some partitions, and reads only these.

The fence makes any number of them safe: the broker refuses a write of a process that was
thought dead once another has written to its partition.
"""

import asyncio
import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from echoic.client import owners
from echoic.client.connection import LiveLog
from echoic.config.options import Silent
from echoic.doors.answers import Serving
from echoic.embedders import embedder
from echoic.errors import EchoicError
from echoic.metrics.meter import Meter
from echoic.metrics.reports import Reports, report
from echoic.run import child_process
from echoic.run.process import prepare
from echoic.run.starting import folding
from echoic.run.supervision import Notify
from echoic.tracing.export import open_tracer
from echoic.tracing.sampling import Sampling
from handlers.aids import AidProvider, PackLibrary
from handlers.mind.strategies import plugin
from handlers.worker.listening import Listeners, Timed
from handlers.worker.loop import Worker
from handlers.worker.wakeups import Wakeups
from schemas.codec.decode import UnreadableOutputError
from schemas.messages.controls import MindStarted
from schemas.ports.faults import MissingPackError
from schemas.values.subjects import PARTITIONS
from schemas.values.vectors import Embedder
from streams.errors import LogDamaged, StreamsError
from streams.jetstream.accounts import Credentials
from streams.jetstream.checkpoints import JetStreamCheckpoints
from streams.jetstream.connection import connected
from streams.jetstream.hardened_client import BrokerClient
from streams.jetstream.migrate import epoch_of

STOP_S = 15.0
"""Seconds that a process may take at the end, when it saves its checkpoints."""

# The one line of a child's output that is a signal, not news for a person.
_READY = "ready"


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """Which partitions to own, and with what."""

    credentials: Credentials
    partitions: tuple[int, ...]
    embedder: str
    started: Mapping[str, Any]
    """The fields of `MindStarted`."""
    modules: tuple[str, ...]
    """The modules whose strategies the mind may use."""
    trace_endpoint: str | None
    trace_silent: Silent
    trace_ratio: float
    spool: str
    metrics_agents: int
    name: str
    """What it is called in the metrics."""


@dataclass(frozen=True, slots=True)
class Mind:
    """A worker and what goes with it, the same in whichever process it runs."""

    worker: Worker
    meter: Meter
    serving: Serving


@contextmanager
def mind(
    job: Job, client: BrokerClient, log: LiveLog, made_by: Embedder, notify: Notify
) -> Iterator[Mind]:
    """Make the worker of a job; what is left of its traces is sent when the block ends.

    `notify` receives its progress at folding.
    """
    library = PackLibrary(log, made_by)
    meter = Meter(lambda: library.packs, job.metrics_agents)
    tracer = open_tracer(
        job.trace_endpoint,
        os.environ,
        spool=Path(job.spool),
        notify=notify,
        sampling=Sampling(job.trace_silent, job.trace_ratio),
    )

    wakeups = Wakeups(client)

    def answered(made: Sequence[Timed]) -> None:
        wakeups.observe(made)
        meter.observe(made)
        if tracer is not None:
            tracer.observe(made, library.packs)

    worker = Worker(
        log,
        log,
        AidProvider(made_by, library),
        # The instance's own settings, not those of this process's environment: all workers
        # have to record the same ones.
        MindStarted.from_fields(dict(job.started)),
        partitions=job.partitions,
        checkpoints=JetStreamCheckpoints(client),
        listeners=Listeners(
            answered=answered, failed=meter.failed, folding=folding(notify)
        ),
    )
    serving = Serving(worker.knowing, client, log, made_by, library, job.partitions)
    try:
        yield Mind(worker, meter, serving)
    finally:
        # Bounded to a second.
        if tracer is not None:
            tracer.close()


def shares(processes: str) -> list[tuple[int, ...]]:
    """Return the partitions of each process; `auto` makes one for each processor."""
    # The processors this process may use: a container is often given fewer than exist.
    given = len(os.sched_getaffinity(0)) if processes == "auto" else int(processes)
    count = min(given, PARTITIONS)
    # Dealt round robin, so that each process has as many partitions as the next, or one
    # more.
    return [tuple(range(number, PARTITIONS, count)) for number in range(count)]


async def keep_up(
    job: Job, notify: Notify, reports: Reports, ready: asyncio.Event
) -> None:
    """Run the process, and restart it whenever it ends, until cancelled.

    `ready` is set when it has folded its partitions for the first time.

    Raises:
        EchoicError: its log cannot be folded, which a restart would not help.
    """
    said = ""

    def hear(line: str) -> None:
        nonlocal said
        if line == _READY:
            ready.set()
        elif not reports.take(job.name, line):
            said = line
            notify(line)

    fields = asdict(job)
    while True:
        code = await child_process.run(__spec__.name, fields, hear, STOP_S)
        reports.forget(job.name)
        if code == child_process.STANDS_STILL:
            raise EchoicError(said, next_step="echoic log verify")
        notify(
            f"the worker of {len(job.partitions)} partitions has ended by itself:"
            " it is started again"
        )
        await asyncio.sleep(child_process.PAUSE_S)


def main() -> int:
    """Run as a worker process; return the exit code."""
    prepare()
    fields = child_process.given_job()
    credentials = Credentials(**fields.pop("credentials"))
    job = Job(credentials=credentials, **fields)
    plugin.allow(tuple(job.modules))
    return asyncio.run(_work(job))


async def _work(job: Job) -> int:
    """Work on the partitions until standard input ends or an error stops it."""
    try:
        if await child_process.until_told(_own(job)):
            return 0
    except (LogDamaged, UnreadableOutputError, MissingPackError) as error:
        child_process.tell(str(error))
        return child_process.STANDS_STILL
    except StreamsError as error:
        child_process.tell(f"a worker lost the broker: {error}")
    return 1


async def _own(job: Job) -> None:
    made_by, tell = embedder(job.embedder), child_process.tell
    async with connected(job.credentials, "echoic worker") as client:
        log = LiveLog(client, await epoch_of(client))
        with mind(job, client, log, made_by, tell) as own:
            serving = own.serving
            await owners.answer(client, job.partitions, serving.state, serving.of_owner)
            telling = asyncio.create_task(_tell_when(own.worker.ready, own.meter))
            try:
                await own.worker.run()
            finally:
                telling.cancel()


async def _tell_when(ready: asyncio.Event, meter: Meter) -> None:
    """Tell that it is ready, and from then on what it counted."""
    await ready.wait()
    child_process.tell(_READY)
    await report(meter, child_process.tell)


if __name__ == "__main__":
    sys.exit(main())
