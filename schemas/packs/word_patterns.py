"""Word patterns: whether an event mentions something, by whole words.

A pattern such as "health restored" matches where its words follow one another in the text,
the type, the source or a text field: "sundown" does not match "undo".
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache

from schemas.messages.sensing import Sensed
from schemas.values import unicode_text
from schemas.values.settings import EDITION

_BREAK = "|"
"""Separates the texts of an event, so that no pattern matches across two of them."""
# `_words` puts one space around each word: of no words this is what is left.
_NONE = " "


@dataclass(frozen=True, slots=True)
class Said:
    """The words of an event, ready for many patterns."""

    words: str
    edition: int
    """The edition of the rules by which the words were split."""


NOTHING = Said("", EDITION)


def matches(
    pattern: str, text: str, type_: str, source: str, fields: Mapping[str, object]
) -> bool:
    """Tell whether the pattern occurs in the event; one without words never does."""
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


def words_of(event: Sensed, edition: int = EDITION) -> Said:
    """Return the words of an event, as `event_words`."""
    return event_words(event.text, event.type, event.source, event.fields, edition)


def occurs(pattern: str, said: Said) -> bool:
    """Tell whether the pattern's words occur in what `event_words` returned."""
    words = _words(pattern, said.edition)
    # Both sides have a space around each word, so a substring begins and ends at words.
    return words != _NONE and words in said.words


def any_occurs(patterns: tuple[str, ...], said: Said) -> bool:
    """Tell whether any of some patterns, each of one or more words, occurs."""
    return any(map(said.words.__contains__, _phrases(patterns, said.edition)))


def occurring(patterns: tuple[str, ...], said: Said) -> list[int]:
    """Return the indices of the patterns that occur, in their order."""
    return [
        index
        for index, words in enumerate(_phrases(patterns, said.edition))
        if words in said.words and words != _NONE
    ]


def has_words(pattern: str) -> bool:
    """Tell whether the pattern can occur at all."""
    return _words(pattern, EDITION) != _NONE


# The same few sets are asked for at every event: each pack's
# triggers, the words of an undo.
@lru_cache(maxsize=64)
def _phrases(patterns: tuple[str, ...], edition: int) -> tuple[str, ...]:
    return tuple(_words(each, edition) for each in patterns)


@lru_cache(maxsize=4096)
def _words(text: str, edition: int) -> str:
    """Return the words in lower case, each between two single spaces."""
    # The empty texts at both ends make the outer spaces.
    return " ".join(["", *unicode_text.words(text, edition), ""])
