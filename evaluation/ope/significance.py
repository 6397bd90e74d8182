"""Adjust p-values when several challengers are compared with one baseline.

Holm's step-down method (Holm, 1979, Scandinavian Journal of Statistics 6) bounds the chance
of any false rejection by the level of a single test, whatever the tests' dependence, as
challengers on one log have. Raw and adjusted values are shown side by side.
"""

from collections.abc import Mapping, Sequence

ALPHA = 0.05
"""Above this adjusted p-value a difference may be luck among several challengers."""


def among(p: float | None, others: Sequence[float | None]) -> float | None:
    """Return Holm's adjusted value of one p-value among others; None if it has none."""
    named = {str(place): each for place, each in enumerate(others)}
    return holm({"": p, **named})[""]


def holm(p_values: Mapping[str, float | None]) -> dict[str, float | None]:
    """Return Holm's adjusted p-value of each name, in the order given.

    None means that a name was not tested; it does not count among the tests.

    Raises:
        ValueError: a p-value lies outside [0, 1].
    """
    for name, p in p_values.items():
        if p is not None and not 0.0 <= p <= 1.0:
            raise ValueError(f"p-value {p!r} of {name!r}: give one in [0, 1]")
    tested = sorted((p, name) for name, p in p_values.items() if p is not None)
    adjusted: dict[str, float | None] = dict.fromkeys(p_values)
    largest = 0.0
    for rank, (p, name) in enumerate(tested):
        # The k-th smallest of m is multiplied by m - k + 1. The running maximum keeps the
        # order: a larger raw p-value must not become the smaller adjusted one.
        largest = max(largest, min(1.0, (len(tested) - rank) * p))
        adjusted[name] = largest
    return adjusted
