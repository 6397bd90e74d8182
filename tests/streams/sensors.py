"""Sensors with credentials of their own, and what of them arrives in the log."""

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import Any

from nats.aio.client import Client

from schemas.values.record import Record
from streams.bounds import Limits, Room
from streams.broker.data_folder import recall
from streams.broker.intake_watch import IntakeWatch, Traffic
from streams.jetstream.connection import connected
from streams.jetstream.hardened_client import BrokerClient
from tests.patience import PATIENCE_S
from tests.servers import Broker

OWN = "in.ada.cam.motion"
MB = 10**6
WIDE = Room(500_000 * MB, 1_000_000 * MB)


@asynccontextmanager
async def sensor(
    broker: Broker, agent: str = "ada", source: str = "cam", *grants: str
) -> AsyncIterator[BrokerClient]:
    """A connection with a sensor's own credentials."""
    async with connected(
        await broker.server.add_sensor(agent, source, grants)
    ) as client:
        yield client


async def arrived(broker: Broker, count: int, subjects: str = "ev.>") -> list[Record]:
    """The first records of the log, once there are so many."""
    records: list[Record] = []
    async with asyncio.timeout(PATIENCE_S):
        async for page in broker.reader.follow(subjects, 0, 100):
            records.extend(page)
            if len(records) >= count:
                return records
    raise AssertionError


async def send(
    client: Client, subject: str, body: bytes = b"{}", **headers: str
) -> Any:
    """Publish and return the broker's acknowledgement."""
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    answer = await client.request(
        subject, body, timeout=PATIENCE_S, headers=named or None
    )
    return json.loads(answer.data)


async def watching(
    stack: AsyncExitStack,
    broker: Broker,
    limits: Limits,
    room: Callable[[Path], Room] = lambda _: WIDE,
) -> IntakeWatch:
    """A watch over the broker's intake that looks when it is told to."""
    folder = broker.server.folder
    identity = recall(folder)
    assert identity is not None
    traffic = await stack.enter_async_context(Traffic(identity.system))
    return IntakeWatch(broker.client, limits, folder=folder, traffic=traffic, room=room)


def limits(waiting: int = 256 * MB, day: int = 8_000 * MB, floor: int = MB) -> Limits:
    """Bounds of so many bytes."""
    return Limits(waiting=waiting, day=day, floor=floor)
