"""Tables of words: which entry a run of words begins with, the longest first."""

from collections.abc import Mapping, Sequence
from typing import TypeVar

_T = TypeVar("_T")

_MOST_WORDS = 5
"""How many words an entry has at most: `the day after tomorrow`."""


def longest(said: Sequence[str], known: Mapping[str, _T]) -> tuple[_T, int] | None:
    """Return what the most words of a beginning mean, and how many they are."""
    most = min(len(said), _MOST_WORDS) if known else 0
    starts = ((" ".join(said[:count]), count) for count in range(most, 0, -1))
    return next(((known[each], count) for each, count in starts if each in known), None)


def first_of(said: Sequence[str], phrases: Sequence[str]) -> int:
    """Return how many words the longest phrase is that words begin with; 0: none does."""
    most = min(len(said), _MOST_WORDS) if phrases else 0
    starts = (count for count in range(most, 0, -1))
    return next((each for each in starts if " ".join(said[:each]) in phrases), 0)
