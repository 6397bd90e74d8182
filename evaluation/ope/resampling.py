"""Draws that follow from a seed and their number alone: many at once, in any order.

No generator and no state; the n-th draw of a seed is always the same.
"""

from typing import TypeAlias

import numpy as np
import numpy.typing as npt

Hashes: TypeAlias = npt.NDArray[np.uint64]

_STEP = np.uint64(0x9E3779B97F4A7C15)
_FIRST = np.uint64(0xBF58476D1CE4E5B9)
_SECOND = np.uint64(0x94D049BB133111EB)
_53_BITS = float(1 << 53)


def mixed(values: Hashes) -> Hashes:
    """Scatter whole numbers over all 64 bits, one to one (splitmix64)."""
    scattered = values + _STEP
    scattered ^= scattered >> np.uint64(30)
    scattered *= _FIRST
    scattered ^= scattered >> np.uint64(27)
    scattered *= _SECOND
    scattered ^= scattered >> np.uint64(31)
    return scattered


def uniforms(seed: int, first: int, count: int) -> npt.NDArray[np.float64]:
    """Return the draws in [0, 1) of a seed from number `first` on."""
    numbers = np.arange(first, first + count, dtype=np.uint64)
    start = mixed(np.array([seed], dtype=np.uint64))
    return (mixed(numbers * _STEP + start) >> np.uint64(11)) / _53_BITS
