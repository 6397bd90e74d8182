"""Raters: each person's usual vote, and how much a vote that only repeats it counts.

A person's base is the sum of their latest votes over their number plus ten: a mean shrunk
toward 0, so that a few votes make no base. A vote v has the share 1 - v * base, limited
to [0.25, 1]: one that goes against the base counts whole, and none counts for more.
"""

from msgspec.structs import replace

from schemas.state.evidence import Rater
from schemas.values.bounded_map import Bounded
from schemas.values.exact_math import clamp, round6

_UNKNOWN_VOTES = 10
"""The weight of the shrinkage toward 0, in neutral votes before a person's first."""

_LEAST_SHARE = 0.25
"""The least share of a vote: somebody who always says the same is still heard."""

_Raters = Bounded[str, Rater]


def base(
    raters: _Raters, actor: str, target: str, before: float | None = None
) -> float:
    """Return a person's base, -1 to 1, over all targets but this one.

    `before` is that person's earlier vote on it, as remembered elsewhere in the state.
    """
    rater = raters.get(actor)
    if rater is None:
        return 0.0
    earlier = _earlier(rater, target, before)
    count = rater.count - (earlier is not None)
    return round6((rater.total - (earlier or 0.0)) / (count + _UNKNOWN_VOTES))


def voted(
    raters: _Raters, actor: str, target: str, vote: float, before: float | None = None
) -> _Raters:
    """Return the raters after a vote, which replaces the person's earlier one on the target."""
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
    """Return the vote on a target that the rater's sum holds already; None if none."""
    earlier = rater.votes.get(target)
    # The sum outlives single votes: only once some are forgotten may `before` be in it.
    has_forgotten = rater.count > len(rater.votes)
    return before if earlier is None and has_forgotten else earlier


def share(vote: float, base_: float) -> float:
    """Return how much of a vote counts, from `_LEAST_SHARE` to 1, by its actor's base."""
    return clamp(1.0 - vote * base_, _LEAST_SHARE, 1.0)
