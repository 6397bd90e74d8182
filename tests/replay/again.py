"""Answers the shipped recording anew in a process of its own, and tells what it did it on.

Run as `python -m tests.replay.again`; prints one JSON object.
"""

import asyncio
import ctypes
import json
import math
import sys
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from schemas.values.ids import digest
from tests.replay.evening import evening, verified


@dataclass(frozen=True, slots=True)
class Machine:
    """What the process computes with."""

    kernel: str
    threads: int
    hash_of_a: int
    exponentials: str
    """A digest of `math.exp`, which depends on the processor's features."""


def main() -> None:
    """Verify and print."""
    found = asyncio.run(verified(evening()))
    here = machine()
    report = {
        "inputs": found.inputs,
        "total": found.total,
        "identical": found.identical,
        "divergence": str(found.divergence) if found.divergence else None,
        "chains": dict(found.chains),
        "kernel": here.kernel,
        "threads": here.threads,
        "hash_of_a": here.hash_of_a,
        "exponentials": here.exponentials,
    }
    sys.stdout.write(json.dumps(report))


def machine() -> Machine:
    """The kernel and threads of the linear algebra that numpy brought along."""
    libraries = Path(np.__file__).parents[1] / "numpy.libs"
    algebra = ctypes.CDLL(str(next(libraries.glob("libscipy_openblas64_*"))))
    algebra.scipy_openblas_get_corename64_.restype = ctypes.c_char_p
    exponentials = "".join(math.exp(x / 7.3).hex() for x in range(4_000))
    return Machine(
        kernel=algebra.scipy_openblas_get_corename64_().decode(),
        threads=algebra.scipy_openblas_get_num_threads64_(),
        hash_of_a=hash("a"),
        exponentials=digest(exponentials.encode()),
    )


if __name__ == "__main__":
    main()
