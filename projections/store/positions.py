"""Positions: up to where each partition of the log is in the tables.

They move in the transaction that writes the rows, by compare-and-set.
"""

from typing import Any

import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.engine import Connection

from projections.store import tables
from projections.store.places import Move, Position


def positions_of(connection: Connection, version: int) -> dict[int, Position]:
    """Return the position of each partition of a version; absent where none is written."""
    rows = connection.execute(
        sa.select(tables.positions).where(tables.positions.c.version == version)
    )
    return {
        row.partition: Position(row.sequence, row.epoch, row.message_id) for row in rows
    }


def moved(connection: Connection, version: int, move: Move) -> bool:
    """Move a position by compare-and-set; false if another writer has moved it."""
    key = {"name": tables.PROJECTION, "version": version, "partition": move.partition}
    values = {
        "sequence": move.after.sequence,
        "epoch": move.after.epoch,
        "message_id": move.after.message_id,
    }
    statement: Any
    if move.before is None:
        statement = insert(tables.positions).values(**key, **values)
        # A row that is there already means another projector began the partition.
        statement = statement.on_conflict_do_nothing()
    else:
        stood = {"sequence": move.before.sequence, "epoch": move.before.epoch}
        statement = sa.update(tables.positions).filter_by(**key, **stood)
        statement = statement.values(**values)
    statement = statement.returning(tables.positions.c.sequence)
    return connection.execute(statement).first() is not None
