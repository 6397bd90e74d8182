"""Word patterns: whether an event mentions something, by whole words.

A pattern such as "health restored" matches where its words follow one another in the text,
the type, the source or a text field: "sundown" does not match "undo".
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache

from schemas.messages.sensing import Sensed
from schemas.values import unicode_text

_BREAK = "|"
"""Separates the texts of an event, so that no pattern matches across two of them."""
# `_words` puts one space around each word: of no words this is what is left.
_NONE = " "


@dataclass(frozen=True, slots=True)
class Said:
    """The words of an event, ready for many patterns."""

    words: str


NOTHING = Said("")


def matches(
    pattern: str, text: str, type_: str, source: str, fields: Mapping[str, object]
) -> bool:
    """Tell whether the pattern occurs in the event; one without words never does."""
    return occurs(pattern, event_words(text, type_, source, fields))


def event_words(
    text: str, type_: str, source: str, fields: Mapping[str, object]
) -> Said:
    """Return an event's words; names of fields are none."""
    texts = [value for value in fields.values() if isinstance(value, str)]
    words = (_words(each) for each in (text, type_, source, *texts))
    return Said(_BREAK.join(words))


def words_of(event: Sensed) -> Said:
    """Return the words of an event, as `event_words`."""
    return event_words(event.text, event.type, event.source, event.fields)


def occurs(pattern: str, said: Said) -> bool:
    """Tell whether the pattern's words occur in what `event_words` returned."""
    words = _words(pattern)
    # Both sides have a space around each word, so a substring begins and ends at words.
    return words != _NONE and words in said.words


def any_occurs(patterns: tuple[str, ...], said: Said) -> bool:
    """Tell whether any of some patterns, each of one or more words, occurs."""
    return any(map(said.words.__contains__, _phrases(patterns)))


def occurring(patterns: tuple[str, ...], said: Said) -> list[int]:
    """Return the indices of the patterns that occur, in their order."""
    return [
        index
        for index, words in enumerate(_phrases(patterns))
        if words in said.words and words != _NONE
    ]


def has_words(pattern: str) -> bool:
    """Tell whether the pattern can occur at all."""
    return _words(pattern) != _NONE


# The same few sets are asked for at every event: each pack's
# triggers, the words of an undo.
@lru_cache(maxsize=64)
def _phrases(patterns: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(map(_words, patterns))


@lru_cache(maxsize=4096)
def _words(text: str) -> str:
    """Return the words in lower case, each between two single spaces."""
    # The empty texts at both ends make the outer spaces.
    return " ".join(["", *unicode_text.words(text), ""])
