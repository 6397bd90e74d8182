"""The three measures of a heuristic: match, trust and success; none stands for another.

A condition may match well and its advice be wrong; a trust may be declared, or learnt of
two fires; and a rate says little without its number.
"""

from dataclasses import dataclass

from echoic.client.heuristics import Learnt
from handlers.mind.strategies import thompson
from projections.store.queries import Fired
from schemas.values.exact_math import round6

LEVEL = 0.95
"""How credible the interval of a trust is."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Measures:
    """What is known of a heuristic, each by itself."""

    matches: int
    """How often its words were shown, with a likeness on record."""
    similarity: float | None
    """The mean likeness of those events to its condition."""
    low: float
    """The interval in which its confidence lies, by what is believed."""
    high: float
    judged: int | None
    """How many of its fires are known to have gone well or badly; None: nobody counts."""
    succeeded: int | None
    rate: float | None
    """The share of those that went well."""


def measures(found: Learnt, fired: Fired | None) -> Measures:
    """Return the measures of a heuristic; without the read models its fires are not counted."""
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
