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
from echoic.client.connection import LiveLog, open_log
from echoic.config.load import Settings
from echoic.config.options import Content, Silent
from echoic.doors.answers import Serving
from echoic.embedders import embedder
from echoic.errors import EchoicError, SettingsError
from echoic.metrics.meter import Meter
from echoic.metrics.reports import Reports, report
from echoic.run import child_process
from echoic.run.member import Changed, Member
from echoic.run.process import prepare
from echoic.run.starting import folding
from echoic.run.supervision import Notify
from echoic.tracing.destinations import SPOOL
from echoic.tracing.export import Tracer, open_tracer
from echoic.tracing.naming import Held
from echoic.tracing.sampling import Sampling
from handlers.aids import AidProvider, PackLibrary
from handlers.mind.strategies import plugin
from handlers.worker.leases.keeper import tell_nobody
from handlers.worker.listening import Listeners, Recovered, Timed
from handlers.worker.loop import Worker
from handlers.worker.wakeups import Wakeups
from schemas.codec.decode import UnreadableOutputError
from schemas.messages.controls import MindStarted
from schemas.ports.faults import MissingPackError
from schemas.state.agent import PartitionState
from schemas.values.subjects import PARTITIONS
from schemas.values.vectors import Embedder
from streams.errors import LogDamaged, LogUnavailable, StreamsError
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
    """Those that it always owns; () if it shares them by leases."""
    embedder: str
    started: Mapping[str, Any]
    """The fields of `MindStarted`."""
    modules: tuple[str, ...]
    """The modules whose strategies the mind may use."""
    trace_endpoint: str | None
    trace_silent: Silent
    trace_ratio: float
    trace_content: Content
    spool: str
    metrics_agents: int
    name: str
    """What it is called in the metrics."""

    @property
    def is_sharing(self) -> bool:
        """Whether its partitions come and go by leases."""
        return not self.partitions


def job(
    settings: Settings,
    credentials: Credentials,
    started: MindStarted,
    name: str,
    *,
    embedder: str,
    partitions: tuple[int, ...] = (),
) -> Job:
    """Return the job of a worker that this program's settings say how to run."""
    return Job(
        credentials=credentials,
        partitions=partitions,
        embedder=embedder,
        started=started.model_dump(mode="json"),
        modules=settings["strategies.modules"],
        trace_endpoint=settings.trace_endpoint,
        trace_silent=settings.trace_silent,
        trace_ratio=settings.trace_ratio,
        trace_content=settings.trace_content,
        spool=str(settings.data / SPOOL),
        metrics_agents=settings.metrics_agents,
        name=name,
    )


@dataclass(frozen=True, slots=True)
class Mind:
    """A worker and what goes with it, the same in whichever process it runs."""

    worker: Worker
    meter: Meter
    serving: Serving
    desk: owners.Desk
    """Answers for its partitions to other processes."""
    member: Member | None
    """None: it always owns the same partitions."""

    @property
    def ready(self) -> asyncio.Event:
        """Set when it answers the inputs of its partitions."""
        return self.member.settled if self.member is not None else self.worker.ready

    async def run(self) -> None:
        """Answer inputs, and other processes, until cancelled."""
        if self.member is not None:
            await self.member.run(self.worker, self.desk)
            return
        held = self.worker.partitions
        # One process alone needs no forwarding: it owns all partitions.
        if len(held) < PARTITIONS:
            await self.desk.start()
            await asyncio.gather(*(self.desk.open(each) for each in held))
        await self.worker.run()


