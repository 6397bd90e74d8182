"""The pace of a recording: as it happened, so many events a second, or at once."""

import asyncio
from datetime import datetime

from echoic.errors import EchoicError


class Pace:
    """Says when the next event may go out."""

    def __init__(self, text: str) -> None:
        """Read `original`, `max` or a number of events a second."""
        self._original = text == "original"
        self._interval_s = 0.0 if text in ("original", "max") else 1 / _rate(text)
        self._started: float | None = None
        self._first_at: datetime | None = None
        self._count = 0

    async def wait_for(self, at: datetime | None) -> None:
        """Wait until an event that happened at this time is due."""
        now = asyncio.get_running_loop().time()
        if self._started is None:
            self._started = now
        due = self._started + self._count * self._interval_s
        if self._original and at is not None:
            self._first_at = self._first_at or at
            due = self._started + (at - self._first_at).total_seconds()
        self._count += 1
        if due > now:
            await asyncio.sleep(due - now)


def _rate(text: str) -> float:
    try:
        rate = float(text)
    except ValueError:
        rate = 0.0
    if not 0 < rate < float("inf"):
        raise EchoicError(
            f"--pace {text!r} is not original, max or a number of events a second"
        )
    return rate
