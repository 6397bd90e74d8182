"""Characters: what is a letter, a mark, a word, the same under every Python.

Each Python ships the Unicode tables of its release, so what counts as a letter would depend
on the machine. Here Unicode 14.0 decides (docs/adr/0015). A character that it had not
assigned is part of no word; Unicode promises that normal forms and folded case of assigned
ones never change, so those may be asked of the interpreter.
"""

import re
import unicodedata
from functools import cache

from schemas.values.unicode14 import RUNS

_RUN = re.compile("([0-9a-f]+)([a-z])")
_LETTERS, _MARKED, _UNASSIGNED = b"wn", b"wnm", ord("u")
_PLAIN_WORD = re.compile("[a-z0-9]+")
_IGNORED = re.compile(
    "[\u00ad\u034f\u180b-\u180d\u180f\u200c\u200d\u2060\ufe00-\ufe0f\ufeff"
    "\U000e0100-\U000e01ef]"
)
"""Soft hyphens, joiners and variation selectors: two words never differ by these alone."""


_ONE_I = {ord("\u0130"): "i", ord("\u0131"): "i"}
"""The great one with a dot, and the small one without."""
_DOTTED = re.compile("([ij])\u0307")
"""A dot upon a letter that has one: what folding İ by default leaves, as programs do."""


def words(text: str) -> list[str]:
    """Return the words of a text in lower case: runs of letters, marks and digits."""
    # For ASCII one pattern says the same as the tables, and is much faster.
    if text.isascii():
        return _PLAIN_WORD.findall(text.lower())
    # Unassigned characters go first: only of the others is the normal form stable.
    same = folded(_only(_MARKED, _IGNORED.sub("", text)))
    return list(filter(None, map(_from_letter, _only(_MARKED, same).split())))


def folded(text: str) -> str:
    """Return a text as it is compared where neither case nor normal form counts.

    That is Unicode's compatibility caseless form, and the four letters i of Turkish as one:
    which of two small ones I is the great one of depends on the language, which nobody tells.
    """
    if text.isascii():
        return text.lower()
    known = unicodedata.normalize("NFKC", assigned(text))
    same = _DOTTED.sub(r"\1", known.translate(_ONE_I).casefold())
    # Folding can undo a normal form, so that is restored afterwards.
    return unicodedata.normalize("NFKC", same)


def assigned(text: str) -> str:
    """Return the text with a space for each character that came after Unicode 14.0."""
    if text.isascii():
        return text
    sorts = _sorts()
    return "".join([" " if sorts[ord(each)] == _UNASSIGNED else each for each in text])


def quoted(value: object) -> str:
    """Return the `repr` of a value, which escapes what Unicode 14.0 does not print."""
    shown = repr(value)
    if shown.isascii():
        return shown
    sorts = _sorts()
    return "".join(
        [
            each.encode("unicode_escape").decode()
            if sorts[ord(each)] == _UNASSIGNED
            else each
            for each in shown
        ]
    )


@cache
def ranges(*sorts: str) -> str:
    """Return the characters of some sorts as ranges for the brackets of a pattern."""
    found, start = [], 0
    for length, sort in _RUN.findall(RUNS):
        end = start + int(length, 16)
        if sort in sorts:
            found.append(f"{chr(start)}-{chr(end - 1)}")
        start = end
    return "".join(found)


@cache
def _sorts() -> bytes:
    """Return the sort of every code point, one byte each: 1.1 MB, made on first use."""
    runs = _RUN.findall(RUNS)
    return b"".join(sort.encode() * int(length, 16) for length, sort in runs)


def _only(sorts: bytes, text: str) -> str:
    """Return the text with a space for each character of another sort."""
    known = _sorts()
    return "".join([each if known[ord(each)] in sorts else " " for each in text])


def _from_letter(word: str) -> str:
    """Return the word from its first letter on: a mark alone is none."""
    known = _sorts()
    starts = (at for at, each in enumerate(word) if known[ord(each)] in _LETTERS)
    return word[next(starts, len(word)) :]
