"""Raters: what each person uses to say, and how much a vote tells that says it again.

A person's base is the sum of their latest votes over how many they are and ten more, so
that a few votes make no base. A vote v counts by 1 - v * base, from a quarter to whole:
what goes against somebody's custom counts whole, and nothing counts for more than that.
"""

from msgspec.structs import replace

from schemas.state.raters import Rater
from schemas.values.bounded_map import Bounded
from schemas.values.exact_math import clamp, round6

UNKNOWN_VOTES = 10
"""So many votes of no opinion everybody is thought to have given before the first."""

LEAST_SHARE = 0.25
"""So much of a vote counts in any case."""

Raters = Bounded[str, Rater]


def base(raters: Raters, actor: str, target: str, before: float | None = None) -> float:
    """Return what a person uses to say of anything but this target, from -1 to 1.

    `before` is that person's earlier vote on it, as others than the rater remember it.
    """
    rater = raters.get(actor)
    if rater is None:
        return 0.0
    earlier = _earlier(rater, target, before)
    count = rater.count - (earlier is not None)
    return round6((rater.total - (earlier or 0.0)) / (count + UNKNOWN_VOTES))


def voted(
    raters: Raters, actor: str, target: str, vote: float, before: float | None = None
) -> Raters:
    """Return what people use to say, once this person's latest vote on a target is known."""
    rater = raters.get(actor, Rater())
    earlier = _earlier(rater, target, before)
    changed = replace(
        rater,
        count=rater.count + (earlier is None),
        total=round6(rater.total + vote - (earlier or 0.0)),
        votes=rater.votes.set(target, vote),
    )
    return raters.set(actor, changed)


def _earlier(rater: Rater, target: str, before: float | None) -> float | None:
    """Return the vote on a target that is in the rater's sum already."""
    earlier = rater.votes.get(target)
    # Of what it summed a rater forgets the oldest; of what came before it nothing is in it.
    has_forgotten = rater.count > len(rater.votes)
    return before if earlier is None and has_forgotten else earlier


def share(vote: float, base_: float) -> float:
    """Return how much of a vote counts, by what that person used to say."""
    return clamp(1.0 - vote * base_, LEAST_SHARE, 1.0)
