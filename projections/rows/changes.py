"""What a group changes in the read models, and many groups' changes joined into one write.

Rows are plain values, and JSON already is text, so that they go to the database as they
are. Joining keeps the order in which a key was changed, never the order between keys.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Literal, TypeAlias

import orjson

TableName = Literal[
    "heuristics",
    "heuristic_fires",
    "feedback_events",
    "confidence_changes",
    "decisions",
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
"""Columns that stay as they were when the row first came to be."""

ADDED = frozenset({"input_count", "spoke_count", "silent_count", "feedback_count"})
"""Columns that a patch adds to."""

_REPLACEMENT = "\ufffd"


@dataclass(frozen=True, slots=True)
class Put:
    """This whole row stands under the key; one that stood there keeps when it began."""

    table: TableName
    key: Key
    row: Row
    """Without the key's columns."""


@dataclass(frozen=True, slots=True)
class Patch:
    """These columns of a row change, if there is such a row."""

    table: TableName
    key: Key
    values: Row


@dataclass(frozen=True, slots=True)
class Remove:
    """The row is gone."""

    table: TableName
    key: Key


Change: TypeAlias = Put | Patch | Remove


@dataclass(slots=True)
class TableChanges:
    """The joined changes of one table: each key stands in one of the three."""

    puts: dict[Key, Row] = field(default_factory=dict)
    patches: dict[Key, Row] = field(default_factory=dict)
    removes: dict[Key, None] = field(default_factory=dict)


def join(changes: Iterable[Change]) -> Mapping[TableName, TableChanges]:
    """Make one change per key of many, in their order, of what PostgreSQL can hold."""
    joined: dict[TableName, TableChanges] = {}
    for change in changes:
        held = joined.get(change.table)
        if held is None:
            held = joined[change.table] = TableChanges()
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
    """Return the sum of two counts; what is no count yet is 0."""
    return sum(int(each) for each in (count, more) if isinstance(each, int))


def json_text(value: object) -> str | None:
    """Return a value as JSON text that PostgreSQL can hold; None stays None."""
    return None if value is None else storable_json(orjson.dumps(value))


def storable_json(raw: bytes) -> str:
    """JSON as text; its only text that jsonb refuses, the character 0, is replaced."""
    text = raw.decode()
    if "\\u0000" not in text:
        return text
    return orjson.dumps(_without_zeros(orjson.loads(raw))).decode()


def _without_zeros(value: Any) -> Any:
    if isinstance(value, str):
        return value.replace("\x00", _REPLACEMENT)
    if isinstance(value, list):
        return [_without_zeros(each) for each in value]
    if isinstance(value, dict):
        return {_without_zeros(key): _without_zeros(value[key]) for key in value}
    return value


def _clean(row: Row) -> Row:
    for value in row.values():
        if type(value) is str and _storable(value) is not value:
            break
    else:
        return row
    return {
        name: _storable(value) if isinstance(value, str) else value
        for name, value in row.items()
    }


def _storable(text: str) -> str:
    """Return the text itself, or one without what a PostgreSQL text cannot hold."""
    if "\x00" in text:
        text = text.replace("\x00", _REPLACEMENT)
    if text.isascii():
        return text
    try:
        text.encode()
    except UnicodeEncodeError:
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
