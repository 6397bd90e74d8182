"""Compare two versions of the tables: by checksum, and row by row where that differs.

A checksum is a sum of row hashes, so it does not depend on the order of rows.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from projections.rows.changes import TableName
from projections.store.tables import KEYS, physical

_DIFFERENCES_MAX = 20
"""How many differing rows of a table are reported, at most."""


@dataclass(frozen=True, slots=True)
class Checksum:
    """The number of a table's rows and the sum of their hashes."""

    rows: int
    digest: str


@dataclass(frozen=True, slots=True)
class Difference:
    """A row that differs from a fresh fold of the log."""

    table: TableName
    key: tuple[str, ...]
    kind: Literal["missing", "extra", "changed"]


def checksums(connection: Connection, version: int) -> dict[TableName, Checksum]:
    """Return the checksum of each table of a version."""
    return {name: _checksum(connection, name, version) for name in KEYS}


def differences(
    tables: Connection, version: int, made: Connection, fresh: int, name: TableName
) -> tuple[Difference, ...]:
    """Return the first rows of a table that differ from a fresh fold of the log.

    `tables` reads version `version`, which serves, `made` the version `fresh`.
    """
    # A merge of two streams ordered by key: neither table has to fit in memory.
    found: list[Difference] = []
    held_rows, made_rows = _Rows(tables, name, version), _Rows(made, name, fresh)
    while len(found) < _DIFFERENCES_MAX:
        held, wanted = held_rows.current, made_rows.current
        if held is None and wanted is None:
            break
        if wanted is None or (held is not None and held[0] < wanted[0]):
            assert held is not None
            found.append(Difference(name, held[0], "extra"))
            held_rows.advance()
        elif held is None or wanted[0] < held[0]:
            found.append(Difference(name, wanted[0], "missing"))
            made_rows.advance()
        else:
            if held[1] != wanted[1]:
                found.append(Difference(name, held[0], "changed"))
            held_rows.advance()
            made_rows.advance()
    return tuple(found)


class _Rows:
    """The keys and digests of a table, one row at a time, by key."""

    def __init__(self, connection: Connection, name: TableName, version: int) -> None:
        self._rows = _digests(connection, name, version)
        self.current = next(self._rows, None)

    def advance(self) -> None:
        self.current = next(self._rows, None)


def _checksum(connection: Connection, name: TableName, version: int) -> Checksum:
    table = physical(version)[name].name
    rows, digest = connection.execute(
        sa.text(
            "SELECT count(*), coalesce(sum(hashtextextended(each::text, 0)), 0)::text"
            f" FROM {table} AS each"
        )
    ).one()
    # As text: a sum of 64-bit hashes is a numeric, and exceeds a BIGINT.
    return Checksum(rows, digest)


def _digests(
    connection: Connection, name: TableName, version: int
) -> Iterator[tuple[tuple[str, ...], int]]:
    # The merge compares keys in Python, by code points, which is the order of collation C.
    keys = ", ".join(f'"{column}" COLLATE "C"' for column in KEYS[name])
    rows = connection.execute(
        sa.text(
            f"SELECT {keys}, hashtextextended(each::text, 0)"
            f" FROM {physical(version)[name].name} AS each ORDER BY {keys}"
        ),
        execution_options={"yield_per": 1000},
    )
    for row in rows:
        yield tuple(row[:-1]), row[-1]
