"""Persona: what an autonomous character is, once proposals changed what its pack says.

Nothing else changes it. Each change knows what was before, and so can be taken back.
"""

from collections.abc import Sequence
from typing import get_args

from immutables import Map
from msgspec.structs import replace

from schemas.messages.learning import CharacterChange, StoredRoutine
from schemas.packs.autonomous import ActionKind, Autonomous
from schemas.state import limits
from schemas.state.autonomy import Autonomy, Routine
from schemas.values.bounded_map import EMPTY
from schemas.values.unicode_text import quoted

KNOWLEDGE = "world_knowledge"


def in_force(how: Autonomous, known: Autonomy) -> Autonomous:
    """Return what its pack says under its own weights, without what it unlearned."""
    if not (known.weights or known.unlearned):
        return how
    weights = {
        each: known.weights.get(each, how.weights.get(each, 0.0))
        for each in get_args(ActionKind)
    }
    told = {**how.personality, KNOWLEDGE: _kept(how, known)}
    personality = told if known.unlearned else how.personality
    return how.model_copy(update={"weights": weights, "personality": personality})


def weight(how: Autonomous, known: Autonomy, kind: str) -> float:
    """Return the weight of a kind of action in force."""
    of_pack = next((how.weights[each] for each in how.weights if each == kind), 0.0)
    return known.weights.get(kind, of_pack)


def knowledge(how: Autonomous, known: Autonomy) -> tuple[str, ...]:
    """Return all that it knows of its world: what its pack says first."""
    return (*_kept(how, known), *known.learned)


def applied(known: Autonomy, change: CharacterChange) -> Autonomy:
    """Return what it is after a change."""
    match change.kind, change.after:
        case "weight", float() as wanted:
            weights = (known.weights or EMPTY).set(change.name, wanted)
            return replace(known, weights=weights)
        case "routine", StoredRoutine() as stored:
            routine = Routine(
                action=stored.action,
                target=stored.target,
                uses=stored.uses,
                successes=stored.successes,
            )
            routines = (known.routines or EMPTY).set(change.name, routine)
            return replace(known, routines=_bounded(routines, change.name))
        case "routine", None if change.name in known.routines:
            return replace(known, routines=known.routines.delete(change.name))
        case "knowledge", _:
            return _knowing(known, change)
        case _:
            return known


def reverted(known: Autonomy, change: CharacterChange) -> Autonomy:
    """Return what it is once a change is taken back."""
    return applied(known, inverse(change))


def inverse(change: CharacterChange) -> CharacterChange:
    """Return the change that takes another back."""
    return replace(change, before=change.after, after=change.before)


def outdated(how: Autonomous, known: Autonomy, change: CharacterChange) -> str | None:
    """Return why a change cannot be applied any more; None if it can.

    A routine may have been done again since: what counts is which action it is.
    """
    before = change.before
    match change.kind:
        case "weight":
            is_same = before == weight(how, known, change.name)
            return None if is_same else f"the weight of {change.name} is another by now"
        case "routine":
            routine = known.routines.get(change.name)
            action = before.action if isinstance(before, StoredRoutine) else None
            is_same = (routine.action if routine is not None else None) == action
            return (
                None if is_same else f"the routine for {change.name} is another by now"
            )
        case _:
            told = knowledge(how, known)
            if isinstance(before, str) and before not in told:
                return f"it does not know {quoted(before)} any more"
            if isinstance(change.after, str) and change.after in told:
                return f"it knows {quoted(change.after)} already"
            return None


def stored(routine: Routine) -> StoredRoutine:
    """Return a routine as a message holds it."""
    return StoredRoutine(
        action=routine.action,
        target=routine.target,
        uses=routine.uses,
        successes=routine.successes,
    )


def _kept(how: Autonomous, known: Autonomy) -> tuple[str, ...]:
    told = how.personality.get(KNOWLEDGE)
    lines: Sequence[object] = told if isinstance(told, list) else ()
    return tuple(
        each for each in lines if isinstance(each, str) and each not in known.unlearned
    )


def _knowing(known: Autonomy, change: CharacterChange) -> Autonomy:
    learned, unlearned = known.learned, known.unlearned
    if isinstance(gone := change.before, str):
        if gone in learned:
            learned = tuple(each for each in learned if each != gone)
        else:
            unlearned = (*unlearned, gone)
    if isinstance(come := change.after, str):
        if come in unlearned:
            unlearned = tuple(each for each in unlearned if each != come)
        else:
            learned = (*learned, come)
    most = limits.LEARNED
    return replace(known, learned=learned[-most:], unlearned=unlearned[-most:])


def _bounded(routines: Map[str, Routine], kept: str) -> Map[str, Routine]:
    if len(routines) <= limits.ROUTINES:
        return routines
    others = sorted(each for each in routines if each != kept)
    return routines.delete(min(others, key=lambda each: routines[each].rate))
