"""Progress of what takes longer than a second: on a terminal in place, else by lines."""

import asyncio
import sys
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

_QUIET_S = 1.0
_TERMINAL_S = 0.2
_LINES_S = 5.0


class Progress:
    """Counts on stderr, from the first second on."""

    def __init__(self, what: str) -> None:
        """Say `what` is counted, such as `inputs folded`."""
        self._what = what
        self._live = sys.stderr.isatty()
        self._started = time.monotonic()
        self._next = self._started + _QUIET_S
        self._told = False

    def __call__(self, count: int) -> None:
        """So many are done."""
        now = time.monotonic()
        if now < self._next or not count:
            return
        self._next = now + (_TERMINAL_S if self._live else _LINES_S)
        rate = count / (now - self._started)
        line = f"{count:,} {self._what}, {rate:,.0f}/s"
        print(f"\r{line}" if self._live else line, end="" if self._live else "\n",
            file=sys.stderr, flush=True)  # fmt: skip
        self._told = True

    def done(self) -> None:
        """Leave the line that was written in place."""
        if self._told and self._live:
            print("\r\x1b[K", end="", file=sys.stderr, flush=True)


@asynccontextmanager
async def waiting(what: str) -> AsyncIterator[None]:
    """Say on stderr what is waited for, and how long, from the first second on."""
    telling = asyncio.create_task(_tell(what))
    try:
        yield
    finally:
        telling.cancel()
        if sys.stderr.isatty():
            print("\r\x1b[K", end="", file=sys.stderr, flush=True)


async def _tell(what: str) -> None:
    begun = time.monotonic()
    await asyncio.sleep(_QUIET_S)
    while sys.stderr.isatty():
        line = f"\rwaiting for {what} … {time.monotonic() - begun:.0f} s"
        print(line, end="", file=sys.stderr, flush=True)
        await asyncio.sleep(_TERMINAL_S)
    print(f"waiting for {what} …", file=sys.stderr, flush=True)
