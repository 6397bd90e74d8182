"""A call for an agent is answered by the owner of its partition, and by nobody else."""

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import pytest

from echoic.client.owners import (
    Desk,
    Owner,
    called_elsewhere,
    owners,
    state_elsewhere,
    unowned,
)
from schemas.values.subjects import partition_of
from tests.servers import Broker, opened

pytestmark = pytest.mark.services

ADA = "ada"
PARTITION = partition_of(ADA)


@dataclass
class Process:
    """A worker process, by what it answers."""

    name: str
    owned: set[int] = field(default_factory=lambda: {PARTITION})

    async def state(self, _: str) -> Mapping[str, object]:
        """Its state of any agent."""
        return {"of": self.name}

    async def query(self, _: str, body: Mapping[str, Any]) -> dict[str, Any]:
        """Answer, and lose the partition while at it if it is to."""
        if body.get("until") == self.name:
            self.owned.clear()
        return {"of": self.name}

    def desk(self, broker: Broker) -> Desk:
        """What answers for it."""
        calls = {"query": self.query}
        about = Owner(self.name, "host", 1, "0-15", has_standbys=True)
        return Desk(broker.client, self.owned.__contains__, self.state, calls, about)


async def test_a_call_during_a_move_waits_for_the_next_owner(broker: Broker) -> None:
    """Nobody answers when it is asked; the one that comes then does."""
    async with opened(broker.server) as other:
        asking = asyncio.create_task(state_elsewhere(broker.client, ADA))
        await asyncio.sleep(0.3)
        assert not asking.done()
        await Process("next").desk(other).open(PARTITION)
        assert await asking == {"of": "next"}


async def test_one_that_owns_it_no_more_is_not_believed(broker: Broker) -> None:
    """Neither before it was asked nor while it was answering."""
    async with opened(broker.server) as other:
        stale, owner = Process("stale"), Process("owner")
        desk = stale.desk(other)
        await desk.open(PARTITION)
        before = await called_elsewhere(broker.client, "query", ADA, {})
        asking = asyncio.create_task(
            called_elsewhere(broker.client, "query", ADA, {"until": "stale"})
        )
        await asyncio.sleep(0.3)
        assert not asking.done()
        await desk.close(PARTITION)
        await owner.desk(other).open(PARTITION)
        assert before == {"of": "stale"}
        assert await asking == {"of": "owner"}


async def test_who_owns_what_and_who_stands_by_is_told(broker: Broker) -> None:
    """By whoever answers; what none of them owns is owned by nobody."""
    async with opened(broker.server) as other:
        owner, standby = Process("owner", {*range(8)}), Process("standby", set())
        await owner.desk(other).start()
        await standby.desk(broker).start()
        await other.client.flush()
        found = await owners(broker.client)
    held = {each.name: each.partitions for each in found}
    assert held == {"owner": tuple(range(8)), "standby": ()}
    assert unowned(found) == [*range(8, 16)]
