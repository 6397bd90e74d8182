"""Intake streams: what a sensor was told is stored arrives in the log, once and in order."""

import asyncio
from collections import Counter
from contextlib import suppress

import nats.errors
import pytest

from bench.beside import beside
from schemas.values.subjects import partition_of
from streams.errors import LogUnavailable
from streams.jetstream.connection import connected
from streams.jetstream.migrate import close_intake, live_of, open_intake, without
from streams.jetstream.registry import load
from streams.jetstream.stalls import keep_taking
from streams.topology import BOX_WINDOW, BOXES, LOG, box_subject
from tests.patience import PATIENCE_S
from tests.servers import Broker
from tests.streams.sensors import OWN, arrived, send, sensor

pytestmark = pytest.mark.services

EVENTS = 4 * BOX_WINDOW

UNANSWERED = (
    nats.errors.TimeoutError,
    nats.errors.NoRespondersError,
    nats.errors.ConnectionReconnectingError,
)
"""What a sensor meets whose event may have been stored, or not."""


def test_a_sensor_has_the_letter_box_of_its_partition() -> None:
    """Its agent's events stand in the log where the agent's other inputs do."""
    assert box_subject("ada", "cam") == f"ip.{partition_of('ada')}.ada.cam.*"


@pytest.mark.timeout(240)
@pytest.mark.parametrize("pause_s", [2.0, 0.0])
async def test_kills_of_the_broker_lose_and_double_nothing(
    broker: Broker, pause_s: float
) -> None:
    """More than a window of events, with the server killed three times on the way.

    A sensor that does not wait has a whole window under way then, which would stall.
    """
    credentials = await broker.server.add_sensor("ada", "cam")
    stored: list[bytes] = []

    async def tell() -> None:
        async with connected(credentials) as cam:
            for number in range(EVENTS):
                body = str(number).encode()
                try:
                    answer = await send(cam, OWN, body)
                except UNANSWERED:
                    await asyncio.sleep(pause_s)
                    continue
                if "seq" in answer:
                    stored.append(body)

    async with beside(tell(), may_end=True) as (telling,):
        for part in (1, 2, 3):
            enough = part * EVENTS // 5
            while len(stored) < enough and not telling.done():  # noqa: ASYNC110
                await asyncio.sleep(0.01)
            await broker.server.kill()
            await broker.server.restart()
        await telling
    async with asyncio.timeout(PATIENCE_S), beside(keep_taking(broker.client)):
        found: list[bytes] = []
        while not set(stored) <= set(found):
            with suppress(LogUnavailable, TimeoutError):
                found = [each.body for each in await arrived(broker, len(stored))]

    assert len(found) == len(set(found))
    assert [int(each) for each in found] == sorted(map(int, found))
    assert len(stored) > EVENTS // 2


async def test_a_source_is_put_back_though_the_broker_dies(broker: Broker) -> None:
    """What is taken out for a moment is there again, however that moment ends."""
    segments, _ = await load(broker.client)
    log, box = segments.open[0], BOXES[partition_of("ada")].name

    async with (
        asyncio.timeout(PATIENCE_S),
        without(broker.client, segments, log, {box}),
    ):
        others = await sources(broker)
        await broker.server.kill()
        coming = asyncio.create_task(later(broker))
    await coming

    assert await sources(broker) - others == {box}


async def sources(broker: Broker) -> set[str]:
    """The names of what the log takes from."""
    live = await live_of(broker.client, LOG.name)
    assert live is not None
    return {each["name"] for each in live["sources"]}


async def later(broker: Broker) -> None:
    """Start the broker again after a while."""
    await asyncio.sleep(1)
    await broker.server.restart()


async def test_an_intake_that_was_closed_goes_on_where_it_was(broker: Broker) -> None:
    """What came meanwhile waits in the intake stream; nothing comes twice."""
    async with sensor(broker) as cam:
        await send(cam, OWN, b"before")
        await arrived(broker, 1)
        await close_intake(broker.client)
        await send(cam, OWN, b"while closed")
        assert await broker.reader.last_sequence("ev.>") == 1
        await open_intake(broker.client)
        await send(cam, OWN, b"after")
        records = await arrived(broker, 3)

    assert [each.body for each in records] == [b"before", b"while closed", b"after"]
    assert await broker.reader.last_sequence("ev.>") == 3


async def test_a_log_of_before_takes_from_the_boxes_as_well(broker: Broker) -> None:
    """One that took from `IN` alone is given the intake streams when it is opened."""
    live = (await broker.client.jetstream().stream_info("LOG")).config
    assert live.sources is not None
    old = [each for each in live.sources if each.name == "IN"]
    await broker.client.jetstream().update_stream(live.evolve(sources=old))

    await open_intake(broker.client)
    async with sensor(broker) as cam:
        await send(cam, OWN, b"through its box")
        await send(broker.client, "in.ada.user.message", b"through IN")
        records = await arrived(broker, 2)

    assert {each.body for each in records} == {b"through its box", b"through IN"}


async def test_no_sensor_hides_what_another_sent(broker: Broker) -> None:
    """One that sends the `Nats-Msg-Id` of another in the same moment drops nothing of his."""
    async with sensor(broker) as cam, sensor(broker, "ben") as other:
        for number in range(5):
            body = str(number).encode()
            same = {"Nats_Msg_Id": body.decode()}
            await asyncio.gather(
                send(cam, OWN, body, **same),
                send(other, "in.ben.cam.motion", body, **same),
                send(broker.client, "in.cleo.cam.motion", body, **same),
            )
        records = await arrived(broker, 15)

    assert partition_of("ada") != partition_of("ben")
    assert Counter(each.body for each in records) == {
        str(each).encode(): 3 for each in range(5)
    }
