"""Works beside a block: the block ends with the first that dies."""

import asyncio
import signal
from collections.abc import Awaitable, Callable

import pytest

from bench.beside import beside
from bench.rig import Rig, child, rig
from tests.patience import PATIENCE_S


async def fails() -> None:
    """Die of something."""
    await asyncio.sleep(0)
    raise ValueError("the worker lacks an argument")


async def returns() -> None:
    """End too early."""


async def works(done: list[str]) -> None:
    """Work until cancelled."""
    try:
        await asyncio.Event().wait()
    finally:
        done.append("ended")


WAITS: dict[str, Callable[[], Awaitable[object]]] = {
    "an event": lambda: asyncio.Event().wait(),
    "a queue": lambda: asyncio.Queue[int]().get(),
    "a while": lambda: asyncio.sleep(1e6),
}


@pytest.mark.parametrize("what", WAITS)
async def test_a_work_that_fails_ends_what_waits(what: str) -> None:
    """With the failure itself, whatever the block awaits."""

    async def waits() -> None:
        async with beside(fails()):
            await WAITS[what]()

    async with asyncio.timeout(PATIENCE_S):
        with pytest.raises(ValueError, match="lacks an argument"):
            await waits()


async def test_a_work_that_returns_ends_what_waits() -> None:
    """What it was to do is done by nobody any more."""

    async def waits() -> None:
        async with beside(returns()):
            await asyncio.Event().wait()

    async with asyncio.timeout(PATIENCE_S):
        with pytest.raises(RuntimeError, match=r"returns.*ended before"):
            await waits()


async def test_one_that_may_end_ends_nothing() -> None:
    """Its result is there."""
    async with beside(returns(), may_end=True) as (task,):
        await task


async def test_works_end_with_the_block() -> None:
    """However it ends: by itself, by an error of its own, or cancelled."""
    done: list[str] = []

    async def errs() -> None:
        async with beside(works(done)):
            await asyncio.sleep(0)
            raise KeyError

    async with beside(works(done), works(done)):
        await asyncio.sleep(0)
    with pytest.raises(KeyError):
        await errs()
    with pytest.raises(TimeoutError):
        async with asyncio.timeout(0.01), beside(works(done)):
            await asyncio.Event().wait()

    assert done == ["ended"] * 4


@pytest.mark.services
async def test_a_process_that_ends_ends_what_waits_for_it() -> None:
    """A worker that dies is told at once, not after minutes of waiting for its answer."""

    async def waits(running: Rig) -> None:
        async with child(running, "bench.worker") as worker:
            worker.send_signal(signal.SIGKILL)
            await asyncio.Event().wait()

    async with rig() as running, asyncio.timeout(4 * PATIENCE_S):
        with pytest.raises(RuntimeError, match=r"bench.worker' ended \(-9\)"):
            await waits(running)


@pytest.mark.services
async def test_over_one_log_no_event_is_told_twice() -> None:
    """The mind refuses a repeat, so that whoever waits for its decision would wait on."""
    async with rig() as running, rig() as other:
        told = [each.id for _ in range(20) for each in running.events(50)]

        assert len(set(told)) == len(told)
        assert [each.id for each in other.events(50)] == told[:50]
