"""Batches on their way into the tables: new rows by COPY, changed ones by statement.

It runs within the transaction of whoever calls it.
"""

from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
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


def write(
    connection: Connection, version: int, changes: Mapping[TableName, TableChanges]
) -> None:
    """Write joined changes."""
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
    columns = tuple(next(iter(puts.values())))
    values_of = itemgetter(*columns)
    rows = ((*key, *values_of(row)) for key, row in puts.items())
    if name in APPENDED:
        _copy(cursor, _copy_statement(name, table, columns), rows)
    else:
        cursor.executemany(_upsert_statement(name, table, columns), rows)


def _copy(cursor: Cursor[Any], statement: str, rows: Iterable[Sequence[Value]]) -> None:
    with cursor.copy(statement.encode()) as copy:
        for row in rows:
            copy.write_row(row)


def _patch(
    cursor: Cursor[Any], name: TableName, table: str, patches: Mapping[Key, Row]
) -> None:
    by_columns: dict[tuple[str, ...], list[Sequence[Value]]] = {}
    for key, values in patches.items():
        columns = tuple(sorted(values))
        row = (*(values[column] for column in columns), *key)
        by_columns.setdefault(columns, []).append(row)
    for columns, rows in by_columns.items():
        cursor.executemany(_update_statement(name, table, columns), rows)


def _remove(
    cursor: Cursor[Any], name: TableName, table: str, keys: Iterable[Key]
) -> None:
    rows = list(keys)
    if rows:
        statement = f"DELETE FROM {table} WHERE {_is_key(name)}"
        cursor.executemany(statement.encode(), rows)


@lru_cache(maxsize=64)
def _copy_statement(name: TableName, table: str, columns: tuple[str, ...]) -> str:
    return f"COPY {table} ({_names((*KEYS[name], *columns))}) FROM STDIN"


@lru_cache(maxsize=64)
def _upsert_statement(name: TableName, table: str, columns: tuple[str, ...]) -> bytes:
    """Insert a row, or replace all of one but when it began."""
    marks = ", ".join(["%s"] * (len(KEYS[name]) + len(columns)))
    replaced = ", ".join(
        f'"{each}" = EXCLUDED."{each}"' for each in columns if each not in CREATED
    )
    return (
        f"INSERT INTO {table} ({_names((*KEYS[name], *columns))}) VALUES ({marks})"
        f" ON CONFLICT ({_names(KEYS[name])}) DO UPDATE SET {replaced}"
    ).encode()


@lru_cache(maxsize=64)
def _update_statement(name: TableName, table: str, columns: tuple[str, ...]) -> bytes:
    """Replace some columns of a row, and add to those that count."""
    changed = ", ".join(
        f'"{each}" = "{each}" + %s' if each in ADDED else f'"{each}" = %s'
        for each in columns
    )
    return f"UPDATE {table} SET {changed} WHERE {_is_key(name)}".encode()


def _is_key(name: TableName) -> str:
    return " AND ".join(f'"{column}" = %s' for column in KEYS[name])


def _names(columns: Iterable[str]) -> str:
    return ", ".join(f'"{column}"' for column in columns)
