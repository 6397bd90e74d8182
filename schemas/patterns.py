"""Word patterns: whether an event speaks of something, by whole words.

A pattern such as "health restored" occurs where its words stand one after the other in
the text, the type, the source or a field's text: "sundown" is no "undo".
"""

import re
from collections.abc import Mapping
from functools import lru_cache

_WORD = re.compile(r"[^\W_]+")
_BREAK = "|"
"""Stands between what must not run together; never part of a word."""
_NONE = " "


def matches(
    pattern: str, text: str, type_: str, source: str, fields: Mapping[str, object]
) -> bool:
    """Whether the pattern's words occur in the event; a pattern without words never."""
    return occurs(pattern, event_words(text, type_, source, fields))


def event_words(
    text: str, type_: str, source: str, fields: Mapping[str, object]
) -> str:
    """Return an event's words, ready for many patterns; names of fields are none."""
    texts = [value for value in fields.values() if isinstance(value, str)]
    return _BREAK.join(map(_words, (text, type_, source, *texts)))


def occurs(pattern: str, words: str) -> bool:
    """Whether the pattern's words occur in what `event_words` returned."""
    return has_words(pattern) and _words(pattern) in words


def has_words(pattern: str) -> bool:
    """Whether the pattern can occur at all."""
    return _words(pattern) != _NONE


@lru_cache(maxsize=4096)
def _words(text: str) -> str:
    """Return the words in lower case, each between two single spaces."""
    return _NONE + "".join(f"{word} " for word in _WORD.findall(text.casefold()))
