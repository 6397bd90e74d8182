"""Waiting for a broker that is away, and stopping when told to."""

import asyncio
import logging
from collections.abc import Awaitable, Callable
from typing import TypeVar

from schemas.ports.faults import OF_THE_SHELL
from streams.errors import LogFull, LogUnavailable

T = TypeVar("T")

PAUSE_S = 0.5
"""Between attempts."""

_PASSING: tuple[type[Exception], ...] = (LogUnavailable, LogFull, *OF_THE_SHELL)

_log = logging.getLogger(__name__)


async def until_available(action: Callable[[], Awaitable[T]]) -> T:
    """Do it, again and again while the broker is away or full; say so once.

    Whatever else this machine lacks, a blob or memory, is waited for alike.
    """
    told = False
    while True:
        heed_cancellation()
        try:
            return await action()
        except _PASSING as error:
            if not told:
                _log.warning("waiting, and trying again: %s", error)
            told = True
            await asyncio.sleep(PAUSE_S)


def heed_cancellation() -> None:
    """Raise the cancellation of this task, if something swallowed it.

    Before Python 3.12 `asyncio.wait_for`, by which every request waits, forgets a
    cancellation that comes at the same moment as its result. Endless loops call this.
    """
    task = asyncio.current_task()
    if task is not None and task.cancelling():
        raise asyncio.CancelledError
