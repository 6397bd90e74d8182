"""What a device sends that knows nothing of events: its JSON, or one bare reading.

A payload becomes an event by one plain rule: its values are the event's fields, and its
text names them one after the other, for people and for likeness. Pure.
"""

import re
from collections.abc import Iterator
from functools import cache
from typing import Any

import orjson

from schemas.messages.sensing import PERSON, Sensed
from schemas.packs.conditions import AWAY
from schemas.values import topics, unicode_text

_VALUE = "value"
"""The field of a reading that has no name of its own."""

# Those that the subject tells are no sign of an event: devices use these words, too.
_PARTS = frozenset(Sensed.__struct_fields__) - {"source", "type"}
_UNITS = ("unit_of_measurement", "unit", "units")
_NUMBER = r"(-?(?:0|[1-9][0-9]{0,17})(?:\.[0-9]{1,17})?)"
_UNIT = r"[{letters}]{{1,5}}|[°%µ‰][A-Za-z]?|[A-Za-zµ]{{1,3}}/[A-Za-z]{{1,2}}[²³]?"
_STATES = {"true": True, "false": False}

_NO_NUMBER = re.compile(
    r"(\"(?:[^\"\\]|\\.?)*+(?:\"|\Z))|(?<=[:,\[\s])[-+]?(?:nan|inf(?:inity)?)(?=\s*[,}\]])",
    re.IGNORECASE | re.DOTALL,
)
"""A text, which stays as it is, or what devices write for no number."""
_MOST_SAID = 24
_LONGEST_TEXT = 2_000
_LONGEST = 60
"""Of one value, in characters."""


def is_payload(fields: dict[str, Any]) -> bool:
    """Tell whether a JSON object is a device's own: none of an event's parts is in it."""
    return bool(fields) and _PARTS.isdisjoint(fields)


def of_object(source: str, type_: str, fields: dict[str, Any]) -> dict[str, Any]:
    """Return a device's object as the fields of an event."""
    said = ", ".join(_first(_said("", fields), _MOST_SAID))[:_LONGEST_TEXT]
    about = _about(source, type_)
    return {"text": f"{about}: {said}" if said else about, "fields": fields}


def is_plain(event: Sensed) -> bool:
    """Tell whether an event's text is the plain one of a payload, and none of a sensor's."""
    fields = event.fields
    if not fields or not event.text.startswith(_about(event.source, event.type)):
        return False
    # What a bare reading was sent as, with its unit, is not kept.
    is_reading = fields.keys() == {_VALUE} and event.source != PERSON
    plain: str = of_object(event.source, event.type, fields)["text"]
    return is_reading or event.text == plain


def without_numbers(text: str) -> dict[str, Any] | None:
    """Return the object of a device that writes `nan` where it has no reading, as null there.

    None if it is none all the same: whoever writes events writes JSON.
    """
    try:
        told = orjson.loads(_NO_NUMBER.sub(lambda found: found[1] or "null", text))
    except orjson.JSONDecodeError:
        return None
    return told if isinstance(told, dict) and is_payload(told) else None


def of_text(source: str, type_: str, text: str) -> dict[str, Any]:
    """Return bare text as the fields of an event: one reading is a value, too.

    A person's words are words, whatever they are.
    """
    value = None if source == PERSON else _reading(text)
    if value is None:
        return {"text": text}
    said = (
        {True: "yes", False: "no"}.get(value, text) if isinstance(value, bool) else text
    )
    return {"text": f"{_about(source, type_)}: {said}", "fields": {_VALUE: value}}


def _reading(text: str) -> bool | int | float | str | None:
    """Return the value of a bare reading, without its unit; None if it is none."""
    if text in _STATES:
        return _STATES[text]
    if text in AWAY:
        return text
    found = _pattern(is_ascii=text.isascii()).fullmatch(text)
    if found is None:
        return None
    number: int | float = orjson.loads(found[1])
    return number


# Letters and digits by our own tables: those of `\w` and `\d` are each Python's.
@cache
def _pattern(*, is_ascii: bool) -> re.Pattern[str]:
    letters = "A-Za-z" if is_ascii else unicode_text.ranges("w")
    unit = _UNIT.format(letters=letters)
    return re.compile(rf"{_NUMBER}(?:\s*(?:{unit}))?")


def _about(source: str, type_: str) -> str:
    return f"{_words(source)} {_words(type_)}"


def _words(token: str) -> str:
    """Return a token as words; of a topic that was mapped the original ones."""
    return (
        " ".join((topics.original(token) or token).replace("_", " ").split()) or token
    )


def _said(name: str, value: object) -> Iterator[str]:
    """Yield what is said of a value and of those within it, in their order."""
    if isinstance(value, dict):
        unit = next((f" {value[each]}" for each in _UNITS if each in value), "")
        for key, each in value.items():
            if key in _UNITS:
                continue
            is_number = isinstance(each, int | float) and not isinstance(each, bool)
            for said in _said(f"{name} {_words(key)}".strip(), each):
                yield said + unit if is_number else said
    elif isinstance(value, list):
        yield f"{name} {', '.join(map(_shown, value[:4])) or 'none'}".strip()
    else:
        yield f"{name} {_shown(value)}".strip()


def _shown(value: object) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if value is None:
        return "unknown"
    text = value if isinstance(value, str) else orjson.dumps(value).decode()
    return text if len(text) <= _LONGEST else text[: _LONGEST - 1] + "…"


def _first(said: Iterator[str], most: int) -> Iterator[str]:
    for number, each in enumerate(said):
        if number == most:
            yield "…"
            return
        yield each
