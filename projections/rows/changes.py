"""Changes of the read models, and how those of many groups join into one write.

Rows are plain values and JSON is text already, so the database takes them as they are.
Joining keeps the order of changes to one key, not the order between keys.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Literal, TypeAlias

import orjson

from schemas.values.vectors import Vector

TableName = Literal[
    "heuristics",
    "heuristic_fires",
    "feedback_events",
    "confidence_changes",
    "decisions",
    "episodes",
    "asks",
    "rapport",
    "sessions",
    "habituation",
    "quarantine",
]
Value: TypeAlias = str | int | float | bool | datetime | None
Row: TypeAlias = dict[str, Value]
Key: TypeAlias = tuple[str, ...]

CREATED = frozenset({"created_at", "created_by"})
"""Columns that keep the values with which a row was first written."""

ADDED = frozenset({"input_count", "spoke_count", "silent_count", "feedback_count"})
"""Columns that a patch adds to instead of replacing."""

_REPLACEMENT = "\ufffd"


@dataclass(frozen=True, slots=True)
class Put:
    """A whole row under a key; one that was there keeps its columns of `CREATED`."""

    table: TableName
    key: Key
    row: Row
    """Without the key's columns."""


@dataclass(frozen=True, slots=True)
class Patch:
    """New values for some columns of a row; without effect if there is no such row."""

    table: TableName
    key: Key
    values: Row


@dataclass(frozen=True, slots=True)
class Remove:
    """The removal of a row."""

    table: TableName
    key: Key


Change: TypeAlias = Put | Patch | Remove


@dataclass(slots=True)
class TableChanges:
    """The joined changes of one table: each key is in one of the three."""

    puts: dict[Key, Row] = field(default_factory=dict)
    patches: dict[Key, Row] = field(default_factory=dict)
    removes: dict[Key, None] = field(default_factory=dict)


def join(changes: Iterable[Change]) -> Mapping[TableName, TableChanges]:
    """Join changes, in their order, to one per key, with texts that PostgreSQL can hold."""
    joined: dict[TableName, TableChanges] = {}
    for change in changes:
        held = joined.get(change.table)
        if held is None:
            held = joined[change.table] = TableChanges()
        # Before joining: keys that become equal in the database must join as one.
        key = tuple(map(_storable, change.key))
        match change:
            case Put():
                _put(held, key, _clean(change.row))
            case Patch():
                _patch(held, key, _clean(change.values))
            case Remove():
                _remove(held, key)
    return joined


def added(count: Value, more: Value) -> int:
    """Return the sum of two counts; None counts as 0."""
    return sum(int(each) for each in (count, more) if isinstance(each, int))


def json_text(value: object) -> str | None:
    """Return a value as JSON text that PostgreSQL can hold; None stays None."""
    return None if value is None else storable_json(orjson.dumps(value))


def storable_json(raw: bytes) -> str:
    """Return JSON as text, with the character 0, which jsonb refuses, replaced."""
    text = raw.decode()
    # A cheap test first; it also meets an escaped backslash before u0000, where parsing
    # and writing again changes nothing that matters.
    if "\\u0000" not in text:
        return text
    return orjson.dumps(_without_zeros(orjson.loads(raw))).decode()


def vector_text(vector: Vector) -> str:
    """Return a vector as pgvector reads it."""
    # Iterating bytes gives 0 to 255; the elements are int8.
    return str(memoryview(vector).cast("b").tolist()).replace(" ", "")


def _without_zeros(value: Any) -> Any:
    if isinstance(value, str):
        return value.replace("\x00", _REPLACEMENT)
    if isinstance(value, list):
        return [_without_zeros(each) for each in value]
    if isinstance(value, dict):
        return {_without_zeros(key): _without_zeros(value[key]) for key in value}
    return value


def _clean(row: Row) -> Row:
    # Nearly all rows are clean: they are returned as they are, without a copy. What
    # `_storable` does is tested here in place, since a call costs more than the test.
    for value in row.values():
        if type(value) is str and ("\x00" in value or not value.isascii()):
            break
    else:
        return row
    return {
        name: _storable(value) if isinstance(value, str) else value
        for name, value in row.items()
    }


def _storable(text: str) -> str:
    """Return the text itself, or one with what PostgreSQL cannot hold replaced."""
    if "\x00" in text:
        text = text.replace("\x00", _REPLACEMENT)
    if text.isascii():
        return text
    try:
        text.encode()
    except UnicodeEncodeError:
        # A lone surrogate, which JSON may escape and UTF-8 cannot express.
        return text.encode(errors="replace").decode()
    return text


def _put(held: TableChanges, key: Key, row: Row) -> None:
    before = held.puts.get(key)
    if before is not None:
        row = row | {name: before[name] for name in CREATED & before.keys()}
    held.puts[key] = row
    held.patches.pop(key, None)
    held.removes.pop(key, None)


def _patch(held: TableChanges, key: Key, values: Row) -> None:
    # Removed earlier in this batch: as in the database, there is no row to patch.
    if key in held.removes:
        return
    within = held.puts if key in held.puts else held.patches
    before = within.get(key)
    within[key] = values if before is None else _over(before, values)


def _over(before: Row, values: Row) -> Row:
    after = before | values
    for name in ADDED & values.keys():
        after[name] = added(before.get(name), values[name])
    return after


def _remove(held: TableChanges, key: Key) -> None:
    held.puts.pop(key, None)
    held.patches.pop(key, None)
    held.removes[key] = None
