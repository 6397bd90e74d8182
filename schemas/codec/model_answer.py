"""Reading a model's answer out of the text that it sent.

Models are asked for one JSON object and often wrap it in a code fence or a sentence. The
mind reads answers here, and so does the shell, which embeds them: both must find the same.
"""

import re
from collections.abc import Mapping

import orjson
from pydantic_core import from_json

RULE = ("condition", "message")
"""The fields of a rule that are embedded and compared."""

_FENCED = re.compile(r"```\w*\n?(.*?)(?:```)?", re.DOTALL)
_QUOTE = "[\"'`\u2018\u2019\u201c\u201d\u201e]"
"""Whatever models, and what they learnt from, put around a name."""
_OBJECT = re.compile(rf"\{{\s*(?:{_QUOTE}|response\s*[:=]|\{{)|^\s*\{{\s*(?:\w+\s*:|$)")
"""How an object begins that is meant: with a quoted name, or all of the text is it."""
_ARRAY = re.compile(rf"\[\s*(?:{_QUOTE}|\{{)")
_LIST_BEGINS = re.compile(r"\s*\[\s*(?:[\"'{\]\d-]|$)")
"""How a text begins that may yet become a list; as words it is said once it is whole."""


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
    is_all = _bare(text) == text[start : end + 1]
    return fields if is_all or key in fields else None


def fault(text: str) -> str | None:
    """Return why a text that is meant for a program cannot be read; None if it can be.

    Words for a person are none of it, whatever braces they hold. JSON has no NaN, no
    Infinity, and no half of a character (RFC 8259, RFC 3629).
    """
    if object_in(text, "response") is not None:
        return None
    bare = _bare(text)
    if _is_list(bare):
        return "it is a list, and no object"
    if _ARRAY.match(bare) is None and _OBJECT.search(text) is None:
        return None
    return "its JSON has no end" if _is_cut(text) else "its JSON cannot be read"


def said(text: str) -> str:
    """Return what a model says to the person: its `response`, or a text without JSON.

    A text with a `fault` is refused before it comes to the mind; one that was recorded
    before that reads as it did.
    """
    fields = object_in(text, "response")
    return text.strip() if fields is None else words(fields, "response")


def said_so_far(text: str) -> str:
    """Return what a text that is still being written says to the person; may be empty.

    It says what `said` will, as far as can be told: of a JSON object its `response`, of a
    text in which none has begun all of it.
    """
    if _LIST_BEGINS.match(text):
        return ""
    start = text.find("{")
    if start < 0:
        # A code fence announces an object.
        return text.partition("`")[0].strip()
    fields = _partial(text[start:])
    return words(fields, "response") if isinstance(fields, dict) else ""


def _partial(text: str) -> object:
    """Return what the beginning of a JSON text holds; None if it is none."""
    try:
        written = text.encode("utf-8", "replace")
        return from_json(written, allow_partial="trailing-strings", allow_inf_nan=False)
    except ValueError:
        return None


def _is_cut(text: str) -> bool:
    """Tell whether a text that cannot be read is the beginning of one that can."""
    start = text.find("{")
    return (
        start >= 0
        and not text.rstrip("`\n ").endswith("}")
        and bool(_partial(text[start:]))
    )


def _bare(text: str) -> str:
    """Return a text without blanks and code fence around it."""
    fenced = _FENCED.fullmatch(text.strip())
    return fenced[1].strip() if fenced else text.strip()


def _is_list(bare: str) -> bool:
    try:
        return isinstance(orjson.loads(bare), list)
    except orjson.JSONDecodeError:
        return False


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
