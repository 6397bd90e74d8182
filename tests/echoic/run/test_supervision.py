"""Servers of an instance are restarted, until the instance ends."""

import asyncio
from contextlib import suppress

from echoic.run.supervision import supervise


class Restarting:
    """A server that has ended, and whose restart something swallows a cancellation in."""

    name = "the server"
    is_startable = True

    def __init__(self) -> None:
        self.begun, self.has_ended = asyncio.Event(), True

    def tend(self) -> None:
        """Need nothing."""

    def fault(self) -> str | None:
        """Say that it has ended, until it was restarted."""
        return "has ended by itself" if self.has_ended else None

    async def restart(self) -> None:
        """Take long, and not heed that it is cancelled, as `asyncio.wait_for` may."""
        self.begun.set()
        with suppress(asyncio.CancelledError):
            await asyncio.sleep(60)
        self.has_ended = False


async def test_supervision_ends_amid_a_restart() -> None:
    """Whatever swallows the cancellation; else the instance would never end."""
    child, told = Restarting(), list[str]()
    task = asyncio.create_task(supervise(child, told.append))
    await child.begun.wait()
    task.cancel()

    await asyncio.wait({task}, timeout=30)

    assert task.cancelled()
    assert told == ["the server has ended by itself", "the server is up again"]
