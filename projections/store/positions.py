"""Where each partition of the log stands in the tables, and how that moves."""

from dataclasses import dataclass
from typing import Any

import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.engine import Connection

from projections.store import tables


@dataclass(frozen=True, slots=True)
class Position:
    """Up to where a partition's log is in the tables."""

    sequence: int
    """Of the last input whose whole group is."""
    epoch: str
    """Of the log."""
    message_id: str
    """The id of that input."""

    def is_before(self, other: "Position") -> bool:
        """Tell whether it is an earlier position in the same log."""
        return self.epoch == other.epoch and self.sequence < other.sequence


@dataclass(frozen=True, slots=True)
class Move:
    """A position on its way: it must still stand where it was."""

    partition: int
    before: Position | None
    after: Position


def positions_of(connection: Connection, version: int) -> dict[int, Position]:
    """Return where each partition stands in a version; one that is not begun is missing."""
    rows = connection.execute(
        sa.select(tables.positions).where(tables.positions.c.version == version)
    )
    return {
        row.partition: Position(row.sequence, row.epoch, row.message_id) for row in rows
    }


def moved(connection: Connection, version: int, move: Move) -> bool:
    """Move a position by compare-and-set; false if it does not stand where it was."""
    key = {
        "name": tables.PROJECTION,
        "version": version,
        "partition": move.partition,
    }
    values = {
        "sequence": move.after.sequence,
        "epoch": move.after.epoch,
        "message_id": move.after.message_id,
    }
    statement: Any
    if move.before is None:
        statement = insert(tables.positions).values(**key, **values)
        statement = statement.on_conflict_do_nothing()
    else:
        stood = {"sequence": move.before.sequence, "epoch": move.before.epoch}
        statement = sa.update(tables.positions).filter_by(**key, **stood)
        statement = statement.values(**values)
    statement = statement.returning(tables.positions.c.sequence)
    return connection.execute(statement).first() is not None
