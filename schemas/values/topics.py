"""MQTT topics as subjects: a rule by which every topic of a sensor has one, and back.

NATS carries no blank, no dot and no empty level in a topic as MQTT does: nats-server ends
the connection of who publishes one, and the device sends it again for ever. So what cannot
stand in a token is written as ISO 9075-14 and `XmlConvert.EncodeName` write names:
`_x0020_` for a blank, by the character's code; `_x_` for an empty level. Levels beyond the
fourth belong to the type. `in/ada/home/Living Room/lamp` is the subject
`in.ada.home.Living_x0020_Room_x002F_lamp`. Pure.
"""

import re

from schemas.values.subjects import is_token

_INTAKE = "in/"
"""The beginning of topics that sensors publish events to."""

_EMPTY = "_x_"
_LEVELS = 4
_WRITTEN = re.compile(r"_x(?:[0-9A-F]{8}|[0-9A-F]{4}|)_")
_FOREIGN = re.compile(r"[^A-Za-z0-9_-]|_(?=x(?:[0-9A-F]{8}|[0-9A-F]{4}|)_)")
"""What is written by its code: what no token may hold, and what reads as such a code."""
_BREAKS = re.compile(r"[\x00-\x20\x7f-\xa0+#*>]")
"""What the broker ends a connection for, in a topic that is no sensor's."""


def carried(topic: str) -> str:
    """Return the topic as which the broker can carry this one; most stay as they are."""
    if not topic.startswith(_INTAKE):
        return _BREAKS.sub(_code, topic)
    levels = topic.split("/")
    if len(levels) == _LEVELS and all(map(_is_plain, levels)):
        return topic
    # One that has too few is carried as well, and quarantined with what it lacks.
    first, rest = levels[: _LEVELS - 1], levels[_LEVELS - 1 :]
    return "/".join([*map(_token, first), *([_token("/".join(rest))] if rest else [])])


def original(subject: str) -> str | None:
    """Return the topic that was carried on a sensor's subject; None if as it is."""
    # Nearly all end here, at the cost of a search for two letters.
    if "_x" not in subject or _WRITTEN.search(subject) is None:
        return None
    return "/".join(_WRITTEN.sub(_character, each) for each in subject.split("."))


def of_input(agent: str, detail: str) -> str | None:
    """Return the topic under which an input of the log was published, if it was mapped."""
    return original(f"in.{agent}.{detail}")


def _is_plain(level: str) -> bool:
    return is_token(level) and _WRITTEN.search(level) is None


def _token(text: str) -> str:
    return _FOREIGN.sub(_code, text) or _EMPTY


def _code(found: re.Match[str]) -> str:
    number = ord(found[0])
    return f"_x{number:04X}_" if number < 0x10000 else f"_x{number:08X}_"


def _character(found: re.Match[str]) -> str:
    digits = found[0][2:-1]
    number = int(digits, 16) if digits else 0
    if not digits:
        return ""
    # A code that no character has was never written by this rule; a byte that is no UTF-8 is
    # shown by its code, for no text can hold it.
    is_character = number < 0x110000 and not 0xD800 <= number < 0xE000
    return chr(number) if is_character else found[0]
