"""Who is in charge of a range: one of those that have it, and the next once that one ends."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

import pytest

from bench.beside import beside
from handlers.worker.charge import (
    RENEW_S,
    STILL_S,
    STOP_S,
    Charge,
    RangesOverlap,
    Standing,
)
from schemas.values.subjects import ALL_PARTITIONS
from streams.errors import LogUnavailable
from streams.jetstream.owners import Entry, OwnerBucket
from tests.patience import PATIENCE_S

STEP_S = 0.5
LOW, HIGH, ALL = tuple(range(8)), tuple(range(8, 16)), ALL_PARTITIONS


@dataclass
class World:
    """The keys as the broker has them, and a clock that moves when it is told to."""

    now: float = 100.0
    revision: int = 0
    keys: dict[str, Entry] = field(default_factory=dict)
    lookers: list[Callable[[], None]] = field(default_factory=list)

    async def passes(self, seconds: float) -> None:
        """Let time pass, and everybody look at each step of it."""
        for _ in range(int(seconds / STEP_S)):
            self.now += STEP_S
            for look in self.lookers:
                look()
            await settled()


async def settled() -> None:
    """Let all go on that can."""
    for _ in range(40):
        await asyncio.sleep(0)


class Link(OwnerBucket):
    """The way of one worker to the keys, which may be cut or lose what is answered."""

    def __init__(self, world: World) -> None:
        """Lead to the keys."""
        self.world = world
        self.is_cut = self.loses_answers = False

    async def read(self) -> dict[str, Entry]:
        """Return all keys."""
        self._try()
        return dict(self.world.keys)

    async def write(self, key: str, value: bytes, revision: int) -> int | None:
        """Compare and set."""
        self._try()
        if self.world.keys.get(key, Entry(b"", 0)).revision != revision:
            return None
        self.world.revision += 1
        self.world.keys[key] = Entry(value, self.world.revision)
        if self.loses_answers:
            self.loses_answers = False
            raise LogUnavailable("no answer")
        return self.world.revision

    async def tell(self) -> None:
        """Have all look."""
        for look in self.world.lookers:
            look()

    async def on_news(self, look: Callable[[], None]) -> None:
        """Remember who looks."""
        self.world.lookers.append(look)

    def _try(self) -> None:
        if self.is_cut:
            raise LogUnavailable("cut off")


@dataclass
class Worker:
    """A worker of a range, by what it does."""

    charge: Charge
    link: Link
    working: bool = False
    heard: list[Standing] = field(default_factory=list)
    settled: asyncio.Event = field(default_factory=asyncio.Event)

    async def work(self) -> None:
        """Work until cancelled."""
        self.working = True
        try:
            await asyncio.Event().wait()
        finally:
            self.working = False


def worker(
    world: World, name: str, partitions: tuple[int, ...] = ALL, place: str | None = None
) -> Worker:
    """A worker that does nothing yet."""
    made, link, heard = asyncio.Event(), Link(world), list[Standing]()
    charge = Charge(
        link, partitions, name, made,
        place=place, changed=heard.append, clock=lambda: world.now,
    )  # fmt: skip
    return Worker(charge, link, heard=heard, settled=made)


@asynccontextmanager
async def running(*workers: Worker) -> AsyncIterator[None]:
    """Run workers, one after the other, for the length of the block."""
    async with beside(*(each.charge.run(each.work) for each in workers)):
        await settled()
        yield


@pytest.fixture
def world() -> World:
    """Nobody is in charge of anything."""
    return World()


async def test_one_of_two_with_a_range_is_in_charge(world: World) -> None:
    """The other does nothing, for however long, and says for whom it stands by."""
    first, second = worker(world, "first"), worker(world, "second")
    async with running(first, second):
        await world.passes(5 * STILL_S)

        assert (first.working, second.working) == (True, False)
        assert first.heard == [Standing("0-15", "first", is_own=True)]
        assert second.heard == [Standing("0-15", "first", is_own=False)]
        assert second.settled.is_set()


async def test_who_stands_by_goes_on_when_the_owner_leaves(world: World) -> None:
    """No time passes in between."""
    first, second = worker(world, "first"), worker(world, "second")
    one = asyncio.create_task(first.charge.run(first.work))
    await settled()
    async with running(second):
        await world.passes(RENEW_S)
        before = world.now
        one.cancel()
        await settled()
        assert (first.working, second.working) == (False, True)
        assert world.now == before
        await asyncio.wait({one})


async def test_an_owner_that_is_cut_off_stops_before_another_takes_over(
    world: World,
) -> None:
    """It lapses, the other waits longer than that, and back again it stands by."""
    first, second = worker(world, "first"), worker(world, "second")
    async with running(first):
        async with running(second):
            await world.passes(RENEW_S)
            first.link.is_cut = True
            await world.passes(STOP_S)
            assert first.charge.lapsed()
            assert (first.working, second.working) == (True, False)
            await world.passes(STILL_S - STOP_S)
            assert (first.working, second.working) == (True, True)
            asking = asyncio.create_task(first.charge.look())
            first.link.is_cut = False
            # It tries again by itself, a moment later.
            async with asyncio.timeout(PATIENCE_S):
                assert not await asking
            await settled()
            assert (first.working, second.working) == (False, True)
            await world.passes(STILL_S)
            assert first.heard[-1] == Standing("0-15", "second", is_own=False)
        await settled()
        assert first.working


async def test_time_in_which_nothing_was_seen_counts_for_nobody(world: World) -> None:
    """Who was stopped, or cut off itself, does not take over from who was as well."""
    first, second = worker(world, "first"), worker(world, "second")
    async with running(first, second):
        await world.passes(RENEW_S)
        world.now += 10 * STILL_S
        await second.link.tell()
        await settled()
        await world.passes(RENEW_S)
        assert (first.working, second.working) == (True, False)


async def test_an_answer_that_was_lost_changes_nothing(world: World) -> None:
    """Neither of the claim nor of a renewal."""
    first = worker(world, "first")
    first.link.loses_answers = True
    async with running(first):
        async with asyncio.timeout(PATIENCE_S):
            while not first.working:  # noqa: ASYNC110  # it tries again by itself
                await asyncio.sleep(0.01)
        first.link.loses_answers = True
        assert await first.charge.look()
        assert first.working


async def test_a_renewal_that_another_prevented_ends_the_charge(world: World) -> None:
    """Who asks meanwhile is told, for nobody else would ever answer."""
    first = worker(world, "first")
    async with running(first):
        (key,) = world.keys
        world.keys[key] = Entry(b"", world.revision + 5)
        world.revision += 5
        assert not await first.charge.look()
        await settled()
        # Nobody has it, so it is taken anew.
        assert first.working


@pytest.mark.parametrize(
    ("ours", "theirs"), [(LOW, ALL), (ALL, HIGH), (tuple(range(4, 12)), LOW)]
)
async def test_another_range_that_overlaps_is_refused(
    world: World, ours: tuple[int, ...], theirs: tuple[int, ...]
) -> None:
    """Once its owner is seen to be alive; the error says who has what, and what to do."""
    first, second = worker(world, "first", theirs), worker(world, "second", ours)
    async with running(first):
        refused = asyncio.create_task(second.charge.run(second.work))
        await settled()
        assert not refused.done()
        await world.passes(2 * RENEW_S)
        with pytest.raises(RangesOverlap, match=r"those of first.*worker\.partitions"):
            await refused
        assert first.working


async def test_a_range_of_nobody_who_lives_is_no_hindrance(world: World) -> None:
    """What a worker that was killed held by another range is free once it stood still."""
    first = worker(world, "first")
    async with running(first):
        left = dict(world.keys)
    world.keys = left
    async with running(second := worker(world, "second", LOW)):
        for is_taken in (False, True):
            await world.passes(STILL_S - STEP_S)
            assert second.working == is_taken
    assert [key for key, each in world.keys.items() if each.value] == []


async def test_ranges_beside_each_other_are_of_two_owners(world: World) -> None:
    """Neither waits for the other."""
    first, second = worker(world, "first", LOW), worker(world, "second", HIGH)
    async with running(first, second):
        await world.passes(2 * STILL_S)
        assert (first.working, second.working) == (True, True)


@pytest.mark.parametrize(("place", "after_s"), [("here", 0.0), ("there", STILL_S)])
@pytest.mark.parametrize("before", [ALL, LOW])
async def test_a_restart_at_the_same_place_need_not_wait(
    world: World, place: str, after_s: float, before: tuple[int, ...]
) -> None:
    """Where no other can run, whoever was in charge there before is gone."""
    async with running(worker(world, "first", before, "here")):
        left = dict(world.keys)
    world.keys = left
    async with running(second := worker(world, "first", ALL, place)):
        await settled()
        assert second.working == (after_s == 0)
        await world.passes(after_s + STEP_S)
        assert second.working
