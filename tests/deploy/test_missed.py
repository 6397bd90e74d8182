"""What a cluster's log missed of its intake streams is brought over as that of one node."""

import asyncio
import shutil
from pathlib import Path

import pytest

from streams.jetstream.bringing import Bringer
from streams.jetstream.migrate import migrate, open_intake
from streams.jetstream.missed import Lookout
from streams.jetstream.one_instance import OneInstance
from streams.jetstream.read import JetStreamReader
from tests.deploy.cluster import cluster
from tests.patience import PATIENCE_S
from tests.streams.jetstream.passed_over import (
    BOXED,
    PUBLISHED,
    logged_inputs,
    passing_over,
    publish,
)

pytestmark = [
    pytest.mark.services,
    pytest.mark.timeout(300),
    pytest.mark.skipif(shutil.which("openssl") is None, reason="no openssl here"),
]


async def test_what_three_nodes_passed_over_is_brought_over(tmp_path: Path) -> None:
    """Once, in the order of the intake stream, whichever node serves what is read."""
    async with cluster(tmp_path) as made, made.client() as client:
        reader = JetStreamReader(client, await migrate(client, 3))
        await open_intake(client)
        async with passing_over(client):
            await publish(client, BOXED, "ONE", "two")
            await publish(client, PUBLISHED, "four")
        await publish(client, BOXED, "three")
        bringer = Bringer(client, OneInstance(client, "intake"))
        async with asyncio.timeout(PATIENCE_S):
            while len(found := await logged_inputs(client, reader)) < 4:
                await bringer.look()
                await asyncio.sleep(0.5)

        assert not await Lookout(client).look()
    bodies = [each.body.decode() for each in found]
    assert sorted(bodies) == ["ONE", "four", "three", "two"]
    assert bodies.index("ONE") < bodies.index("two")
