"""Workers that share the partitions by leases, over a real broker."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass

import pytest

from bench.beside import beside
from handlers.worker.leases.keeper import Keeper
from handlers.worker.leases.membership import Membership
from handlers.worker.leases.sharing import share
from handlers.worker.loop import Worker
from schemas.values.subjects import ALL_PARTITIONS
from streams.audit import audit
from streams.jetstream.checkpoints import JetStreamCheckpoints
from streams.jetstream.leases import LeaseBucket
from tests.minds import DEADLINE_S, bringer, publish, sensed, started, until
from tests.servers import Broker, opened

pytestmark = pytest.mark.services

AGENTS = [f"agent{number}" for number in range(40)]
"""Of all partitions but one or two."""


class LateBucket(LeaseBucket):
    """The bucket, whose answers to writes come once they are wanted."""

    def __init__(self, broker: Broker) -> None:
        """Answer at once until told otherwise."""
        super().__init__(broker.client)
        self.wanted = asyncio.Event()
        self.wanted.set()

    async def write(self, key: str, value: bytes, revision: int) -> int | None:
        """Write at once, and answer late."""
        written = await super().write(key, value, revision)
        await self.wanted.wait()
        return written


@dataclass(frozen=True, slots=True)
class Sharing:
    """One of several workers."""

    worker: Worker
    membership: Membership
    running: asyncio.Task[object]

    @property
    def holding(self) -> frozenset[int]:
        """Its partitions."""
        return self.worker.holdings.holding


@asynccontextmanager
async def member(broker: Broker, name: str) -> AsyncIterator[Sharing]:
    """A worker that takes part over a connection of its own, for the length of the block."""
    async with opened(broker.server) as own:
        bucket = LeaseBucket(own.client)
        await bucket.prepare()
        membership = Membership(bucket, name)
        keeper = Keeper(bucket, membership)
        await bucket.on_news(keeper.wake)
        worker = Worker(
            own.reader,
            own.writer,
            bringer(own.reader),
            started(),
            partitions=(),
            checkpoints=JetStreamCheckpoints(own.client),
        )
        async with beside(share(worker, membership, keeper)) as (running,):
            yield Sharing(worker, membership, running)


async def shared(*members: Sharing) -> None:
    """Wait until each has its fair share."""

    def is_shared() -> bool:
        sizes = [len(each.holding) for each in members]
        return sum(sizes) == len(ALL_PARTITIONS) and max(sizes) - min(sizes) <= 1

    await until(is_shared, f"{len(members)} workers share the partitions")


async def told(broker: Broker, turn: int) -> None:
    """Tell each agent something."""
    await publish(
        broker.writer, [sensed(each, f"{turn}.{each}", "dusk") for each in AGENTS]
    )


async def answered(broker: Broker) -> None:
    """Wait until each input has its answer, and look that none has two."""
    async with asyncio.timeout(DEADLINE_S):
        while (found := await audit(broker.reader)).unanswered:  # noqa: ASYNC110
            await asyncio.sleep(0.05)
    assert found.sound


async def test_who_joins_gets_a_share_and_gives_it_back(broker: Broker) -> None:
    """All is answered once, whoever owns it: before, during and after each move."""
    async with member(broker, "one") as one:
        await shared(one)
        await told(broker, 1)
        async with member(broker, "two") as two:
            await told(broker, 2)
            await shared(one, two)
            await told(broker, 3)
            await answered(broker)
        await told(broker, 4)
        await shared(one)
        await answered(broker)


async def test_one_whose_key_is_taken_away_leaves_all_and_joins_again(
    broker: Broker,
) -> None:
    """As after it was stopped: what it held is others', and it comes back as another."""
    async with member(broker, "one") as one, member(broker, "two") as two:
        await shared(one, two)
        before = one.membership.me
        assert before is not None
        bucket = LeaseBucket(broker.client)
        while True:
            entry = (await bucket.read())[f"member.{before.id}"]
            if await bucket.write(f"member.{before.id}", b"", entry.revision):
                break
        assert not await one.membership.look()
        await told(broker, 1)
        await until(
            lambda: one.membership.me not in (None, before), "it is a member again"
        )
        await shared(one, two)
        await told(broker, 2)
        await answered(broker)


async def test_one_that_asks_while_its_key_turns_out_gone_is_told(
    broker: Broker,
) -> None:
    """Nothing is renewed after that, so nobody else would ever answer."""
    bucket = LateBucket(broker)
    await bucket.prepare()
    membership = Membership(bucket, "one")
    await membership.join()
    me = membership.me
    assert me is not None
    await bucket.write(f"member.{me.id}", b"", me.revision)
    bucket.wanted.clear()
    renewing = asyncio.create_task(membership.renew())
    # The renewal first: the question comes while its answer is awaited.
    await asyncio.sleep(0)
    asking = asyncio.create_task(membership.look())
    await asyncio.sleep(0)
    bucket.wanted.set()
    await renewing
    async with asyncio.timeout(DEADLINE_S):
        assert not await asking
