"""Sensors with credentials of their own, and what of them arrives in the log."""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from nats.aio.client import Client

from schemas.values.record import Record
from streams.jetstream.connection import connected
from streams.jetstream.hardened_client import BrokerClient
from tests.patience import PATIENCE_S
from tests.servers import Broker

OWN = "in.ada.cam.motion"


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
