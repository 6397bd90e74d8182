"""Supervision of an instance's servers: each is restarted for as long as it takes.

A server that fails never ends the instance. Only the first error is reported, as those
that follow mostly have the same cause.
"""

import asyncio
from collections.abc import Callable
from typing import Protocol

from streams.cancellation import heed_cancellation
from streams.errors import LogDamaged

Notify = Callable[[str], None]
"""Reports one line to the person who started the instance."""

LOOK_S = 0.5
"""Seconds between two checks of a server."""

FIRST_PAUSE_S = 0.5
_LONGEST_PAUSE_S = 30.0
"""Seconds between attempts to restart it: doubled with each, up to the longest."""


class _Child(Protocol):
    """A server that is ours."""

    @property
    def name(self) -> str:
        """Its name in messages."""

    def tend(self) -> None:
        """Do the upkeep that it needs while it runs; called at each check."""

    def fault(self) -> str | None:
        """Return what is wrong with it, as the end of a sentence; None if nothing is."""

    @property
    def is_startable(self) -> bool:
        """Whether a restart now may cure its fault."""

    async def restart(self) -> None:
        """Restart it, whether it runs or not.

        Raises:
            LogDamaged: it came up, and lacks some of the log.
            Exception: whatever else, it does not come up.
        """


async def supervise(child: _Child, notify: Notify) -> None:
    """Restart a server whenever it needs that, until cancelled.

    Raises:
        LogDamaged: the broker lacks some of the log.
    """
    told: str | None = None
    while True:
        heed_cancellation()
        await asyncio.sleep(LOOK_S)
        child.tend()
        fault = child.fault()
        if fault is None:
            told = None
            continue
        # A fault may last for hours; report it once, and again when it changes.
        if fault != told:
            notify(f"{child.name} {fault}")
            told = fault
        if child.is_startable:
            await _start_again(child, notify)
            notify(f"{child.name} is up again")
            told = None


async def _start_again(child: _Child, notify: Notify) -> None:
    pause, told = FIRST_PAUSE_S, False
    while True:
        heed_cancellation()
        try:
            return await child.restart()
        # What the log has lost no restart brings back: that is for a person.
        except LogDamaged:
            raise
        # Whatever else: a cancellation, too, may be one that a library left behind.
        except (Exception, asyncio.CancelledError) as error:  # noqa: BLE001  # told
            heed_cancellation()
            if not told:
                why = str(error) or repr(error)
                notify(f"{child.name} does not start, it is tried again: {why}")
                told = True
        await asyncio.sleep(pause)
        pause = min(2 * pause, _LONGEST_PAUSE_S)
