"""Fold that a person was forgotten: what is kept by person goes, and what reads as forgotten.

The texts are gone by then: the log was folded without that person's key. What stays names
that person no more (`unnamed`).
"""

from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from immutables import Map
from msgspec import Struct
from msgspec.structs import replace

from projections.folds.executive import reminders
from projections.folds.executive.unnamed import unnamed
from projections.folds.fold_context import Origin
from schemas.messages.controls import PersonForgotten
from schemas.messages.sensing import SOMEBODY
from schemas.state.agent import AgentState
from schemas.state.executive import Lent, Reminder
from schemas.state.memory import Happened, Utterance
from schemas.state.taught import Shelf
from schemas.values.base import FORGOTTEN
from schemas.values.bounded_map import Bounded

_S = TypeVar("_S", bound=Struct)
_T = TypeVar("_T", Utterance, Happened)


def applied(state: AgentState, control: PersonForgotten, _: Origin) -> AgentState:
    """Return the state without a person, and without whatever nobody can read any more."""
    person = control.person
    for each in state.executive.reminders.awaited:
        if _is_of(each, person):
            state = reminders.over(state, each.id)
    return unnamed(_forgotten(state, FORGETTING, person), person)


def _forgotten(held: _S, rows: Mapping[str, Any], person: str) -> _S:
    found = {}
    for name, row in rows.items():
        own = getattr(held, name)
        is_slice = isinstance(row, Mapping)
        found[name] = _forgotten(own, row, person) if is_slice else row(own, person)
    return replace(held, **found)


def _is_of(each: Reminder, person: str) -> bool:
    return person in (each.person, each.by) or each.text == FORGOTTEN


def _lent(held: tuple[Lent, ...], person: str) -> tuple[Lent, ...]:
    """Return what is given back, to nobody who is forgotten and in nobody's such name."""
    return tuple(
        replace(each, was=tuple(SOMEBODY if e == person else e for e in each.was))
        for each in held
        if each.person != person
    )


def _shelf(shelf: Shelf) -> Shelf:
    """Return a shelf without the heuristics that would say nothing any more."""
    gone = [
        each.heuristic_id
        for each in shelf.heuristics.values()
        if FORGOTTEN in (each.text, each.condition)
    ]
    left = shelf.heuristics
    for id_ in gone:
        left = left.delete(id_)
    return Shelf(left) if gone else shelf


def _readable(held: Bounded[str, tuple[_T, ...]]) -> Bounded[str, tuple[_T, ...]]:
    """Return the same lists without what reads as forgotten."""
    younger, older = (
        Map(
            {
                name: tuple(each for each in part[name] if each.text != FORGOTTEN)
                for name in part
            }
        )
        for part in (held.younger, held.older)
    )
    return Bounded(held.limit, younger, older)


def _without(held: Any, person: str) -> Any:
    """Return a map by person without that one."""
    if person not in held:
        return held
    if isinstance(held, Map):
        return held.delete(person)
    younger, older = (
        Map({name: part[name] for name in part if name != person})
        for part in (held.younger, held.older)
    )
    return Bounded(held.limit, younger, older)


def _unless(is_gone: Callable[[Any, str], bool]) -> Callable[[Any, str], Any]:
    """Return what leaves out of several whatever is that person's, or cannot be read."""
    return lambda held, person: tuple(e for e in held if not is_gone(e, person))


FORGETTING: Mapping[str, Any] = {
    "rapport": _without,
    "raters": _without,
    "shelves": lambda held, _: Map({name: _shelf(held[name]) for name in held}),
    "executive": {
        "presence": {"people": _without},
        # Whose words they repeat nobody knows, and they are of the last seconds.
        "speech": {"aloud": lambda *_: ()},
        # Of whose words they are hashes nobody knows.
        "sayings": {"matters": lambda *_: ()},
        "reminders": {"said": _unless(_is_of)},
        "personality": {"overrides": _without, "sentiments": _without},
        "peace": {
            "restraints": _unless(lambda each, person: each.person == person),
            "modulations": _unless(
                lambda each, person: each.about == FORGOTTEN or person == each.person
            ),
        },
        "memory": {
            "facts": _unless(
                lambda each, person: (
                    person in (each.person, each.by)
                    or FORGOTTEN in (each.subject, each.object)
                )
            ),
            "profiles": _without,
            "said": lambda held, person: _readable(_without(held, person)),
            "silent": _without,
            "missed": _unless(
                lambda each, person: each.whom == person or each.about == FORGOTTEN
            ),
            "events": lambda held, _: _readable(held),
        },
        "lent": _lent,
    },
}
"""What goes of the state, by slice and field; of all others only the person's name."""
