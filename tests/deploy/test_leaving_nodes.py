"""A connection that leaves a node of a cluster, and one that stays."""

import asyncio
import shutil
from pathlib import Path

import pytest
from nats.aio.client import Client

from echoic.client.sensor_access import sensor_credentials
from streams.jetstream.connection import connected
from streams.jetstream.majority import leave, named
from streams.jetstream.migrate import migrate, open_intake
from tests.deploy.cluster import LinkedCluster, linked_cluster
from tests.patience import PATIENCE_S

pytestmark = [
    pytest.mark.services,
    pytest.mark.skipif(shutil.which("openssl") is None, reason="no openssl here"),
]

ELECTION_S = 9.0
SENSOR = ("ada", "crafter")


async def test_it_goes_by_what_the_node_tells(tmp_path: Path) -> None:
    """A sensor that sends nothing leaves a node that is cut off, also when it comes back
    to it, and stays at another while that one's cluster elects its leaders."""
    async with linked_cluster(tmp_path, [SENSOR]) as made:
        async with made.client() as owner:
            await migrate(owner, 3)
            await open_intake(owner)
        async with connected(
            await sensor_credentials(made.settings, *SENSOR)
        ) as sensor:
            alone = node_of(made, sensor)
            made.cut(alone)
            await gone_from(made, sensor, alone)
            met = set()
            while alone not in met:
                await leave(sensor)
                async with asyncio.timeout(PATIENCE_S):
                    while not sensor.is_connected:  # noqa: ASYNC110
                        await asyncio.sleep(0.01)
                met.add(node_of(made, sensor))
            await gone_from(made, sensor, alone)
            reconnects = sensor.stats["reconnects"]
            await asyncio.sleep(ELECTION_S)
            assert sensor.stats["reconnects"] == reconnects


async def gone_from(made: LinkedCluster, client: Client, number: int) -> None:
    """Wait until it is connected to another node."""
    async with asyncio.timeout(PATIENCE_S):
        while not client.is_connected or node_of(made, client) == number:  # noqa: ASYNC110
            await asyncio.sleep(0.01)


def node_of(made: LinkedCluster, client: Client) -> int:
    """The number of the node that it goes to."""
    return [f"localhost:{node.reached}" for node in made.nodes].index(named(client))
