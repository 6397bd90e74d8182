"""For whom an estimate speaks: for the people of its log, or for people like them.

For *these* people sessions are the units and whose they are is a stratum: who took part is
given, and how much people differ from one another is no error of the estimate. For people
*alike*, people are the units, and it is the whole error (Abadie et al., 2023, "When should
you adjust standard errors for clustering?").
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np
import numpy.typing as npt

Population: TypeAlias = Literal["these", "alike"]
"""Whom a verdict is about: those who were recorded, or any who are like them."""

_NAMED = 3
"""Names that a sentence lists; of more people it gives the number."""


@dataclass(frozen=True, slots=True)
class People:
    """Whose each session is: of a person, of people who share sessions, or of an agent.

    People who ever share a session are one household: what one of them hears, so do the
    others. A session in which nobody is named is of the only household of its agent, and
    else of the agent.
    """

    household: npt.NDArray[np.int64]
    """Of each session, counted from 0."""

    stratum: npt.NDArray[np.int64]
    """Of each session: its household with one agent."""

    persons: tuple[str, ...]
    agents: tuple[str, ...]
    """Agents of sessions in which nobody is named, of no household."""

    @property
    def households(self) -> int:
        """How many there are."""
        return int(self.household.max(initial=-1)) + 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Whom:
    """For whom an estimate speaks, as the document has it."""

    population: Population
    persons: tuple[str, ...] = ()
    agents: tuple[str, ...] = ()
    """Of sessions in which no person is named."""

    units: int = 0
    """People who never share a session, and agents of nobody named."""

    words: str = "for those recorded"


NOBODY_NAMED = Whom(population="these")
"""Of a log that says of no decision whose it was."""


def whom(people: People | None, population: Population) -> Whom:
    """Return for whom an estimate speaks."""
    if people is None:
        others = Whom(population=population, words="for others like those recorded")
        return NOBODY_NAMED if population == "these" else others
    return Whom(
        population=population,
        persons=people.persons,
        agents=people.agents,
        units=people.households,
        words=_words(people, population),
    )


def _words(people: People, population: Population) -> str:
    persons, agents = people.persons, people.agents
    kind = "people" if persons else "agents"
    if population == "alike":
        return f"for {kind} like these {people.households:,}"
    if len(persons) + len(agents) > _NAMED:
        kinds = " and ".join(
            f"{len(each):,} {name}{'' if len(each) == 1 else 's'}"
            for each, name in ((persons, "person"), (agents, "agent"))
            if each
        )
        one_kind = f"{len(persons) + len(agents):,} {kind}"
        return f"for these {kinds if persons and agents else one_kind}"
    names = [*persons, *(f"agent {name}" for name in agents)]
    return f"for {_listed(names)}"


def _listed(names: Sequence[str]) -> str:
    *others, last = names
    return f"{', '.join(others)} and {last}" if others else last


def people_of(named: Sequence[Iterable[str]], agents: Sequence[str]) -> "People | None":
    """Return whose each session is; None if no session names a person or an agent.

    Args:
        named: the persons named in each session.
        agents: the agent of each session; empty where none is told.
    """
    groups = [tuple(sorted(set(each))) for each in named]
    if not any(groups) and not any(agents):
        return None
    roots = _joined(groups)
    homes: dict[str, set[str]] = {}
    for persons, agent in zip(groups, agents, strict=True):
        if persons:
            homes.setdefault(agent, set()).add(roots[persons[0]])
    owners = [
        _owner(persons, agent, roots, homes)
        for persons, agent in zip(groups, agents, strict=True)
    ]
    return People(
        household=_numbered(owners),
        stratum=_numbered(list(zip(owners, agents, strict=True))),
        persons=tuple(sorted(roots)),
        agents=tuple(sorted({name for kind, name in owners if kind == "agent"} - {""})),
    )


def _owner(
    persons: Sequence[str],
    agent: str,
    roots: Mapping[str, str],
    homes: Mapping[str, set[str]],
) -> tuple[str, str]:
    """Return the household of a session, by one of its people, or its agent."""
    if persons:
        return "person", roots[persons[0]]
    known = homes.get(agent, set())
    return ("person", min(known)) if len(known) == 1 else ("agent", agent)


def _joined(groups: Iterable[Sequence[str]]) -> dict[str, str]:
    """Return for each person one who stands for the household, the same for all of it."""
    parent: dict[str, str] = {}

    def root(person: str) -> str:
        while (above := parent.setdefault(person, person)) != person:
            parent[person] = parent.setdefault(above, above)
            person = parent[person]
        return person

    for persons in groups:
        for person in persons:
            first, other = sorted((root(persons[0]), root(person)))
            parent[other] = first
    return {person: root(person) for person in parent}


def _numbered(keys: Sequence[object]) -> npt.NDArray[np.int64]:
    """Number keys in the order in which they first come."""
    numbers: dict[object, int] = {}
    return np.array([numbers.setdefault(each, len(numbers)) for each in keys], np.int64)
