"""Heed a cancellation that something awaited has swallowed."""

import asyncio


def heed_cancellation() -> None:
    """Raise the cancellation of this task, if something swallowed it.

    Before Python 3.12 `asyncio.wait_for`, by which every request waits, forgets a
    cancellation that comes at the same moment as its result. Endless loops call this.
    """
    task = asyncio.current_task()
    # The count of requests stays up when the exception itself got lost.
    if task is not None and task.cancelling():
        raise asyncio.CancelledError
