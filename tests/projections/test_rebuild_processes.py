"""A rebuild by several processes: the same tables, beside a mind that goes on."""

import asyncio
import multiprocessing
import pickle
import signal
import sys
from collections.abc import AsyncIterator, Mapping
from dataclasses import asdict

import orjson
import psutil  # type: ignore[import-untyped]  # has no types
import pytest
import sqlalchemy as sa

from bench.beside import beside
from echoic.run.rebuild_processes import Crew, Job, raised
from projections.errors import StoreUnavailable
from projections.projector.projector import Projector
from projections.projector.rebuild import Here, rebuild, verify
from projections.store.store import Store
from streams.errors import LogDamaged
from tests.minds import bringer, publish, started, until, working
from tests.projections.test_live import EVENTS, decisions, events
from tests.servers import Broker, fresh_broker

pytestmark = pytest.mark.services


@pytest.fixture
async def broker(store: Store) -> AsyncIterator[Broker]:
    """A broker whose log is answered, and in the tables."""
    async with fresh_broker() as broker:
        projector = Projector(broker.reader, store, bringer(broker.reader))
        async with (
            beside(projector.run()),
            working(broker.reader, broker.writer, started()),
        ):
            await publish(broker.writer, events(0))
            await until(lambda: decisions(store) == EVENTS, "all are in the tables")
        yield broker


def job(broker: Broker, database: str) -> Job:
    """What the processes are to do."""
    return Job(
        credentials=broker.server.core, database_url=database, embedder="wordllama"
    )


async def test_processes_make_the_same_tables(
    broker: Broker, store: Store, database: str
) -> None:
    """Beside a projector that goes on; and they prove what it writes afterwards."""
    log, written = broker.reader, list[int]()
    async with beside(Projector(log, store, bringer(log)).run()):
        with Crew(job(broker, database), 2) as crew:
            crew.progress = written.append
            assert await rebuild(store, crew) == 2
        async with working(log, broker.writer, started()):
            await publish(broker.writer, events(1))
            await until(lambda: decisions(store) == 2 * EVENTS, "the rest is too")

    with Crew(job(broker, database), 2) as crew:
        verified = await verify(log, store, crew)
    assert (verified.version, verified.differences) == (2, ())
    assert written[-1] >= EVENTS


async def test_a_killed_rebuild_leaves_what_serves(
    broker: Broker, store: Store, database: str
) -> None:
    """Its processes end with it, and the next rebuild clears away what it left."""
    with store.transaction() as held:
        held.execute(sa.text("LOCK TABLE positions IN SHARE MODE"))
        rebuilding = await asyncio.create_subprocess_exec(
            *(sys.executable, "-m", "bench.rebuilding", database),
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
        )
        assert rebuilding.stdin is not None
        assert rebuilding.stdout is not None
        rebuilding.stdin.write(orjson.dumps(asdict(broker.server.core)) + b"\n")
        assert await rebuilding.stdout.readline() == b"ready\n"
        await until(lambda: is_waited_for(store), "a process waits to write")
        processes = psutil.Process(rebuilding.pid).children(recursive=True)
        rebuilding.send_signal(signal.SIGKILL)
        await rebuilding.wait()
        _, alive = await asyncio.to_thread(psutil.wait_procs, processes, 10)

    assert processes
    assert not alive
    assert [each.state for each in store.versions()] == ["serving", "building"]
    assert decisions(store) == EVENTS
    log = broker.reader
    assert await rebuild(store, Here(log, store, bringer(log))) == 2
    assert [each.state for each in store.versions()] == ["retired", "serving"]


async def test_what_a_process_raises_is_raised_here(broker: Broker) -> None:
    """It is the same error, so that a command ends as it would without processes."""
    nowhere = "postgresql://echoic:x@127.0.0.1:9/postgres"
    crew = Crew(job(broker, nowhere), 1)
    with crew, pytest.raises(StoreUnavailable, match="is away"):
        await crew.fill(2)


async def test_a_process_that_is_killed_ends_the_rebuild(
    broker: Broker, store: Store, database: str
) -> None:
    """What serves is as it was."""
    crew = Crew(job(broker, database), 1)
    with crew, pytest.raises(StoreUnavailable, match="run it again"):
        await rebuild(store, Killing(crew))

    assert [each.number for each in store.versions()] == [1]


def test_an_error_passes_between_processes() -> None:
    """Also one that is made of other arguments than its words."""
    error = LogDamaged("skipped", 7, "nothing answers it")
    passed = pickle.dumps((type(error), error.args, vars(error)))
    made = raised(*pickle.loads(passed))

    assert isinstance(made, LogDamaged)
    assert (str(made), made.sequence) == (str(error), 7)


class Killing:
    """Ends the processes of a crew before they begin."""

    def __init__(self, crew: Crew) -> None:
        self._crew = crew

    async def fill(self, version: int, until: Mapping[int, int] | None = None) -> None:
        for child in multiprocessing.active_children():
            child.kill()
        await self._crew.fill(version, until)


def is_waited_for(store: Store) -> bool:
    """Whether somebody waits for a lock of the database."""
    with store.transaction() as connection:
        waiting = "SELECT count(*) FROM pg_locks WHERE NOT granted"
        return bool(connection.scalar(sa.text(waiting)))
