"""The conditions of `bench.disturbances`: what is beside a worker, as it should be or failing.

Each is a context manager over a running rig, which yields the worker's command line.
"""

from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

from prometheus_client import CollectorRegistry

from bench import hanging
from bench.beside import beside
from bench.collectors import collector
from bench.rig import Rig, child
from echoic.metrics.reports import Reports
from echoic.run import projector_process
from handlers.worker.listening import tell_nobody
from projections.postgres.server import embedded_postgres
from streams.embedded import free_port

Side = Callable[[Rig], AbstractAsyncContextManager[Sequence[str]]]
"""Makes the conditions of one side of a pair; yields the command line of its worker."""


@asynccontextmanager
async def alone(_: Rig) -> AsyncIterator[Sequence[str]]:
    """Nothing is beside the worker."""
    yield ("bench.worker",)


@asynccontextmanager
async def without_collector(_: Rig) -> AsyncIterator[Sequence[str]]:
    """Send traces to an address that refuses connections."""
    yield ("bench.worker", f"http://127.0.0.1:{free_port()}")


def with_collector(kind: str) -> Side:
    """Send traces to a collector of a kind of `bench.collectors`."""

    @asynccontextmanager
    async def side(running: Rig) -> AsyncIterator[Sequence[str]]:
        async with collector(running, kind) as address:
            yield ("bench.worker", address)

    return side


def with_model(serve: hanging.Serve) -> Side:
    """Ask a model for what no heuristic answers."""

    @asynccontextmanager
    async def side(_: Rig) -> AsyncIterator[Sequence[str]]:
        async with hanging.model(serve) as base:
            yield (hanging.MODULE, base)

    return side


def with_webhook(kind: str) -> Side:
    """Post each response to a receiver of a kind of `bench.collectors`."""

    @asynccontextmanager
    async def side(running: Rig) -> AsyncIterator[Sequence[str]]:
        async with collector(running, kind) as address:
            yield (hanging.MODULE, "--webhook", address)

    return side


@asynccontextmanager
async def with_database(running: Rig) -> AsyncIterator[Sequence[str]]:
    """Keep up a projector over a database of its own."""
    with TemporaryDirectory(prefix="echoic-bench-") as folder:
        async with (
            embedded_postgres(Path(folder) / "postgres") as database,
            _projecting(running, database.url),
        ):
            yield ("bench.worker",)


@asynccontextmanager
async def without_database(running: Rig) -> AsyncIterator[Sequence[str]]:
    """Keep up a projector over a database that refuses connections."""
    url = f"postgresql://echoic@127.0.0.1:{free_port()}/echoic"
    async with _projecting(running, url):
        yield ("bench.worker",)


@asynccontextmanager
async def with_hanging_database(running: Rig) -> AsyncIterator[Sequence[str]]:
    """Keep up a projector over a database that takes connections and never answers."""
    async with hanging.model(hanging.hang) as base:
        host = base.removeprefix("http://").removesuffix("/v1")
        async with _projecting(running, f"postgresql://echoic@{host}/echoic"):
            yield ("bench.worker",)


@asynccontextmanager
async def _projecting(running: Rig, database_url: str) -> AsyncIterator[None]:
    """Keep up a projector as an instance does, for the length of the block."""
    with TemporaryDirectory(prefix="echoic-bench-") as folder:
        job = projector_process.Job(
            credentials=running.server.core,
            database_url=database_url,
            embedder="wordllama",
            trace_endpoint=None,
            spool=str(Path(folder) / "traces.jsonl"),
        )
        reports = Reports(CollectorRegistry(), ())
        async with beside(projector_process.keep_up(job, tell_nobody, reports)):
            yield


def with_door(readers: str) -> Side:
    """Serve HTTP, and have clients follow all agents: they `read` or leave it `unread`."""

    @asynccontextmanager
    async def side(running: Rig) -> AsyncIterator[Sequence[str]]:
        port = str(free_port())
        with TemporaryDirectory(prefix="echoic-bench-") as folder:
            async with (
                child(running, "bench.door", "serve", port, folder),
                child(running, "bench.door", readers, port, folder),
            ):
                yield ("bench.worker",)

    return side
