"""A pulse: what goes on until somebody ends it says now and then that it lives.

On a terminal one line in place, each second; else a line of its own, twice a minute.
"""

import asyncio
import sys
from collections.abc import Callable
from contextlib import suppress
from types import TracebackType

TERMINAL_S = 1.0
LINES_S = 30.0

_CLEAR = "\r\x1b[K"


class Pulse:
    """Tells on stderr how far it is, whether or not anything happens."""

    def __init__(self, told: Callable[[], str], every_s: float | None = None) -> None:
        """`told` says how it stands; `every_s` overrides how often that is asked."""
        self._told = told
        self._live = sys.stderr.isatty()
        self._every_s = every_s or (TERMINAL_S if self._live else LINES_S)
        self._task: asyncio.Task[None] | None = None

    def clear(self) -> None:
        """Make room for a line of another kind."""
        if self._live:
            print(_CLEAR, end="", file=sys.stderr, flush=True)

    async def __aenter__(self) -> "Pulse":
        """Begin to beat."""
        self._task = asyncio.create_task(self._beat())
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Stop, and leave nothing behind on a terminal."""
        if self._task is not None:
            self._task.cancel()
            with suppress(asyncio.CancelledError):
                await self._task
        self.clear()

    async def _beat(self) -> None:
        while True:
            await asyncio.sleep(self._every_s)
            line = self._told()
            print(f"{_CLEAR}{line}" if self._live else line,
                  end="" if self._live else "\n", file=sys.stderr, flush=True)  # fmt: skip
