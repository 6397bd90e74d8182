"""A mark in the data folder: up to where the log is known to have all of the intake streams.

It only saves time. Without it, all is read that came in since the oldest message that the
intake streams still keep.
"""

from pathlib import Path

import msgspec

from streams.embedded import write_private

FILE = "taken.json"


class Mark(msgspec.Struct, frozen=True):
    """Up to where it is known."""

    epoch: str
    read: dict[str, tuple[int, int]]
    """By stream of the log: a sequence, and the time (nanoseconds) of the message there."""
    taken: dict[str, int]
    """By intake stream: the last sequence up to which nothing is missed."""


def recall(file: Path) -> Mark | None:
    """Return the mark of a file; None if there is none that can be read."""
    try:
        return msgspec.json.decode(file.read_bytes(), type=Mark)
    except (OSError, ValueError):
        return None


def keep(file: Path, mark: Mark) -> None:
    """Write the mark, whole or not at all."""
    write_private(file, msgspec.json.encode(mark))