@contextmanager
def mind(
    job: Job,
    client: BrokerClient,
    log: LiveLog,
    made_by: Embedder,
    notify: Notify,
    *,
    changed: Changed = tell_nobody,
) -> Iterator[Mind]:
    """Make the worker of a job; what is left of its traces is sent when the block ends.

    `notify` receives its progress at folding, `changed` what it owns by leases.
    """
    library = PackLibrary(log, made_by)
    meter = Meter(lambda: library.packs, job.metrics_agents)
    tracer = open_tracer(
        job.trace_endpoint,
        os.environ,
        spool=Path(job.spool),
        notify=notify,
        sampling=Sampling(job.trace_silent, job.trace_ratio),
        content=_content(job, log),
    )
    if tracer is not None:
        meter.watch(tracer)
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
        # The instance's settings, not this process's: all workers record the same ones.
        MindStarted.from_fields(dict(job.started)),
        partitions=job.partitions,
        checkpoints=JetStreamCheckpoints(client, log.keyring),
        listeners=Listeners(
            answered=answered,
            failed=meter.failed,
            folding=folding(notify),
            recovered=_taking_up(tracer, log, library, notify),
        ),
        keys=log.keyring,
    )
    serving = Serving(worker.known_now, client, log, made_by, library, worker.owns)
    desk = owners.Desk(client, worker.owns, serving.state, serving.of_owner)
    member = None
    if job.is_sharing:
        settings = job.started["settings"]
        member = Member(client, job.name, settings, log.keyring, changed)
    try:
        yield Mind(worker, meter, serving, desk, member)
    finally:
        if tracer is not None:
            tracer.close()  # within a second


def _taking_up(
    tracer: Tracer | None, log: LiveLog, library: PackLibrary, notify: Notify
) -> Recovered:
    """Return what traces, of a partition that was recovered, what was open at the end."""

    async def recovered(partition: int, state: PartitionState) -> None:
        if tracer is None:
            return
        try:
            await tracer.take_up(log, partition, Held(state, library.packs))
        # The mind, which has folded the log, does not depend on what can be traced of it.
        except (LogDamaged, LogUnavailable, UnreadableOutputError) as error:
            notify(f"what was open at the last end is not traced: {error}")

    return recovered


def _content(job: Job, log: LiveLog) -> Content:
    """Return whether traces hold words: of a sealed log only where that was asked for."""
    is_sealed = log.keyring is not None
    return "off" if is_sealed and job.trace_content == "auto" else job.trace_content


def shares(settings: Settings) -> list[tuple[int, ...]]:
    """Return the partitions of each process; those that share by leases begin with none."""
    processes = settings.worker_processes
    # The processors this process may use: a container is often given fewer than exist.
    given = len(os.sched_getaffinity(0)) if processes == "auto" else int(processes)
    count = min(given, PARTITIONS)
    if settings.worker_leases == "on":
        return [()] * count
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
        notify(f"{_called(job)} has ended by itself: it is started again")
        await asyncio.sleep(child_process.PAUSE_S)


def _called(job: Job) -> str:
    owned = f"the worker of {len(job.partitions)} partitions"
    return job.name if job.is_sharing else owned


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
        # A second cancellation would cut off the saving of checkpoints.
        if await child_process.until_told(_own(job), STOP_S):
            return 0
    except (LogDamaged, UnreadableOutputError, MissingPackError) as error:
        child_process.tell(str(error))
        return child_process.STANDS_STILL
    except SettingsError as error:
        child_process.tell(error.what)
    except StreamsError as error:
        child_process.tell(f"a worker lost the broker: {error}")
    return 1


async def _own(job: Job) -> None:
    made_by, tell = embedder(job.embedder), child_process.tell
    async with connected(job.credentials, "echoic worker") as client:
        log = await open_log(client, await epoch_of(client))
        with mind(job, client, log, made_by, tell) as own:
            telling = asyncio.create_task(_tell_when(own.ready, own.meter))
            try:
                await own.run()
            finally:
                telling.cancel()


async def _tell_when(ready: asyncio.Event, meter: Meter) -> None:
    """Tell that it is ready, and from then on what it counted."""
    await ready.wait()
    child_process.tell(_READY)
    await report(meter, child_process.tell)


if __name__ == "__main__":
    sys.exit(main())
