"""Raters: each person's average vote, over a bounded number of votes.

One more dislike of somebody who dislikes everything says little. Votes are kept whatever
the settings; whether the average discounts them is `learning.calibrate_raters`.
"""

from msgspec import Struct, field

from schemas.state import limits
from schemas.values.bounded_map import Bounded


class Rater(Struct, frozen=True, kw_only=True):
    """One person's habit of judging; `total / count` is the average vote."""

    count: int = 0
    """On how many decisions and heuristics."""
    total: float = 0.0
    """The sum of the latest vote on each, from -1 to 1."""
    votes: Bounded[str, float] = field(
        default_factory=lambda: Bounded(limits.VOTES_OF_PERSON)
    )
    """By what they are about, so that a changed vote replaces it."""
