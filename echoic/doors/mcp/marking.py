"""What a language model is told: bounded, in plain characters, with foreign text as data.

What sensors, people and models said stands in the log, so it may try to instruct whoever
reads it. Each text that is more than one plain word is put between <data> and </data>, and the
server's instructions say what that means.
"""

import json
import math
import re
from collections.abc import Mapping, Sequence

from pydantic_core import to_jsonable_python

from schemas.values.prompt_fencing import fenced, shown

REPLY_BYTES = 60_000
"""Of one result, as JSON."""

_BOUNDS = ((600, 100), (200, 40), (100, 10), (60, 3))
"""Characters of a text and entries of a list; the first pair that makes a result fit counts."""

_PLAIN = re.compile(r"[A-Za-z0-9_.:/@+-]{0,128}")
"""Ids, names, moments: one word, in which nobody can say much."""

_KEY = 64
"""Characters of a field's name; sensors choose those of an event."""

_FIELDS = 100
"""Of one object; our own have fewer."""

_DEEPEST = 8


def marked(value: object) -> dict[str, object]:
    """Return fields for a model to read; `value` is a mapping of them."""
    told = to_jsonable_python(value)
    for text, entries in _BOUNDS:
        found = _marked(told, text, entries, _DEEPEST)
        assert isinstance(found, dict), "a result has fields"
        if len(json.dumps(found).encode()) <= REPLY_BYTES:
            return found
    return {"error": "this is too much for one answer: ask for less of it"}


def _marked(value: object, text: int, entries: int, depth: int) -> object:
    match value:
        case str():
            return value if _PLAIN.fullmatch(value) else fenced(value, text)
        case Mapping() if depth:
            kept = list(value.items())[:_FIELDS]
            found = {
                shown(str(key), _KEY): _marked(each, text, entries, depth - 1)
                for key, each in kept
            }
            return found | _left_out(len(value) - len(kept))
        case Sequence() if depth:
            rows = [_marked(each, text, entries, depth - 1) for each in value[:entries]]
            left = len(value) - len(rows)
            return [*rows, _left_out(left)] if left else rows
        case float():
            return round(value, 6) if math.isfinite(value) else None
        case None | bool() | int():
            return value
        case _:
            return fenced(str(value), text)


def _left_out(count: int) -> dict[str, object]:
    return {"left_out": count} if count else {}
