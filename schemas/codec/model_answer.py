"""Answers: what stands in the text that a model sent.

Models were asked for one JSON object, and like to wrap it in a fence or a sentence. The
mind and the shell, which embeds what was said, read a text alike by reading it here.
"""

from collections.abc import Mapping

import orjson

RULE = ("condition", "message")
"""The fields of a rule whose meaning is looked at."""


def object_in(text: str, key: str) -> dict[str, object] | None:
    """Return the JSON object in a model's text; one that has not `key` must be all of it."""
    start, end = text.find("{"), text.rfind("}")
    if start < 0 or end < start:
        return None
    try:
        fields: dict[str, object] = orjson.loads(text[start : end + 1])
    except orjson.JSONDecodeError:
        return None
    # An object that is all of the answer is for a program: nobody should hear it.
    is_all = text.strip() == text[start : end + 1]
    return fields if is_all or key in fields else None


def said(text: str) -> str:
    """Return what a model says to the person; a text without an object is taken at its word."""
    fields = object_in(text, "response")
    return text.strip() if fields is None else words(fields, "response")


def words(fields: Mapping[str, object], name: str) -> str:
    """Return a field's text without space around it; empty if there is none."""
    value = fields.get(name)
    return value.strip() if isinstance(value, str) else ""


def texts(text: str) -> tuple[str, ...]:
    """Return what of a model's text may have to be compared with other texts."""
    rule = object_in(text, RULE[0]) or {}
    found = (said(text), *(words(rule, name) for name in RULE))
    return tuple(each for each in found if each)
