"""Sources that a cluster's log hears nothing of."""

import asyncio
import itertools
from contextlib import suppress
from typing import Any

import pytest
from nats.aio.client import Client

from schemas.values.subjects import partition_of
from streams.jetstream.connection import connected, insist
from streams.jetstream.migrate import set_sources, without
from streams.jetstream.registry import load
from streams.jetstream.silent_sources import FIRST_S, Waits, ask_again, silent
from streams.jetstream.taking import keep_taking
from streams.segment_streams import sources_of
from streams.topology import BOXES, IN, LOG
from tests.servers import Broker
from tests.streams.sensors import OWN, arrived, send


def test_a_source_without_a_heartbeat_is_silent() -> None:
    """One that was never heard, or not for some seconds, or that is not there at all."""
    told = [("IN", 900_000_000), ("IN_1", -1), ("IN_2", 3_100_000_000), ("IN_3", 0)]
    sources = [{"name": name, "active": active} for name, active in told]
    wanted = [{"name": name} for name, _ in told]

    assert silent({"sources": sources}, wanted) == {"IN_1", "IN_2"}
    assert silent({"sources": sources[2:]}, wanted) == {"IN", "IN_1", "IN_2"}
    assert silent({"config": {}}, wanted[:1]) == {"IN"}


def test_a_silent_source_is_due_ever_less_often() -> None:
    """A busy server has more time each time, until the source was heard again."""
    now = 0.0
    waits = Waits(lambda: now)
    due = []
    while now < 29:
        due += [
            (now, name)
            for name in waits.due({"IN_1"} | ({"IN_2"} if now > 10 else set()))
        ]
        now += 1

    assert due == [
        (2, "IN_1"), (6, "IN_1"), (13, "IN_2"), (14, "IN_1"), (17, "IN_2"), (25, "IN_2")
    ]  # fmt: skip
    assert FIRST_S == 2
    waits.due({"IN_2"})
    assert waits.due({"IN_1"}) == set()


@pytest.mark.services
async def test_what_is_asked_again_is_neither_lost_nor_doubled(broker: Broker) -> None:
    """While sensors with and without an account send, each in its order."""
    box = BOXES[partition_of("ada")].name
    credentials = await broker.server.add_sensor("ada", "cam")
    end, stored = asyncio.Event(), list[bytes]()

    async def tell(client: Client, subject: str, name: str) -> None:
        for number in itertools.takewhile(
            lambda _: not end.is_set(), itertools.count()
        ):
            body = f"{name} {number}".encode()
            assert "seq" in await send(client, subject, body)
            stored.append(body)

    async with connected(credentials) as cam, asyncio.TaskGroup() as group:
        group.create_task(tell(cam, OWN, "cam"))
        group.create_task(tell(broker.client, "in.ada.game.vital", "game"))
        segments, _ = await load(broker.client)
        for _ in range(10):
            await ask_again(broker.client, segments, segments.open[0], {box, IN.name})
            await asyncio.sleep(0.2)
        end.set()

    bodies = [each.body for each in await arrived(broker, len(stored))]
    await asyncio.sleep(1)
    assert await broker.reader.last_sequence("ev.>") == len(bodies) == len(stored)
    for name in (b"cam", b"game"):
        own = [each for each in bodies if each.startswith(name)]
        assert len(own) > 100
        assert own == [each for each in stored if each.startswith(name)]


@pytest.mark.services
async def test_what_was_not_put_back_is_put_back(broker: Broker) -> None:
    """A broker that was gone in between has a log that takes less, for some seconds."""
    credentials = await broker.server.add_sensor("ada", "cam")
    with suppress(ValueError):
        segments, _ = await load(broker.client)
        async with without(broker.client, segments, segments.open[0], {IN.name}):
            raise ValueError
    assert silent(await of_log(broker), sources_of(segments.open[0], segments)) == set()
    await set_sources(broker.client, LOG.name, None)

    keeping = asyncio.create_task(keep_taking(broker.client))
    async with connected(credentials) as cam:
        assert "seq" in await send(cam, OWN)
    await arrived(broker, 1)
    keeping.cancel()


async def of_log(broker: Broker) -> Any:
    """What the broker tells of the log, once each source was heard."""
    while True:
        found = await insist(broker.client, f"$JS.API.STREAM.INFO.{LOG.name}", {})
        if all(each["active"] >= 0 for each in found["sources"]):
            return found
        await asyncio.sleep(0.05)
