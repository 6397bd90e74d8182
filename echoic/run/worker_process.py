"""Workers in processes of their own: each owns some partitions, and reads only these.

The fence makes any number of them safe: the broker refuses a write of a process that was
thought dead once another has written to its partition.
"""

import asyncio
import os
import socket
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from itertools import pairwise
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
from echoic.run.process import prepare
from echoic.run.shared_settings import Unchanged
from echoic.run.starting import folding
from echoic.run.supervision import Notify
from echoic.tracing.destinations import SPOOL
from echoic.tracing.export import Tracer, open_tracer
from echoic.tracing.naming import Held
from echoic.tracing.sampling import Sampling
from handlers.aids import AidProvider, PackLibrary
from handlers.mind.strategies import plugin
from handlers.worker.charge import Charge, RangesOverlap, Standing
from handlers.worker.listening import Listeners, Recovered, Timed
from handlers.worker.loop import Worker
from handlers.worker.wakeups import Wakeups
from schemas.codec.decode import UnreadableOutputError
from schemas.messages.controls import MindStarted
from schemas.ports.faults import MissingPackError
from schemas.state.agent import PartitionState
from schemas.values.subjects import PARTITIONS, range_text, read_range
from schemas.values.vectors import Embedder
from streams.errors import LogDamaged, LogUnavailable, StreamsError
from streams.jetstream.accounts import Credentials
from streams.jetstream.checkpoints import JetStreamCheckpoints
from streams.jetstream.connection import connected
from streams.jetstream.hardened_client import BrokerClient
from streams.jetstream.keys import Keyring
from streams.jetstream.migrate import epoch_of
from streams.jetstream.owners import OwnerBucket

_STOP_S = 15.0
"""Seconds that a process may take at the end, when it saves its checkpoints."""

# The one line of a child's output that is a signal, not news for a person.
_READY = "ready"


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """Which partitions to own, and with what."""

    credentials: Credentials
    partitions: tuple[int, ...]
    is_shared: bool
    """Whether other workers may be in charge of them, from any machine."""
    place: str | None
    """Where it runs, if none but this can run there."""
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


def job(
    settings: Settings,
    credentials: Credentials,
    started: MindStarted,
    name: str,
    *,
    embedder: str,
    partitions: tuple[int, ...],
    is_alone: bool = True,
) -> Job:
    """Return the job of a worker that this program's settings say how to run.

    `is_alone` over its data folder, whose lock is held.
    """
    place = f"{socket.gethostname()}:{settings.data.absolute()}:{name}"
    return Job(
        credentials=credentials,
        partitions=partitions,
        # A broker of its own ends with it, and the folder's lock lets no other in.
        is_shared=settings.nats_url is not None or settings.worker_partitions != "all",
        place=place if is_alone else None,
        embedder=embedder,
        started=started.as_fields(),
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
    charge: Charge | None
    """None: nobody else may be in charge of its partitions."""
    keys: Keyring | None
    """Those of a sealed log."""

    @property
    def ready(self) -> asyncio.Event:
        """Set when it answers the inputs of its partitions, or stands by for who does."""
        return self.worker.ready

    async def run(self) -> None:
        """Answer inputs, and other processes, until cancelled."""
        await self.desk.start()
        if self.charge is not None:
            await self.charge.run(self._work)
        else:
            await self._work()

    async def _work(self) -> None:
        held = self.worker.partitions
        try:
            # One process alone needs no forwarding: it owns all partitions.
            if self.charge is not None or len(held) < PARTITIONS:
                await asyncio.gather(*(self.desk.open(each) for each in held))
            await self.worker.run()
        finally:
            for each in held:
                await self.desk.close(each)
                # Others decide from now on, and forget people.
                if self.charge is not None and self.keys is not None:
                    self.keys.let_go(each)


@contextmanager
def mind(
    job: Job,
    client: BrokerClient,
    log: LiveLog,
    made_by: Embedder,
    notify: Notify,
    *,
    changed: Callable[[Standing], None] | None = None,
) -> Iterator[Mind]:
    """Make the worker of a job; what is left of its traces is sent when the block ends.

    `notify` receives its progress at folding, `changed` who is in charge.
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
    held, host = range_text(job.partitions), socket.gethostname()
    about = owners.Owner(job.name, host, os.getpid(), held, job.is_shared)
    desk = owners.Desk(client, worker.owns, serving.state, serving.of_owner, about)
    charge = _charge(job, client, worker, changed or _saying(notify))
    try:
        yield Mind(worker, meter, serving, desk, charge, log.keyring)
    finally:
        if tracer is not None:
            tracer.close()  # within a second


def _charge(
    job: Job, client: BrokerClient, worker: Worker, changed: Callable[[Standing], None]
) -> Charge | None:
    """Return what the worker has to ask before it writes, where others may take over."""
    if not job.is_shared:
        return None
    charge = worker.tenure = Charge(
        OwnerBucket(client),
        job.partitions,
        f"{socket.gethostname()}/{job.name}",
        worker.ready,
        place=job.place,
        changed=changed,
        seen=Unchanged(job.started["settings"]),
    )
    return charge


def _saying(notify: Notify) -> Callable[[Standing], None]:
    """Return what tells a person who is in charge, where that is not this worker."""

    def changed(standing: Standing) -> None:
        if not standing.is_own:
            notify(
                f"stands by for {standing.range}, of which {standing.owner} has charge"
            )

    return changed


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
    """Return the partitions of each process."""
    processes = settings.worker_processes
    # The processors this process may use: a container is often given fewer than exist.
    given = len(os.sched_getaffinity(0)) if processes == "auto" else int(processes)
    held = read_range(settings.worker_partitions)
    count = min(given, len(held))
    # Each has as many as the next, or one more; in one piece, for whoever stands by for it.
    ends = [len(held) * number // count for number in range(count + 1)]
    return [held[low:high] for low, high in pairwise(ends)]


async def keep_up(
    job: Job, notify: Notify, reports: Reports, ready: asyncio.Event
) -> None:
    """Run the process, and restart it whenever it ends, until cancelled.

    `ready` is set when it has folded its partitions for the first time.

    Raises:
        EchoicError: its log cannot be folded, or others have its partitions, which a
            restart would not help.
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
        code = await child_process.run(__spec__.name, fields, hear, _STOP_S)
        reports.forget(job.name)
        if code == child_process.STANDS_STILL:
            raise EchoicError(said, next_step="echoic log verify")
        if code == child_process.NOT_ALONE:
            raise EchoicError(said, next_step="echoic status")
        notify(f"{_called(job)} has ended by itself: it is started again")
        await asyncio.sleep(child_process.PAUSE_S)


def _called(job: Job) -> str:
    return f"the worker of the partitions {range_text(job.partitions)}"


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
        if await child_process.until_told(_own(job), _STOP_S):
            return 0
    except (LogDamaged, UnreadableOutputError, MissingPackError) as error:
        child_process.tell(str(error))
        return child_process.STANDS_STILL
    except RangesOverlap as error:
        child_process.tell(str(error))
        return child_process.NOT_ALONE
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
