"""A memo for pure functions of values that live for long, told apart by who they are."""

from collections.abc import Callable
from functools import wraps
from typing import TypeVar, TypeVarTuple

Ts = TypeVarTuple("Ts")
T = TypeVar("T")


def by_identity(
    limit: int,
) -> Callable[[Callable[[*Ts], T]], Callable[[*Ts], T]]:
    """Remember the last `limit` answers of a function.

    For frozen arguments such as settings, packs and persistent maps: to compare or hash
    one by its value costs more than most of what is made of it. An equal argument that is
    another object is only answered anew. Arguments are kept as long as their answer, so
    that no other object can come by their id.
    """

    def remembering(make: Callable[[*Ts], T]) -> Callable[[*Ts], T]:
        known: dict[tuple[int, ...], tuple[tuple[*Ts], T]] = {}

        @wraps(make)
        def remembered(*given: *Ts) -> T:
            key = tuple(map(id, given))
            found = known.get(key)
            if found is None:
                if len(known) >= limit:
                    del known[next(iter(known))]
                found = known[key] = (given, make(*given))
            return found[1]

        return remembered

    return remembering
