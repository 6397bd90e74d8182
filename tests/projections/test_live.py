"""The projector beside a real worker on a real broker, with agents in many partitions."""

import pytest

from bench.beside import beside
from projections.projector.projector import Projector
from projections.projector.rebuild import Here, verify
from projections.store import queries
from projections.store.store import Store
from schemas.values.record import Wire
from schemas.values.subjects import outputs_of
from streams.jetstream.read import JetStreamReader
from tests.minds import bringer, publish, sensed, started, until, working
from tests.servers import fresh_broker

pytestmark = pytest.mark.services

AGENTS = ("ada", "ben", "cleo", "dora", "emil")
EVENTS = 40


async def test_the_tables_follow_a_worker_through_a_broken_broker(store: Store) -> None:
    """Whatever is answered becomes rows, also what comes after the broker was killed."""
    async with fresh_broker() as broker:
        log, writer = broker.reader, broker.writer
        projector = Projector(log, store, bringer(log))
        async with beside(projector.run()), working(log, writer, started()):
            await publish(writer, events(0))
            await until(lambda: decisions(store) == EVENTS, "all are in the tables")
            await broker.server.kill()
            await broker.server.restart()
            await publish(writer, events(1))
            await until(lambda: decisions(store) == 2 * EVENTS, "the rest is too")

        assert await is_up_to_date(log, store)
        verified = await verify(log, store, Here(log, store, bringer(log)))
        assert verified.differences == ()
        assert len(queries.sessions(store)) == len(AGENTS)


def events(round_: int) -> list[Wire]:
    """Some events for each agent."""
    return [
        sensed(AGENTS[n % len(AGENTS)], f"id-{round_}-{n}", f"thing {n} came by")
        for n in range(EVENTS)
    ]


def decisions(store: Store) -> int:
    """How many decisions are in the tables."""
    return len(queries.decisions(store, limit=1000))


async def is_up_to_date(log: JetStreamReader, store: Store) -> bool:
    """Whether the tables are behind nothing that the log holds."""
    for partition, position in store.positions(1).items():
        last = await log.record(await log.last_sequence(outputs_of(partition)))
        if last is None or int(last.headers["ce-causeseq"]) != position.sequence:
            return False
    return True
