"""Recency: when a heuristic last fired and last succeeded.

The newest evidence on a fire holds, be it an outcome or a vote.
"""

from datetime import datetime

from msgspec.structs import replace

from schemas.state import limits
from schemas.state.recency import NEVER, Recent


def fired(recent: Recent | None, at: datetime) -> Recent:
    """Return the recency after a fire at `at`."""
    recent = recent or NEVER
    # The latest only, so that a busy heuristic's state does not grow with its fires.
    return replace(recent, fires=(*recent.fires, at)[-limits.RECENT_FIRES :])


def outcome_seen(
    recent: Recent | None, fire_id: str, is_success: bool, at: datetime
) -> Recent:
    """Return the recency after an outcome or a vote on a fire.

    A failure revokes the success of the same fire; successes before it are not kept, so
    there is none then.
    """
    recent = recent or NEVER
    if is_success:
        return replace(recent, succeeded_at=at, succeeded_by=fire_id)
    if recent.succeeded_by != fire_id:
        return recent
    return replace(recent, succeeded_at=None, succeeded_by="")
