"""A heuristic's latest fires and its last success, bounded.

Times are the agent's own. A strategy that weighs how fresh a success is, or how often the
same was just said, reads them here.
"""

from datetime import datetime, timedelta

from msgspec import Struct


class Recent(Struct, frozen=True, kw_only=True):
    """When a heuristic last fired, and when it last succeeded."""

    fires: tuple[datetime, ...] = ()
    """When its action was last shown, oldest first."""
    succeeded_at: datetime | None = None
    """When an outcome or a vote last counted as its success."""
    succeeded_by: str = ""
    """The fire that succeeded."""

    def fires_within(self, seconds: float, now: datetime) -> int:
        """Return how many of the remembered fires are at most so many seconds old."""
        # An event clock may go back: fires that lie ahead of `now` do not count.
        span = timedelta(seconds=seconds)
        return sum(1 for at in self.fires if timedelta() <= now - at <= span)

    def succeeded_within(self, seconds: float, now: datetime) -> bool:
        """Tell whether the last success is at most so many seconds old."""
        at = self.succeeded_at
        return at is not None and timedelta() <= now - at <= timedelta(seconds=seconds)


NEVER = Recent()
"""Of a heuristic that has not fired."""
