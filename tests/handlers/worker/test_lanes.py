"""Partitions are read apart and served in turn."""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Mapping
from contextlib import asynccontextmanager
from uuid import uuid4

import pytest

from handlers.worker import lanes
from handlers.worker.lanes import READ_AT_ONCE, Lanes
from schemas.values.subjects import parse, partition_of
from streams.errors import LogUnavailable
from streams.log import After, Records
from tests.memory_log import MemoryLog
from tests.minds import publish, sensed

ADA, BEN, CLEO = map(partition_of, ("ada", "ben", "cleo"))
"""The partitions of three agents."""
FLOOD = 40 * READ_AT_ONCE


async def told(log: MemoryLog, *agents: str) -> None:
    """Put one event of each agent into the log."""
    await publish(log, [sensed(each, str(uuid4()), "dusk") for each in agents])


@asynccontextmanager
async def reading(
    log: MemoryLog, after: Mapping[int, int], limit: int
) -> AsyncIterator[Lanes]:
    """Read the partitions for the length of the block."""
    found = Lanes(log, after, limit)
    try:
        yield found
    finally:
        await found.close()


async def soon(read: Lanes) -> Records:
    """What is served next, once the readers had time to read what is there."""
    for _ in range(20):
        await asyncio.sleep(0)
    return await read.within(None)


def partitions(records: Records) -> list[int]:
    """Whose they are, in order."""
    return [parse(each.subject).partition for each in records]


async def test_a_flood_in_one_partition_delays_no_other() -> None:
    """What came after thousands of another's is among the first that are served."""
    log = MemoryLog()
    await told(log, *["ada"] * FLOOD, "ben", "cleo", "ben")

    async with reading(log, {ADA: 0, BEN: 0, CLEO: 0}, 192) as read:
        served = [partitions(await soon(read)) for _ in range(3)]

    first = [each for records in served for each in records]
    assert first.count(BEN) == 2
    assert first.count(CLEO) == 1
    assert max(map(len, served)) <= 192


async def test_what_comes_during_a_flood_is_served_next() -> None:
    """However much of another partition still waits, and each time anew."""
    log = MemoryLog()
    await told(log, *["ada"] * FLOOD)

    async with reading(log, {ADA: 0, BEN: 0}, 16) as read:
        assert set(partitions(await read.within(None))) == {ADA}
        for _ in range(5):
            await told(log, "ben")
            assert partitions(await soon(read)).count(BEN) == 1


async def test_each_partition_keeps_its_order_and_loses_nothing() -> None:
    """Every input comes once, from where the partition stands."""
    log = MemoryLog()
    await told(log, *["ada", "ben", "ada", "cleo"] * 100)
    found: dict[int, list[int]] = {ADA: [], BEN: [], CLEO: []}

    async with reading(log, {ADA: 0, BEN: 200, CLEO: 396}, 7) as read:
        while sum(map(len, found.values())) < 200 + 50 + 1:
            for record in await read.within(None):
                found[parse(record.subject).partition].append(record.sequence)

    assert all(each == sorted(set(each)) for each in found.values())
    assert [len(found[each]) for each in (ADA, BEN, CLEO)] == [200, 50, 1]


async def test_whoever_is_left_out_comes_first_next_time() -> None:
    """Where there are more partitions than room, none is left out for ever."""
    log = MemoryLog()
    await told(log, *["ada", "ben", "cleo"] * 50)

    async with reading(log, {ADA: 0, BEN: 0, CLEO: 0}, 1) as read:
        for _ in range(3):
            await soon(read)
        seen = [partitions(await soon(read))[0] for _ in range(9)]

    assert all(seen.count(each) == 3 for each in (ADA, BEN, CLEO))


async def test_a_reader_that_ends_ends_them_all() -> None:
    """Nobody goes on with only some of the partitions, and nothing is left open."""
    open_, log = set[str](), MemoryLog()

    class Breaking(MemoryLog):
        async def follow(
            self, subjects: str, after: After, limit: int
        ) -> AsyncGenerator[Records, None]:
            """Hang for one, break for the other."""
            open_.add(subjects)
            try:
                if subjects == f"ev.{BEN}.in.>":
                    raise LogUnavailable("gone")
                async for records in log.follow(subjects, after, limit):
                    yield records
            finally:
                open_.remove(subjects)

    with pytest.raises(LogUnavailable):
        async with reading(Breaking(), {ADA: 0, BEN: 0}, 10) as read:
            await read.within(None)
    assert open_ == set()


async def test_waiting_ends_with_the_time_or_with_a_task() -> None:
    """And loses nothing that comes later."""
    log = MemoryLog()
    async with reading(log, {ADA: 0}, 10) as read:
        assert await read.within(0.0) == ()
        assert await read.before(asyncio.create_task(asyncio.sleep(0))) == ()
        await told(log, "ada")
        forever = asyncio.create_task(asyncio.sleep(60))
        assert partitions(await read.before(forever)) == [ADA]
        forever.cancel()


def test_no_lane_holds_more_than_a_few() -> None:
    """What a flood may take of the memory is bounded by partition."""
    assert 2 * lanes.READ_AT_ONCE <= 400
