"""Several challengers against one baseline: each is one more chance to win by luck.

Holm's adjustment keeps the chance of any false verdict at the level of one. Its rule:
raw and adjusted p-values are shown side by side, in the order they came.
"""

from collections.abc import Mapping


def holm(p_values: Mapping[str, float | None]) -> dict[str, float | None]:
    """Return the adjusted p-value of each name; one without a p-value was not tested.

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
        # What came before was harder to reject, so none may come out below it.
        largest = max(largest, min(1.0, (len(tested) - rank) * p))
        adjusted[name] = largest
    return adjusted
