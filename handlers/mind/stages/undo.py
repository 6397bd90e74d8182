"""Undoing: does this event take back what was just advised?

It must say so in whole words and name an entity or the action of a response of its own
domain, shown a moment ago; or a field `undoes` must name that response, its action or an
entity. A text that merely speaks of cancelling takes back nothing.
"""

from collections.abc import Callable
from datetime import datetime

from projections.folds import outcome_patterns
from projections.folds.fires import is_fresh
from schemas.messages.controls import Action
from schemas.messages.sensing import Sensed
from schemas.packs import word_patterns
from schemas.packs.word_patterns import Said
from schemas.state.agent import AgentState, ShownFire

WORDS = (
    "undo", "undid", "undone", "undoes", "revert", "reverts", "reverted", "rollback",
    "roll back", "rolled back", "cancel", "cancels", "cancelled", "canceled",
    "nevermind", "never mind",
)  # fmt: skip
"""What an event says that takes something back, each as whole words."""

UNDOES = "undoes"
"""The field in which a sensor names what an event takes back."""

ActionOf = Callable[[ShownFire], Action | None]
"""What a fire would have done; None if it only spoke."""


def undone(
    state: AgentState,
    event: Sensed,
    domain: str,
    now: datetime,
    undo_s: float,
    action_of: ActionOf,
    *,
    edition: int,
) -> ShownFire | None:
    """The latest fire that the event takes back, if it takes back one."""
    fresh = [
        fire
        for fire in state.shown
        if fire.domain == domain and is_fresh(fire, now, undo_s)
    ]
    if not fresh:
        return None
    named = event.fields.get(UNDOES)
    words = outcome_patterns.words(event, edition)
    if named is None and not any(word_patterns.occurs(each, words) for each in WORDS):
        return None
    for fire in reversed(fresh):
        names = (*fire.entities, *_names(action_of(fire)))
        if named is not None:
            if named in (fire.decision_id, *names):
                return fire
        elif not _names_other(fire, event) and _is_named(names, event, words):
            return fire
    return None


def _names_other(fire: ShownFire, event: Sensed) -> bool:
    """Whether both say who takes part, and it is not the same."""
    ours, theirs = frozenset(fire.entities), frozenset(event.entities)
    return bool(ours) and bool(theirs) and ours.isdisjoint(theirs)


def _is_named(names: tuple[str, ...], event: Sensed, words: Said) -> bool:
    return any(
        name in event.entities or word_patterns.occurs(name, words) for name in names
    )


def _names(action: Action | None) -> tuple[str, ...]:
    """What an action is called by."""
    if action is None:
        return ()
    return (action.type, *([action.target] if action.target else []))
