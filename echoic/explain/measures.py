"""The three measures of a heuristic: match, trust and success; none replaces another.

A condition may match well while its advice is wrong; a confidence may be declared, or
learned from two fires; a rate means little without the number of cases.
"""

from dataclasses import dataclass

from echoic.client.heuristics import Learnt
from handlers.mind.strategies import thompson
from projections.store.queries import Fired
from schemas.values.exact_math import round6

LEVEL = 0.95
"""The mass of the credible interval of a confidence."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Measures:
    """The measures of one heuristic."""

    matches: int
    """Fires that were shown and have a recorded similarity."""
    similarity: float | None
    """The mean similarity of those events to its condition."""
    low: float
    """The credible interval of its Beta-distributed confidence."""
    high: float
    judged: int | None
    """Fires with a known outcome or vote; None without the read models."""
    succeeded: int | None
    rate: float | None
    """The share of judged fires that succeeded."""


def measures(found: Learnt, fired: Fired | None) -> Measures:
    """Return a heuristic's measures; without the read models, its fires are not counted."""
    # Equal tails of the Beta distribution that Thompson sampling draws from.
    low, high = thompson.interval(found.alpha, found.beta, LEVEL)
    similarity = fired.similarity if fired else None
    rate = fired.succeeded / fired.judged if fired and fired.judged else None
    return Measures(
        matches=fired.fires if fired else 0,
        similarity=None if similarity is None else round6(similarity),
        low=low,
        high=high,
        judged=fired.judged if fired else None,
        succeeded=fired.succeeded if fired else None,
        rate=None if rate is None else round6(rate),
    )


def lines(found: Learnt, measured: Measures) -> dict[str, str]:
    """Return the measures for a person to read."""
    match = "never fired"
    if measured.similarity is not None:
        match = (
            f"{measured.similarity:.2f} on average when it fired (n={measured.matches})"
        )
    success = "no fire was judged"
    if measured.rate is not None:
        success = f"{measured.rate:.0%} of {measured.judged} judged fires"
    return {
        "match": match,
        "trust": (
            f"{found.confidence:.3f}, {LEVEL:.0%} between {measured.low:.2f} and"
            f" {measured.high:.2f} (declared {found.declared:.2f})"
        ),
        "success": f"{success}; fired {found.fires}",
    }
