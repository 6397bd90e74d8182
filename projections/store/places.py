"""Versions of the tables, and positions in the log, as values: without any SQL."""

from dataclasses import dataclass

SHAPE = 6
"""The version of the columns and their meaning; where it differs, a rebuild is due."""


@dataclass(frozen=True, slots=True)
class Version:
    """One set of tables."""

    number: int
    shape: int
    state: str
    """`building`, `serving` or `retired`."""


@dataclass(frozen=True, slots=True)
class Position:
    """The last input of a partition whose whole group is in the tables."""

    sequence: int
    """The sequence of that input in the log."""
    epoch: str
    """The log's own id: sequences of another log say nothing."""
    message_id: str
    """The id of that input, by which a restored or truncated log is found out."""

    def is_before(self, other: "Position") -> bool:
        """Tell whether it is an earlier position in the same log."""
        return self.epoch == other.epoch and self.sequence < other.sequence


@dataclass(frozen=True, slots=True)
class Move:
    """A change of one position, valid only while it still is at `before`."""

    partition: int
    before: Position | None
    after: Position
