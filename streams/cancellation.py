"""Cancellations that something awaited may swallow, and how they are heeded all the same."""

import asyncio
from collections.abc import Iterable
from typing import Any

CANCEL_AGAIN_S = 0.1
"""How long a cancelled task may take to end before it is cancelled once more."""


def heed_cancellation() -> None:
    """Raise the cancellation of this task, if something swallowed it.

    Before Python 3.12 `asyncio.wait_for`, by which every request waits, forgets a
    cancellation that comes at the same moment as its result. Endless loops call this.
    """
    task = asyncio.current_task()
    # The count of requests stays up when the exception itself got lost.
    if task is not None and task.cancelling():
        raise asyncio.CancelledError


async def ended(
    tasks: Iterable[asyncio.Task[Any]], again_s: float = CANCEL_AGAIN_S
) -> None:
    """Cancel tasks until they have ended, whatever swallows a cancellation.

    One that has something to finish is given `again_s` seconds for that.
    """
    while running := [each for each in tasks if not each.done()]:
        for each in running:
            each.cancel()
        await asyncio.wait(running, timeout=again_s)
