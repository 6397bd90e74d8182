"""A frozen map that forgets: it holds at least the newest `limit` keys, at most twice that.

Keys are written into the younger of two generations; when that is full, the older one is
forgotten. So a bounded memory costs no more than two maps and needs no clock.
"""

from typing import Generic, TypeVar

from immutables import Map
from msgspec import Struct, field

K = TypeVar("K")
V = TypeVar("V")


class Bounded(Struct, Generic[K, V], frozen=True):
    """A frozen map of the newest keys."""

    limit: int
    younger: Map[K, V] = field(default_factory=Map)
    older: Map[K, V] = field(default_factory=Map)

    def get(self, key: K) -> V | None:
        """The value of `key`, or None if it was never there or is forgotten."""
        found = self.younger.get(key)
        return self.older.get(key) if found is None else found

    def set(self, key: K, value: V) -> "Bounded[K, V]":
        """This map with `key` at `value`."""
        if len(self.younger) >= self.limit and key not in self.younger:
            return Bounded(self.limit, Map({key: value}), self.younger)
        return Bounded(self.limit, self.younger.set(key, value), self.older)

    def __contains__(self, key: K) -> bool:
        return key in self.younger or key in self.older
