"""Bounds of what an input may hold: whatever is kept, shown or written again has one.

A number or a control character may be longer in the JSON that is written than in the one
that was sent, so what is written counts.
"""

from collections.abc import Mapping

import orjson

_WRITTEN_BYTES = 32_000
"""How long a control or an event's fields may be as JSON: two personalities of 4,000
characters in any script, with room to spare."""

_VALUES = 256
"""How many values these may hold, at all levels together."""

NESTING = 16
"""How deep these may be nested."""


def fields_fault(fields: Mapping[str, object]) -> str | None:
    """Return which bound an event's fields exceed; None if they keep them all.

    The doors ask it, too: what the mind refuses was not to be acknowledged there.
    """
    found = fault(orjson.dumps(fields), fields)
    return found and f"fields: {found}"


def fault(written: bytes, value: object) -> str | None:
    """Return which bound a value, encoded as `written`, exceeds; None if it keeps them
    all.
    """
    if len(written) > _WRITTEN_BYTES:
        return f"{len(written):,} bytes once written, the limit is {_WRITTEN_BYTES:,}"
    # Level by level, not recursively: the nesting is what is being bounded.
    level, count, depth = [value], 0, 0
    while level := [inner for each in level for inner in _inside(each)]:
        count, depth = count + len(level), depth + 1
        if count > _VALUES:
            return f"more than {_VALUES} values"
        if depth > NESTING:
            return f"nested deeper than {NESTING} levels"
    return None


def _inside(value: object) -> list[object]:
    if isinstance(value, dict):
        return list(value.values())
    return value if isinstance(value, list) else []
