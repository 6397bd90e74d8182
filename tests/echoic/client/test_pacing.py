"""A recording is played at a pace at which the instance sheds nothing of it."""

import time

from echoic.client.pacing import Allowed
from projections.folds import rate_limits
from schemas.state.agent import Allowance
from schemas.values.settings import IntakeSettings

LIMIT = IntakeSettings(rate=500.0, burst=8)


async def test_what_is_played_stays_within_the_limit() -> None:
    """By source: what goes out when it may is never too many where it arrives."""
    allowed, arrived = Allowed(LIMIT), {"cam": Allowance(), "mic": Allowance()}

    for number in range(60):
        source = "mic" if number % 3 else "cam"
        await allowed.wait_for("ada", source)
        after = rate_limits.after(arrived[source], LIMIT, time.time_ns())
        assert after is not None
        arrived[source] = after


async def test_without_a_limit_nothing_waits() -> None:
    """An instance that takes everything is sent everything."""
    allowed = Allowed(None)

    for _ in range(10_000):
        await allowed.wait_for("ada", "cam")
