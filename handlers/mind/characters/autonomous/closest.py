"""Closest: the action that a model means by a name that no action has."""

from collections.abc import Sequence

from schemas.packs.autonomous import ActionDeclared

_EDITS = 2
_SHARE = 3
"""At most a third of a name may be wrong."""
_LEAST = 3
"""Less than so many letters within another name say nothing."""


def closest(wanted: str, known: Sequence[ActionDeclared]) -> ActionDeclared | None:
    """Return the action meant; None if nobody can tell.

    By its letters alone, in any case; by another name of it; as the only one that holds the
    name, or that it holds; else by up to two wrong letters. Of equal ones the first.
    """
    letters = _letters(wanted)
    if not letters:
        return None
    for each in known:
        if _letters(each.id) == letters:
            return each
    for each in known:
        if letters in {_letters(alias) for alias in each.aliases}:
            return each
    within = [each for each in known if _is_within(letters, _letters(each.id))]
    if len(within) == 1:
        return within[0]
    far = [(_edits(letters, _letters(each.id)), each) for each in known]
    # `min` returns the first of equal ones: the table's order decides.
    least, best = min(far, key=lambda pair: pair[0])
    longest = max(len(letters), len(_letters(best.id)))
    return best if least <= _EDITS and least * _SHARE <= longest else None


def _edits(one: str, other: str) -> int:
    """Return how many letters must be put in, left out or changed (Levenshtein)."""
    row = list(range(len(other) + 1))
    for place, letter in enumerate(one, start=1):
        before, row[0] = row[0], place
        for column, its in enumerate(other, start=1):
            change = before + (letter != its)
            before = row[column]
            row[column] = min(change, before + 1, row[column - 1] + 1)
    return row[-1]


def _letters(name: str) -> str:
    return "".join(each for each in name[:200].casefold() if each.isalnum())


def _is_within(one: str, other: str) -> bool:
    return min(len(one), len(other)) >= _LEAST and (one in other or other in one)
