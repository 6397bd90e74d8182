"""Actions: what an autonomous character may choose, and what stands against it now.

The random policy, the prompt's list and the check of a model's answer all ask here.
"""

from collections.abc import Sequence

from projections.folds.characters.situations import Near, Surroundings
from schemas.packs.autonomous import ActionDeclared, Autonomous
from schemas.state.autonomy import Act

_IN_A_ROW = 3
"""So often in a row the same action is not chosen."""


def choices(how: Autonomous) -> tuple[ActionDeclared, ...]:
    """Return what may be chosen without a command, in the table's order."""
    return tuple(each for each in how.actions if not each.by_command)


def problem(
    action: ActionDeclared, here: Surroundings, acts: Sequence[Act], target: str | None
) -> str | None:
    """Return why an action cannot be chosen here; None if it can."""
    if not action.is_possible(here.state):
        return f"not possible in the state {here.state}"
    if action.target == "needed" and target is None:
        return "there is nothing near to do it with"
    lately = acts[-(_IN_A_ROW - 1) :]
    if len(lately) == _IN_A_ROW - 1 and all(
        each.action == action.id for each in lately
    ):
        return f"it would be the {_IN_A_ROW}rd time in a row"
    return None


def target(
    action: ActionDeclared, here: Surroundings, wanted: str | None = None
) -> str | None:
    """Return what an action is done with: as wanted, else what is nearest of its kind."""
    if action.target == "none":
        return None
    if wanted:
        return wanted
    if action.target == "optional":
        return None
    return next((each.name for each in here.nearby if _fits(action, each)), None)


def _fits(action: ActionDeclared, near: Near) -> bool:
    return action.tag is None or near.tag.casefold() == action.tag.casefold()


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
