"""Draw uniform numbers from a seed and an index alone, many at once and in any order.

It is counter-based: there is no generator and no state, so the n-th draw of a seed is the
same on every machine, however the draws are batched.
"""

from typing import TypeAlias

import numpy as np
import numpy.typing as npt

Hashes: TypeAlias = npt.NDArray[np.uint64]

# The constants of splitmix64 (Steele, Lea and Flood, 2014, "Fast splittable pseudorandom
# number generators"): 2^64 over the golden ratio, and the multipliers of its finaliser.
_STEP = np.uint64(0x9E3779B97F4A7C15)
_FIRST = np.uint64(0xBF58476D1CE4E5B9)
_SECOND = np.uint64(0x94D049BB133111EB)
_53_BITS = float(1 << 53)


def mixed(values: Hashes) -> Hashes:
    """Mix 64-bit integers by the finaliser of splitmix64, a bijection; a new array."""
    # Unsigned arithmetic wraps modulo 2^64, which is what the algorithm asks for.
    scattered = values + _STEP
    scattered ^= scattered >> np.uint64(30)
    scattered *= _FIRST
    scattered ^= scattered >> np.uint64(27)
    scattered *= _SECOND
    scattered ^= scattered >> np.uint64(31)
    return scattered


def uniforms(seed: int, first: int, count: int) -> npt.NDArray[np.float64]:
    """Return `count` draws in [0, 1) of a seed, from index `first` on."""
    numbers = np.arange(first, first + count, dtype=np.uint64)
    # The seed is mixed first, so that neighbouring seeds share no run of draws.
    start = mixed(np.array([seed], dtype=np.uint64))
    # The upper 53 of 64 bits are what a float holds exactly: 1.0 itself cannot come out.
    return (mixed(numbers * _STEP + start) >> np.uint64(11)) / _53_BITS
