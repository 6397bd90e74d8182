"""Waiting for a broker that is away, without missing a cancellation."""

import asyncio
import logging
from collections.abc import Awaitable, Callable
from typing import TypeVar

from schemas.ports.faults import OF_THE_SHELL
from streams.cancellation import heed_cancellation
from streams.errors import LogFull, LogUnavailable

_T = TypeVar("_T")

PAUSE_S = 0.5
"""Seconds between attempts."""

_PASSING: tuple[type[Exception], ...] = (LogUnavailable, LogFull, *OF_THE_SHELL)

_log = logging.getLogger(__name__)


async def until_available(action: Callable[[], Awaitable[_T]]) -> _T:
    """Repeat an action while the broker is away or full; log that once.

    What else this machine may lack for a while, a blob or memory, is waited for as well.
    """
    # One line for an outage of hours: two a second would hide everything else.
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
