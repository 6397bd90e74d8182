"""A digest of all code that shapes a state: what a checkpoint is bound to.

A checkpoint must be what this program would fold. After any change of a source that the
fold depends on, or of a library that reads or writes for it, the log is folded anew.
"""

import hashlib
import sys
from collections.abc import Iterator
from functools import cache
from importlib.metadata import version
from pathlib import Path

import handlers

PURE = ("schemas", "projections/folds", "projections/rows", "handlers/mind")
"""What decides and remembers without I/O, clock or chance. That the import contracts, the
ban of clock and chance by ruff, and coverage are of these folders is tested
(tests/test_architecture.py)."""

_SHAPING = (*PURE, "handlers/aids.py")
"""What shapes a state: the pure part, and what makes vectors and packs for it."""

_LIBRARIES = ("immutables", "msgspec", "numpy", "orjson", "pydantic", "pydantic_core")
"""Libraries on which the bytes of a state may depend. The embedder has its own digest."""


def state_code(embedder: str) -> str:
    """Return the digest of all that shapes a state; `embedder` is that embedder's own."""
    return f"{_code()}/{embedder}"


@cache
def _code() -> str:
    """Digest the sources, once: a process runs what it started with, whatever changes."""
    return _digest_of(Path(handlers.__path__[0]).parent)


def _digest_of(root: Path) -> str:
    """Digest the sources under the folder that holds our packages."""
    made = hashlib.blake2b(digest_size=12)
    for name, data in _parts(root):
        # Name and length in front, so that bytes cannot move from one file to the next
        # unseen.
        made.update(f"{name}\0{len(data)}\0".encode() + data)
    return made.hexdigest()


def _parts(root: Path) -> Iterator[tuple[str, bytes]]:
    # The interpreter's bytecode tag stands for its version: 3.12 may fold other than 3.11.
    yield "python", str(sys.implementation.cache_tag).encode()
    for library in _LIBRARIES:
        yield library, version(library).encode()
    for name in _SHAPING:
        place = root / name
        # Sorted, since the order of a directory differs between machines.
        for path in sorted(place.rglob("*.py")) if place.is_dir() else [place]:
            yield path.relative_to(root).as_posix(), path.read_bytes()
