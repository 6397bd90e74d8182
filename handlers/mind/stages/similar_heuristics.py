"""The repertoire: every heuristic of a domain, and which of them is like a given text.

Those of the domain's pack and those that the agent was taught or formed itself. Nothing
of another domain is ever like anything of this one.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

from schemas.packs.manifest import CompiledPack
from schemas.state.agent import AgentState, Shelf, Taught
from schemas.values import vectors
from schemas.values.vectors import Matrix, Vector

NEAR_LIMIT = 64
"""How many of the nearest are looked at, of the pack and of the rest."""


@dataclass(frozen=True, slots=True)
class KnownHeuristic:
    """A heuristic that is like a text."""

    heuristic_id: str
    content_hash: str
    similarity: float
    """Of the text and what was compared with it."""
    when: str | None
    action: Vector
    """What it says; empty if that was not embedded."""


def like_condition(
    state: AgentState,
    packs: Sequence[CompiledPack],
    domain: str,
    vector: Vector,
    at_least: float,
) -> list[KnownHeuristic]:
    """Return the heuristics of a domain for like situations, the most alike first."""
    found: list[KnownHeuristic] = []
    for pack in _of(packs, domain):
        near = vectors.top(pack.conditions, vector, NEAR_LIMIT, at_least)
        found += [_of_pack(pack, row, similarity) for row, similarity in near]
    shelf = state.shelves.get(domain)
    if shelf is not None:
        taught, conditions = _conditions(shelf)
        near = vectors.top(conditions, vector, NEAR_LIMIT, at_least)
        found += [_of_shelf(taught[row], similarity) for row, similarity in near]
    return sorted(found, key=_nearness)


def like_action(
    state: AgentState,
    packs: Sequence[CompiledPack],
    domain: str,
    vector: Vector,
    at_least: float,
) -> list[KnownHeuristic]:
    """Return the heuristics of a domain that say the same, the most alike first."""
    found: list[KnownHeuristic] = []
    for pack in _of(packs, domain):
        near = vectors.top(pack.actions, vector, NEAR_LIMIT, at_least)
        found += [_of_pack(pack, row, similarity) for row, similarity in near]
    shelf = state.shelves.get(domain)
    if shelf is not None:
        taught, actions = _actions(shelf)
        near = vectors.top(actions, vector, NEAR_LIMIT, at_least)
        found += [_of_shelf(taught[row], similarity) for row, similarity in near]
    return sorted(found, key=_nearness)


def _of(packs: Sequence[CompiledPack], domain: str) -> Iterator[CompiledPack]:
    return (each for each in packs if each.pack.name == domain)


def _of_pack(pack: CompiledPack, row: int, similarity: float) -> KnownHeuristic:
    return KnownHeuristic(
        pack.ids[row],
        pack.content_hashes[row],
        similarity,
        pack.pack.heuristics[row].when,
        pack.action_vectors[row] if pack.action_vectors else b"",
    )


def _of_shelf(taught: Taught, similarity: float) -> KnownHeuristic:
    return KnownHeuristic(
        taught.id, taught.content_hash, similarity, taught.when, taught.action_vector
    )


@lru_cache(maxsize=256)
def _conditions(shelf: Shelf) -> tuple[tuple[Taught, ...], Matrix]:
    """Return those whose condition was embedded, and its vectors."""
    taught = tuple(each for each in _in_order(shelf) if each.vector)
    return taught, vectors.stack([each.vector for each in taught])


@lru_cache(maxsize=256)
def _actions(shelf: Shelf) -> tuple[tuple[Taught, ...], Matrix]:
    """Return those whose words were embedded, and their vectors."""
    taught = tuple(each for each in _in_order(shelf) if each.action_vector)
    return taught, vectors.stack([each.action_vector for each in taught])


def _in_order(shelf: Shelf) -> Iterator[Taught]:
    # What says nothing says the same as nobody.
    known = (shelf.heuristics[id_] for id_ in sorted(shelf.heuristics))
    return (each for each in known if not each.is_silence)


def _nearness(known: KnownHeuristic) -> tuple[float, str]:
    return -known.similarity, known.heuristic_id
