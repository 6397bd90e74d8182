"""A worker that runs while the log is divided: it folds again, and goes on."""

import asyncio

import pytest

from bench.beside import beside
from schemas.values.subjects import ALL_PARTITIONS, inputs_of
from streams.audit import audit
from streams.groups import answer
from streams.jetstream.segments import roll_over
from tests.minds import publish, sensed, started, working
from tests.patience import PATIENCE_S
from tests.servers import Broker

pytestmark = pytest.mark.services

AGENTS = [f"agent{number}" for number in range(8)]


async def test_a_running_worker_goes_on_in_the_next_segments(broker: Broker) -> None:
    """Each input is answered once, whatever was under way when its stream was sealed."""
    is_over = asyncio.Event()

    async def speak() -> None:
        number = 0
        while not is_over.is_set():
            number += 1
            for agent in AGENTS:
                wire = sensed(agent, f"{agent}-{number}", f"thing {number} came by")
                await publish(broker.writer, [wire])

    async with (
        working(broker.reader, broker.writer, started()),
        beside(speak(), may_end=True) as (speaking,),
    ):
        for streams in (1, 4, 2):
            await asyncio.sleep(0.2)
            await roll_over(broker.client, streams)
        is_over.set()
        await speaking
        # Also those without an agent: each begins its segment with an input.
        for partition in ALL_PARTITIONS:
            last = await broker.reader.last_sequence(inputs_of(partition))
            await answer(broker.reader, partition, last, PATIENCE_S)
    found = await audit(broker.reader)
    assert found.sound, found
    assert found.inputs > 3 * len(AGENTS)
