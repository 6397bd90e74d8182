"""A frozen map that forgets: it holds at least the newest `limit` keys, at most twice that.

Keys are written into the younger of two generations; when that is full, the older one is
forgotten. So a bounded memory costs no more than two maps and needs no clock.
"""

from typing import Any, Generic, TypeVar, overload

from immutables import Map
from msgspec import Struct, field

K = TypeVar("K")
V = TypeVar("V")
D = TypeVar("D")
_ABSENT: Any = object()
"""What no map holds; None is a value like any other."""


class Bounded(Struct, Generic[K, V], frozen=True):
    """A frozen map of the newest keys."""

    limit: int
    younger: Map[K, V] = field(default_factory=Map)
    older: Map[K, V] = field(default_factory=Map)

    @overload
    def get(self, key: K) -> V | None: ...
    @overload
    def get(self, key: K, default: D) -> V | D: ...
    def get(self, key: K, default: object = None) -> object:
        """The value of `key`; the default if it was never there or is forgotten."""
        found = self.younger.get(key, _ABSENT)
        return self.older.get(key, default) if found is _ABSENT else found

    def set(self, key: K, value: V) -> "Bounded[K, V]":
        """This map with `key` at `value`."""
        if len(self.younger) >= self.limit and key not in self.younger:
            return Bounded(self.limit, Map({key: value}), self.younger)
        return Bounded(self.limit, self.younger.set(key, value), self.older)

    def __getitem__(self, key: K) -> V:
        found = self.younger.get(key, _ABSENT)
        return self.older[key] if found is _ABSENT else found

    def __len__(self) -> int:
        return len({*self.older, *self.younger})

    def sorted_keys(self: "Bounded[str, V]") -> list[str]:
        """All keys that are remembered, in their own order."""
        return sorted({**self.older, **self.younger})

    def __contains__(self, key: K) -> bool:
        return key in self.younger or key in self.older
