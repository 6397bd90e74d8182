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
