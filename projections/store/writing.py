"""Write batches of changes: new rows by COPY, changed ones by statement.

Many changed rows are copied into a temporary table first, and one statement merges them
from there. Runs within the caller's transaction.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from operator import itemgetter
from typing import Any

from psycopg import Connection as Raw
from psycopg import Cursor
from sqlalchemy.engine import Connection

from projections.rows.changes import (
    ADDED,
    CREATED,
    Key,
    Row,
    TableChanges,
    TableName,
    Value,
)
from projections.store.tables import APPENDED, KEYS, physical

_STAGED_FROM = 50
"""From how many changed rows on a temporary table is cheaper than a statement a row."""

_Rows = Iterable[Sequence[Value]]


def write(
    connection: Connection, version: int, changes: Mapping[TableName, TableChanges]
) -> None:
    """Write joined changes to the tables of a version."""
    # SQLAlchemy has no COPY, so the driver's own connection is used; it is in the same
    # transaction, and rolled back with it.
    raw = connection.connection.driver_connection
    assert isinstance(raw, Raw)
    with raw.cursor() as cursor:
        for name, changed in changes.items():
            table = physical(version)[name].name
            _remove(cursor, name, table, changed.removes)
            _put(cursor, name, table, changed.puts)
            _patch(cursor, name, table, changed.patches)


def _put(
    cursor: Cursor[Any], name: TableName, table: str, puts: Mapping[Key, Row]
) -> None:
    if not puts:
        return
    # All rows of a table are put with the same columns, in the same order.
    columns = tuple(next(iter(puts.values())))
    values_of = itemgetter(*columns)
    every = (*KEYS[name], *columns)
    rows = ((*key, *values_of(row)) for key, row in puts.items())
    if name in APPENDED:
        _copy(cursor, table, every, rows)
    elif len(puts) < _STAGED_FROM:
        marks = ", ".join(["%s"] * len(every))
        cursor.executemany(_upsert(name, table, columns, f"VALUES ({marks})"), rows)
    else:
        with _staged(cursor, table, every, rows) as staged:
            source = f"SELECT {_names(every)} FROM {staged}"
            cursor.execute(_upsert(name, table, columns, source))


def _patch(
    cursor: Cursor[Any], name: TableName, table: str, patches: Mapping[Key, Row]
) -> None:
    # A statement names its columns, so patches are grouped by the ones they change.
    by_columns: dict[tuple[str, ...], list[Sequence[Value]]] = {}
    for key, values in patches.items():
        columns = tuple(sorted(values))
        row = (*(values[column] for column in columns), *key)
        by_columns.setdefault(columns, []).append(row)
    for columns, rows in by_columns.items():
        if len(rows) < _STAGED_FROM:
            cursor.executemany(_update(name, table, columns), rows)
        else:
            with _staged(cursor, table, (*columns, *KEYS[name]), rows) as staged:
                cursor.execute(_update_from(name, table, columns, staged))


def _remove(
    cursor: Cursor[Any], name: TableName, table: str, keys: Iterable[Key]
) -> None:
    rows = list(keys)
    if len(rows) < _STAGED_FROM:
        delete = f"DELETE FROM {table} WHERE {_is_key(name)}"
        cursor.executemany(delete.encode(), rows)
    else:
        with _staged(cursor, table, KEYS[name], rows) as staged:
            delete = f"DELETE FROM {table} AS held USING {staged} AS new"
            cursor.execute(f"{delete} WHERE {_is_same(name)}".encode())


def _copy(cursor: Cursor[Any], table: str, columns: Sequence[str], rows: _Rows) -> None:
    statement = f"COPY {table} ({_names(columns)}) FROM STDIN"
    with cursor.copy(statement.encode()) as copy:
        for row in rows:
            copy.write_row(row)


@contextmanager
def _staged(
    cursor: Cursor[Any], table: str, columns: Sequence[str], rows: _Rows
) -> Iterator[str]:
    """Copy rows into a temporary table shaped as `table`, and yield its name.

    The table stays with the connection for the next batch, and is emptied after use.
    """
    staged = f"{table}_staged"
    shape = f"CREATE TEMPORARY TABLE IF NOT EXISTS {staged} (LIKE {table})"
    # LIKE takes over NOT NULL, which the columns that a patch leaves out would break;
    # those are never of the key, and only a key is NOT NULL.
    cursor.execute(shape.encode())
    _copy(cursor, staged, columns, rows)
    yield staged
    cursor.execute(f"TRUNCATE {staged}".encode())


def _upsert(name: TableName, table: str, columns: Sequence[str], source: str) -> bytes:
    """Return the statement that inserts the rows of `source` or replaces those there.

    Columns in `CREATED` keep the values with which a row was first written.
    """
    replaced = ", ".join(
        f'"{each}" = EXCLUDED."{each}"' for each in columns if each not in CREATED
    )
    return (
        f"INSERT INTO {table} ({_names((*KEYS[name], *columns))}) {source}"
        f" ON CONFLICT ({_names(KEYS[name])}) DO UPDATE SET {replaced}"
    ).encode()


def _update(name: TableName, table: str, columns: Sequence[str]) -> bytes:
    """Return the statement that changes some columns of one row.

    Columns in `ADDED` grow by the value given; all others are replaced by it.
    """
    changed = ", ".join(_changed(each, "%s") for each in columns)
    return f"UPDATE {table} AS held SET {changed} WHERE {_is_key(name)}".encode()


def _update_from(
    name: TableName, table: str, columns: Sequence[str], staged: str
) -> bytes:
    """Return the statement that does to many rows what `_update` does to one."""
    changed = ", ".join(_changed(each, f'new."{each}"') for each in columns)
    statement = f"UPDATE {table} AS held SET {changed} FROM {staged} AS new"
    return f"{statement} WHERE {_is_same(name)}".encode()


def _changed(column: str, value: str) -> str:
    added = f'held."{column}" + ' if column in ADDED else ""
    return f'"{column}" = {added}{value}'


def _is_key(name: TableName) -> str:
    return " AND ".join(f'"{column}" = %s' for column in KEYS[name])


def _is_same(name: TableName) -> str:
    return " AND ".join(f'held."{each}" = new."{each}"' for each in KEYS[name])


def _names(columns: Iterable[str]) -> str:
    return ", ".join(f'"{column}"' for column in columns)
