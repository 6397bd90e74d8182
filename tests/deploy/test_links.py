"""A cluster whose nodes reach each other through links alone, however often these are cut."""

import asyncio
import json
import shutil
import urllib.request
from pathlib import Path

import pytest

from tests.deploy.cluster import LinkedCluster, Node, linked_cluster
from tests.patience import PATIENCE_S

pytestmark = [
    pytest.mark.services,
    pytest.mark.slow,
    pytest.mark.skipif(shutil.which("openssl") is None, reason="no openssl here"),
]


async def test_a_node_that_is_cut_off_has_no_way_left(tmp_path: Path) -> None:
    """Not even after others came back, which tell each other of the nodes that they know."""
    async with linked_cluster(tmp_path) as made:
        every = await settled(made)
        for number, node in enumerate(made.nodes):
            made.cut(number)
            async with asyncio.timeout(PATIENCE_S):
                while await asyncio.to_thread(routes_of, node):  # noqa: ASYNC110
                    await asyncio.sleep(0.5)
            made.heal()
            async with asyncio.timeout(PATIENCE_S):
                while await routes(made) != every:  # noqa: ASYNC110
                    await asyncio.sleep(0.5)


async def settled(made: LinkedCluster) -> list[int]:
    """How many connections each node has once they stand still: doubles are closed late."""
    seen: list[list[int]] = []
    async with asyncio.timeout(PATIENCE_S):
        while len(seen) < 4 or any(each != seen[-1] for each in seen[-4:]):
            seen.append(await routes(made))
            await asyncio.sleep(0.5)
    return seen[-1]


async def routes(made: LinkedCluster) -> list[int]:
    """How many connections to others each node has."""
    return [await asyncio.to_thread(routes_of, node) for node in made.nodes]


def routes_of(node: Node) -> int:
    """How many connections to others a node has, by its own words."""
    address = f"http://127.0.0.1:{node.monitor}/routez"
    with urllib.request.urlopen(address, timeout=PATIENCE_S) as answer:
        return int(json.load(answer)["num_routes"])
