"""The projector's own process, so that filling tables never takes the mind's time.

It ends when its standard input does, so it never outlives the instance. Whatever stops
the projection is reported by a line on its standard output, and never stops the mind.
"""

import asyncio
import os
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from time import time_ns

from echoic.embedders import embedder
from echoic.metrics.catalogue import PROJECTOR
from echoic.metrics.gauges import ProjectionGauges
from echoic.metrics.reports import Reports, report
from echoic.run import child_process
from echoic.run.process import prepare
from echoic.run.supervision import Notify
from echoic.tracing.export import open_tracer
from echoic.tracing.observe import Answered
from echoic.tracing.projected import ProjectionObserver
from echoic.tracing.sampling import Sampling
from handlers.aids import AidProvider, PackLibrary
from handlers.fold_start import Beginnings
from handlers.state_sources import state_code
from handlers.worker.listening import tell_nobody
from handlers.worker.timing import Times
from projections.errors import ProjectionError
from projections.projector.folding import Projected
from projections.projector.projector import Projector, Told
from projections.store.store import Store
from schemas.codec.decode import UnreadableOutputError
from schemas.ports.faults import MissingPackError
from schemas.state.agent import PartitionState
from streams.errors import LogDamaged, StreamsError
from streams.jetstream.accounts import Credentials
from streams.jetstream.checkpoints import JetStreamCheckpoints
from streams.jetstream.connection import connected
from streams.jetstream.sealed_log import open_reader

_STILL_S = 10.0
"""Seconds before a stopped projector is restarted: a rebuild may have mended it."""

_STOP_S = 10.0
"""Seconds that the write under way may take at the end."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """The log to project, and the database to fill."""

    credentials: Credentials
    database_url: str
    embedder: str
    trace_endpoint: str | None
    spool: str


async def keep_up(job: Job, notify: Notify, reports: Reports) -> None:
    """Run the projector process, and restart it whenever it ends, until cancelled."""
    said = ""

    def say(line: str) -> None:
        nonlocal said
        if reports.take(PROJECTOR, line):
            return
        # Restarted every few seconds, it fails with the same line; report that once.
        if line != said:
            notify(line)
        said = line

    while True:
        code = await child_process.run(__spec__.name, asdict(job), say, _STOP_S)
        reports.forget(PROJECTOR)
        if code == child_process.STANDS_STILL:
            await asyncio.sleep(_STILL_S)
            continue
        say("the read models' process has ended by itself: it is started again")
        await asyncio.sleep(child_process.PAUSE_S)


def main() -> int:
    """Run as the projector process; return the exit code."""
    prepare()
    fields = child_process.given_job()
    credentials = Credentials(**fields.pop("credentials"))
    return asyncio.run(_project(Job(credentials=credentials, **fields)))


async def _project(job: Job) -> int:
    """Project until standard input ends or an error stops it; return the exit code."""
    try:
        if await child_process.until_told(_follow(job)):
            return 0
    # None of these goes away by a restart; somebody has to mend the log or the tables.
    except (
        ProjectionError,
        LogDamaged,
        UnreadableOutputError,
        MissingPackError,
    ) as error:
        child_process.tell(f"the read models stand still: {error}")
        return child_process.STANDS_STILL
    # LogDamaged is a StreamsError too, so it had to be caught above.
    except StreamsError as error:
        child_process.tell(f"the read models lost the broker: {error}")
    return 1


async def _follow(job: Job) -> None:
    made_by = embedder(job.embedder)
    async with connected(job.credentials, "echoic projector") as client:
        log = await open_reader(client)
        provider = AidProvider(made_by, PackLibrary(log, made_by))
        beginnings = Beginnings(
            log, JetStreamCheckpoints(client, log.keyring), state_code(made_by.digest)
        )

        # Rows depend on the state before the input, so folding starts from a checkpoint at
        # the tables' position, with the packs that the state refers to.
        async def begin(partition: int, written: int) -> tuple[PartitionState, int]:
            found = await beginnings.of(partition, until=written)
            await provider.fetch_packs_of(found.state)
            return found.state, found.last_output

        gauges = ProjectionGauges()
        reporting = asyncio.create_task(report(gauges, child_process.tell))
        try:
            with Store(job.database_url) as store, _tracing(job) as trace:

                def told(made: Sequence[Projected]) -> None:
                    gauges.wrote(len(made))
                    trace(made)

                projector = Projector(log, store, provider, told=told, begin=begin)
                gauges.watch(projector)
                await projector.run()
        finally:
            reporting.cancel()


@contextmanager
def _tracing(job: Job) -> Iterator[Told]:
    """Trace when the read models have a decision, for the length of the block."""
    tracer = open_tracer(
        job.trace_endpoint,
        os.environ,
        spool=Path(job.spool),
        # The worker says where the traces go.
        notify=tell_nobody,
        # No silence has such a span.
        sampling=Sampling("none"),
        observer=ProjectionObserver(),
    )
    if tracer is None:
        yield tell_nobody
        return

    def told(made: Sequence[Projected]) -> None:
        now_ns = time_ns()
        times = Times(
            picked_up_ns=now_ns,
            started_ns=now_ns,
            decided_ns=now_ns,
            committed_ns=now_ns,
        )
        for each in made:
            tracer.answered(Answered(each.input, tuple(each.outputs), times))

    try:
        yield told
    finally:
        tracer.close()


if __name__ == "__main__":
    sys.exit(main())
