"""A cluster whose leader is cut off or stands still: what goes on without it."""

import asyncio
import gc
import shutil
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path

import pytest

from bench.cluster_faults import lead_where_the_worker_is, settled
from bench.insisting import SOURCE, TYPE, Told, tell
from echoic.client import verify_log
from echoic.client.connection import Connection, connect
from echoic.client.publish import decided_on
from tests.deploy.cluster import LinkedCluster, linked_cluster
from tests.e2e.conftest import running_instance

pytestmark = [
    pytest.mark.services,
    pytest.mark.skipif(shutil.which("openssl") is None, reason="no openssl here"),
]

DEADLINE_S = 120.0
"""Several elections of a machine that does other things; a quiet one needs a tenth."""
PAUSE_S = 0.1


@pytest.mark.slow
async def test_it_goes_on_without_the_leader(tmp_path: Path) -> None:
    """While the node that leads the log, and has the worker, is cut off from the others or
    stands still, events and votes are taken and answered; each of them once, in order."""
    told = Told({"ada": [], "bob": []})
    sensors = [(agent, SOURCE) for agent in told.events]
    async with (
        linked_cluster(tmp_path, sensors) as made,
        running_instance(
            made.data, made.variables | {"ECHOIC_PARTS": "worker"}
        ) as live,
        connect(live.settings) as connection,
    ):
        end = asyncio.Event()
        async with asyncio.TaskGroup() as group:
            group.create_task(tell(connection, told, PAUSE_S, end))
            for fault in (cut_off, stopped):
                leader = await lead_where_the_worker_is(connection, made)
                with fault(made, leader):
                    await goes_on(connection, told)
                await made.healthy()
                await goes_on(connection, told)
            end.set()

        seen = await settled(connection, told)

        assert seen.is_sound, seen
        assert told.votes
        found = await verify_log.verify(
            connection.log, made.data, lambda _: None, full=True
        )
        assert found.is_sound, found.counts()
    # Here, and not in whichever test follows.
    gc.collect()


@contextmanager
def cut_off(made: LinkedCluster, number: int) -> Iterator[None]:
    """Cut a node off from the other two; its clients still reach it."""
    made.cut(number)
    yield
    made.heal()


@contextmanager
def stopped(made: LinkedCluster, number: int) -> Iterator[None]:
    """Have a node stand still, its connections open."""
    made.nodes[number].signal(signal.SIGSTOP)
    yield
    made.nodes[number].signal(signal.SIGCONT)


async def goes_on(connection: Connection, told: Told) -> None:
    """Wait until each agent has been told three more events, and the last is decided."""
    wanted = {agent: len(ids) + 3 for agent, ids in told.events.items()}
    async with asyncio.timeout(DEADLINE_S):
        for agent, count in wanted.items():
            while len(told.events[agent]) < count:  # noqa: ASYNC110
                await asyncio.sleep(PAUSE_S)
            last = told.events[agent][count - 1]
            wait = partial(decided_on, connection.log, agent, SOURCE, TYPE, last, 0)
            await told.sent.insisted(wait)
