"""A memo for pure functions of long-lived values, keyed by their arguments' identity."""

from collections.abc import Callable
from functools import wraps
from typing import TypeVar, TypeVarTuple

_Ts = TypeVarTuple("_Ts")
_T = TypeVar("_T")


def by_identity(limit: int) -> Callable[[Callable[[*_Ts], _T]], Callable[[*_Ts], _T]]:
    """Remember the last `limit` answers of a function.

    For frozen arguments such as settings, packs and persistent maps: to hash or compare
    one by value costs more than most of what is computed of it. An equal argument that is
    another object is merely computed again.
    """

    def remembering(make: Callable[[*_Ts], _T]) -> Callable[[*_Ts], _T]:
        known: dict[tuple[int, ...], tuple[tuple[*_Ts], _T]] = {}

        @wraps(make)
        def remembered(*given: *_Ts) -> _T:
            key = tuple(map(id, given))
            found = known.get(key)
            if found is None:
                if len(known) >= limit:
                    # First in, first out: a dict iterates in order of insertion.
                    del known[next(iter(known))]
                # The arguments are stored with the answer: while they live, no other object
                # can be given their ids.
                found = known[key] = (given, make(*given))
            return found[1]

        return remembered

    return remembering
