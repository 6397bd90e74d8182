"""Recency: when a heuristic last fired and succeeded; the newest word on a fire holds."""

from datetime import datetime

from msgspec.structs import replace

from schemas.state import limits
from schemas.state.recency import NEVER, Recent


def fired(recent: Recent | None, at: datetime) -> Recent:
    """Return what is remembered once a heuristic's action was shown again."""
    recent = recent or NEVER
    return replace(recent, fires=(*recent.fires, at)[-limits.RECENT_FIRES :])


def outcome_seen(
    recent: Recent | None, fire_id: str, is_success: bool, at: datetime
) -> Recent:
    """Return what is remembered once an outcome or a vote told how a fire went.

    A success of which later the contrary is told was none; an earlier one is then not
    remembered any more.
    """
    recent = recent or NEVER
    if is_success:
        return replace(recent, succeeded_at=at, succeeded_by=fire_id)
    if recent.succeeded_by != fire_id:
        return recent
    return replace(recent, succeeded_at=None, succeeded_by="")
