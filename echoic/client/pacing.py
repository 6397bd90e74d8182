"""The pace of a played recording: as it happened, a number of events a second, or at once.

At any pace each source keeps within the instance's rate limit, so that no event is shed.
"""

import asyncio
import time
from datetime import datetime
from typing import TYPE_CHECKING

from echoic.client.watch import settings_in_force
from echoic.errors import EchoicError
from schemas.state.agent import Allowance
from schemas.values.lazily import Lazily
from schemas.values.settings import IntakeSettings
from schemas.values.subjects import partition_of
from streams.log import ReadableLog

if TYPE_CHECKING:
    from projections.folds import rate_limits
else:
    rate_limits = Lazily("projections.folds.rate_limits")

_CAREFUL = 0.9
"""The share of the rate that is used: clocks differ, and events bunch up."""

_BURST_PART = 4
"""The burst is divided by this; the rest is for whatever else the source sends."""


class Pace:
    """Waits until the next event is due."""

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
        # From the start, not from the event before, so that delays do not add up.
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


class Allowed:
    """Waits until the instance's rate limit admits an event, counting as the mind does."""

    def __init__(self, limit: IntakeSettings | None) -> None:
        """Keep within a part of `limit`; None means no limit."""
        self._limit = limit and IntakeSettings(
            rate=limit.rate * _CAREFUL, burst=max(1, limit.burst // _BURST_PART)
        )
        self._allowances: dict[tuple[str, str], Allowance] = {}

    async def wait_for(self, agent: str, source: str) -> None:
        """Wait until one more event of the source is allowed."""
        if self._limit is None:
            return
        before = self._allowances.get((agent, source), Allowance())
        after = rate_limits.after(before, self._limit, time.time_ns())
        if after is None:
            await asyncio.sleep(1 / self._limit.rate)
            # The bucket gains a token in 1/rate seconds; asyncio may wake a little early.
            after = rate_limits.after(before, self._limit, time.time_ns()) or before
        self._allowances[agent, source] = after


async def limit_of(log: ReadableLog, agent: str) -> IntakeSettings | None:
    """Return the rate limit for each source of an agent, by the settings in force."""
    return (await settings_in_force(log, partition_of(agent))).intake
