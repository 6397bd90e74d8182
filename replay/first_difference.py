"""The first field in which two JSON bodies differ, by its path, with both values.

Bodies that are no JSON, or that differ in their encoding only, have no such field.
"""

from collections.abc import Iterator

import orjson

_SHOWN = 200
"""Characters of a value that are shown; a prompt may have thousands."""

Difference = tuple[str, str | None, str | None]
"""A path such as `candidates[0].confidence`, and both values as JSON; None if absent."""

_ABSENT = object()


def first_difference(recorded: bytes, replayed: bytes) -> Difference | None:
    """Return the first field, in the recorded order, in which two JSON bodies differ."""
    try:
        old, new = orjson.loads(recorded), orjson.loads(replayed)
    except orjson.JSONDecodeError:
        return None
    return next(_differences("", old, new), None)


def _differences(path: str, old: object, new: object) -> Iterator[Difference]:
    if isinstance(old, dict) and isinstance(new, dict):
        # In the recorded order, with fields that are new at the end.
        for name in dict.fromkeys((*old, *new)):
            inner = f"{path}.{name}" if path else str(name)
            yield from _differences(
                inner, old.get(name, _ABSENT), new.get(name, _ABSENT)
            )
    elif isinstance(old, list) and isinstance(new, list):
        for index in range(max(len(old), len(new))):
            sides = (
                each[index] if index < len(each) else _ABSENT for each in (old, new)
            )
            yield from _differences(f"{path}[{index}]", *sides)
    # The types count: 1 and 1.0, or 1 and true, are equal in Python but other bytes.
    elif type(old) is not type(new) or old != new:
        yield path or "(whole)", _shown(old), _shown(new)


def _shown(value: object) -> str | None:
    if value is _ABSENT:
        return None
    text = orjson.dumps(value).decode()
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}…"
