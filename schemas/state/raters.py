"""How one person uses to judge: what their votes say on the average, bounded.

Somebody who dislikes everything tells little by disliking one thing more. The votes are
kept whatever the settings; whether that weighs them is `learning.calibrate_raters`.
"""

from msgspec import Struct, field

from schemas.state import limits
from schemas.values.bounded_map import Bounded


class Rater(Struct, frozen=True, kw_only=True):
    """How one person uses to judge."""

    count: int = 0
    """On how many decisions and heuristics."""
    total: float = 0.0
    """The sum of the latest vote on each, from -1 to 1."""
    votes: Bounded[str, float] = field(
        default_factory=lambda: Bounded(limits.VOTES_OF_PERSON)
    )
    """By what they are about, so that a changed vote replaces it."""
