"""The background tasks of an instance, and what is done beside them."""

import asyncio

import pytest

from echoic.run.tasks import Tasks


class Work:
    """Something that takes as long as it is let."""

    def __init__(self) -> None:
        self.may_end, self.was_cancelled = asyncio.Event(), False

    async def run(self) -> None:
        """Wait until it may end."""
        try:
            await self.may_end.wait()
        except asyncio.CancelledError:
            self.was_cancelled = True
            raise


async def broken() -> None:
    """Fail at once."""
    raise ValueError("broken")


async def test_work_ends_with_the_task_that_fails_beside_it() -> None:
    """Its failure is told, and nothing goes on behind its back."""
    tasks, work = Tasks(), Work()
    tasks.start("broken", broken())

    with pytest.raises(ValueError, match="broken"):
        await tasks.beside(work.run())

    assert work.was_cancelled
    await tasks.stop()


async def test_work_ends_with_whoever_waits_for_it() -> None:
    """As by Ctrl-C while packs are loaded, whose connection is closed right after."""
    tasks, work, steady = Tasks(), Work(), Work()
    tasks.start("steady", steady.run())
    waiting = asyncio.create_task(tasks.beside(work.run()))
    await asyncio.sleep(0)
    await asyncio.sleep(0)

    waiting.cancel()
    await asyncio.wait({waiting})

    assert work.was_cancelled
    assert not steady.was_cancelled
    await tasks.stop()


async def test_work_goes_on_beside_a_task_that_ends_well() -> None:
    """A task that has done what it was for ends nothing."""
    tasks, work, done = Tasks(), Work(), Work()
    done.may_end.set()
    tasks.start("done", done.run())
    waiting = asyncio.create_task(tasks.beside(work.run()))
    await asyncio.sleep(0.01)

    assert not waiting.done()
    work.may_end.set()
    await waiting
