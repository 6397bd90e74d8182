"""Reading a model's answer out of the text that it sent.

Models are asked for one JSON object and often wrap it in a code fence or a sentence. The
mind reads answers here, and so does the shell, which embeds them: both must find the same.
"""

from collections.abc import Mapping

import orjson
from pydantic_core import from_json

RULE = ("condition", "message")
"""The fields of a rule that are embedded and compared."""


def object_in(text: str, key: str) -> dict[str, object] | None:
    """Return the JSON object in a model's text, None if there is none.

    An object within other text counts only if it has `key`.
    """
    # From the first brace to the last: braces in a sentence around it make it unreadable,
    # and then the text stands for itself.
    start, end = text.find("{"), text.rfind("}")
    if start < 0 or end < start:
        return None
    try:
        fields: dict[str, object] = orjson.loads(text[start : end + 1])
    except orjson.JSONDecodeError:
        return None
    # An answer that is nothing but JSON is meant for a program: no person should hear it.
    is_all = text.strip() == text[start : end + 1]
    return fields if is_all or key in fields else None


def said(text: str) -> str:
    """Return what a model says to the person: its `response`, or a text without JSON."""
    fields = object_in(text, "response")
    return text.strip() if fields is None else words(fields, "response")


def said_so_far(text: str) -> str:
    """Return what a text that is still being written says to the person; may be empty.

    It says what `said` will, as far as can be told: of a JSON object its `response`, of a
    text in which none has begun all of it.
    """
    start = text.find("{")
    if start < 0:
        # A code fence announces an object.
        return text.partition("`")[0].strip()
    try:
        written = text[start:].encode("utf-8", "replace")
        fields = from_json(written, allow_partial="trailing-strings")
    except ValueError:
        return ""
    return words(fields, "response") if isinstance(fields, dict) else ""


def is_broken_off(text: str) -> bool:
    """Tell whether an answer began as a JSON object and did not end as one."""
    return (
        object_in(text, "response") is None and "{" in text and bool(said_so_far(text))
    )


def words(fields: Mapping[str, object], name: str) -> str:
    """Return a field's text, stripped; empty if the field is missing or no text."""
    value = fields.get(name)
    return value.strip() if isinstance(value, str) else ""


def texts(text: str) -> tuple[str, ...]:
    """Return the parts of a model's text that may have to be compared with other texts."""
    rule = object_in(text, RULE[0]) or {}
    goal = words(object_in(text, "response") or {}, "goal")
    found = (said(text), *(words(rule, name) for name in RULE), goal)
    return tuple(each for each in found if each)
