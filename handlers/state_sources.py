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
import projections
import schemas

_ROOTS = {
    schemas: (".",),
    projections: ("folds",),
    handlers: ("mind/turn.py", "aids.py"),
}
"""What a fold runs through: messages and their decoding, the folds, and what makes vectors
and packs. The mind's stages decide what is in the log, not what it means."""

_LIBRARIES = ("immutables", "msgspec", "numpy", "orjson", "pydantic", "pydantic_core")
"""Libraries on which the bytes of a state may depend. The embedder has its own digest."""


def state_code(embedder: str) -> str:
    """Return the digest of all that shapes a state; `embedder` is that embedder's own."""
    return f"{_code()}/{embedder}"


@cache
def _code() -> str:
    """Digest the sources, once: a process runs what it started with, whatever changes."""
    made = hashlib.blake2b(digest_size=12)
    for name, data in _parts():
        # Name and length in front, so that bytes cannot move from one file to the next
        # unseen.
        made.update(f"{name}\0{len(data)}\0".encode() + data)
    return made.hexdigest()


def _parts() -> Iterator[tuple[str, bytes]]:
    # The interpreter's bytecode tag stands for its version: 3.12 may fold other than 3.11.
    yield "python", str(sys.implementation.cache_tag).encode()
    for library in _LIBRARIES:
        yield library, version(library).encode()
    for package, below in _ROOTS.items():
        root = Path(next(iter(package.__path__)))
        for name in below:
            for path in _sources(root / name):
                yield path.relative_to(root.parent).as_posix(), path.read_bytes()


def _sources(place: Path) -> list[Path]:
    # Sorted, since the order of a directory differs between machines.
    return sorted(place.rglob("*.py")) if place.is_dir() else [place]
