"""Keeping the servers of an instance alive: each is started again, for as long as it takes.

What one server does never ends the instance, and the first error is the one
that is told. What follows it is mostly its echo.
"""

import asyncio
from collections.abc import Callable
from typing import Protocol

from projections.errors import StoreUnavailable
from streams.errors import ServerFailed

Notify = Callable[[str], None]
"""Tells the person who started the instance something, once."""

LOOK_S = 0.5
"""How often each server is looked at."""

FIRST_PAUSE_S = 0.5
LONGEST_PAUSE_S = 30.0
"""Between attempts to start it, doubled with each."""


class Child(Protocol):
    """A server that is ours."""

    @property
    def name(self) -> str:
        """What to call it in a sentence."""

    def tend(self) -> None:
        """Do what it needs now and then while it runs."""

    def fault(self) -> str | None:
        """Return what is wrong with it, told once while it lasts; None if nothing is."""

    @property
    def is_startable(self) -> bool:
        """Whether to start it again now would help against its fault."""

    async def restart(self) -> None:
        """Start it again, whether it runs or not.

        Raises:
            ServerFailed, StoreUnavailable: it does not come up.
        """


async def supervise(child: Child, notify: Notify) -> None:
    """Start a server again whenever it needs that, until cancelled."""
    told: str | None = None
    while True:
        await asyncio.sleep(LOOK_S)
        child.tend()
        fault = child.fault()
        if fault is None:
            told = None
            continue
        if fault != told:
            notify(f"{child.name} {fault}")
            told = fault
        if child.is_startable:
            await _start_again(child, notify)
            notify(f"{child.name} is up again")
            told = None


async def _start_again(child: Child, notify: Notify) -> None:
    pause, told = FIRST_PAUSE_S, False
    while True:
        try:
            await child.restart()
        except (ServerFailed, StoreUnavailable, OSError) as error:
            if not told:
                notify(f"{child.name} does not start, it is tried again: {error}")
                told = True
        else:
            return
        await asyncio.sleep(pause)
        pause = min(2 * pause, LONGEST_PAUSE_S)
