"""Word patterns: whether an event speaks of something, by whole words.

A pattern such as "health restored" occurs where its words stand one after the other in
the text, the type, the source or a field's text: "sundown" is no "undo".
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache

from schemas.values import unicode_text
from schemas.values.settings import EDITION

_BREAK = "|"
"""Stands between what must not run together; never part of a word."""
_NONE = " "


@dataclass(frozen=True, slots=True)
class Said:
    """The words of an event, ready for many patterns."""

    words: str
    edition: int
    """Of the rules that tell words."""


NOTHING = Said("", EDITION)


def matches(
    pattern: str, text: str, type_: str, source: str, fields: Mapping[str, object]
) -> bool:
    """Tell whether the pattern's words occur in the event; a pattern without words never."""
    return occurs(pattern, event_words(text, type_, source, fields))


def event_words(
    text: str,
    type_: str,
    source: str,
    fields: Mapping[str, object],
    edition: int = EDITION,
) -> Said:
    """Return an event's words by the rules of an edition; names of fields are none."""
    texts = [value for value in fields.values() if isinstance(value, str)]
    words = (_words(each, edition) for each in (text, type_, source, *texts))
    return Said(_BREAK.join(words), edition)


def occurs(pattern: str, said: Said) -> bool:
    """Tell whether the pattern's words occur in what `event_words` returned."""
    words = _words(pattern, said.edition)
    return words != _NONE and words in said.words


def has_words(pattern: str) -> bool:
    """Tell whether the pattern can occur at all."""
    return _words(pattern, EDITION) != _NONE


@lru_cache(maxsize=4096)
def _words(text: str, edition: int) -> str:
    """Return the words in lower case, each between two single spaces."""
    return _NONE + "".join(f"{word} " for word in unicode_text.words(text, edition))
