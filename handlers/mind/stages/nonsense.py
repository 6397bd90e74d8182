"""Nonsense: what a model sends that is no answer, though it is text.

Small models repeat what they were asked, or one thing without end. Nobody should hear it,
and nothing is learnt of it.
"""

SINCE = 2
"""The first edition of the rules that hears no nonsense."""

EMPTY = "the model's answer was empty"
ECHO = "the model repeated what it was asked"
ENDLESS = "the model repeated itself without end"

ECHOED_CHARACTERS = 80
"""So much of the question's beginning, word for word, is an echo of it."""

ECHOED_WORDS = 8
"""An answer of so many words, all of them the question's in its order, says nothing."""

_TAIL = 300
"""Whoever repeats without end does so at the end: so many characters are looked at."""
_LEAST = 120
"""No text that is shorter is endless."""
_LENGTH = 4
_ONE_IN = 4
"""In English prose of such a length about nine in ten runs of four characters are new; in
a text that goes round in circles of a line or less, less than one in four."""


def found(raw: str, said: str, asked: str) -> str | None:
    """Why a model's answer is nonsense; None if it may be said.

    Args:
        raw: all that it sent.
        said: what of it would be said.
        asked: how its prompt began.
    """
    question, answer = _plain(asked), _plain(said)
    beginning = question[:ECHOED_CHARACTERS]
    if len(beginning) == ECHOED_CHARACTERS and beginning in _plain(raw):
        return ECHO
    if len(answer.split()) >= ECHOED_WORDS and answer in question:
        return ECHO
    return ENDLESS if _is_endless(answer) else None


def _is_endless(text: str) -> bool:
    if len(text) < _LEAST:
        return False
    tail = text[-_TAIL:]
    runs = [tail[at : at + _LENGTH] for at in range(len(tail) - _LENGTH + 1)]
    return len(dict.fromkeys(runs)) * _ONE_IN < len(runs)


def _plain(text: str) -> str:
    return " ".join(text.lower().split())
