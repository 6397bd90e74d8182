"""Fold that a person was forgotten: what is kept by person goes, and what reads as forgotten.

The texts are gone by then: the log was folded without that person's key. What stays names
that person no more (`unnamed`).
"""

from typing import TypeVar

from immutables import Map
from msgspec.structs import replace

from projections.folds.executive import reminders
from projections.folds.executive.unnamed import unnamed
from projections.folds.fold_context import Origin
from schemas.messages.controls import PersonForgotten
from schemas.state.agent import AgentState
from schemas.state.executive import Executive
from schemas.state.memory import Happened, Memory, Utterance
from schemas.state.taught import Shelf
from schemas.values.base import FORGOTTEN
from schemas.values.bounded_map import Bounded

_V = TypeVar("_V")
_T = TypeVar("_T", Utterance, Happened)


def applied(state: AgentState, control: PersonForgotten, _: Origin) -> AgentState:
    """Return the state without a person, and without whatever nobody can read any more."""
    person = control.person
    for each in state.executive.reminders:
        if person in (each.person, each.by) or each.text == FORGOTTEN:
            state = reminders.over(state, each.id)
    state = replace(
        state,
        executive=_executive(state.executive, person),
        rapport=_without(state.rapport, person),
        raters=_without(state.raters, person),
        shelves=Map({name: _shelf(state.shelves[name]) for name in state.shelves}),
    )
    return unnamed(state, person)


def _executive(executive: Executive, person: str) -> Executive:
    people = executive.people
    return replace(
        executive,
        people=people.delete(person) if person in people else people,
        # Whose words they repeat nobody knows, and they are of the last seconds.
        aloud=(),
        reminded=tuple(
            each
            for each in executive.reminded
            if person not in (each.person, each.by) and each.text != FORGOTTEN
        ),
        personality=replace(
            executive.personality,
            overrides=_without(executive.personality.overrides, person),
            sentiments=_without(executive.personality.sentiments, person),
        ),
        restraints=tuple(
            each for each in executive.restraints if each.person != person
        ),
        modulations=tuple(
            each
            for each in executive.modulations
            if each.about != FORGOTTEN and person != each.person
        ),
        memory=_memory(executive.memory, person),
    )


def _memory(memory: Memory, person: str) -> Memory:
    return replace(
        memory,
        facts=tuple(
            each
            for each in memory.facts
            if person not in (each.person, each.by)
            and FORGOTTEN not in (each.subject, each.object)
        ),
        profiles=_without(memory.profiles, person),
        said=_readable(_without(memory.said, person)),
        silent=_without(memory.silent, person),
        missed=tuple(
            each
            for each in memory.missed
            if each.whom != person and each.about != FORGOTTEN
        ),
        events=_readable(memory.events),
    )


def _shelf(shelf: Shelf) -> Shelf:
    """Return a shelf without the heuristics that would say nothing any more."""
    gone = [
        each.id
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


def _without(held: Bounded[str, _V], key: str) -> Bounded[str, _V]:
    """Return a map without a key."""
    if key not in held:
        return held
    younger, older = (
        Map({name: part[name] for name in part if name != key})
        for part in (held.younger, held.older)
    )
    return Bounded(held.limit, younger, older)
