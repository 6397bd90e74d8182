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
"""How many of the nearest are returned, of the pack and of the taught ones each."""


@dataclass(frozen=True, slots=True)
class KnownHeuristic:
    """A heuristic found to be like a text."""

    heuristic_id: str
    content_hash: str
    similarity: float
    """Cosine similarity of the text and the heuristic's condition or action."""
    when: str | None
    action: Vector
    """The vector of what it says; empty if that was not embedded."""


def like_condition(
    state: AgentState,
    packs: Sequence[CompiledPack],
    domain: str,
    vector: Vector,
    at_least: float,
) -> list[KnownHeuristic]:
    """Return a domain's heuristics with a similar condition, most similar first, then
    by id.
    """
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
    """Return a domain's heuristics with a similar action, most similar first, then by
    id.
    """
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


# Keyed by the shelf, a persistent value: a changed shelf is another key.
@lru_cache(maxsize=256)
def _conditions(shelf: Shelf) -> tuple[tuple[Taught, ...], Matrix]:
    """Return those whose condition was embedded, with the matrix of these vectors."""
    taught = tuple(each for each in _in_order(shelf) if each.vector)
    return taught, vectors.stack([each.vector for each in taught])


@lru_cache(maxsize=256)
def _actions(shelf: Shelf) -> tuple[tuple[Taught, ...], Matrix]:
    """Return those whose action was embedded, with the matrix of these vectors."""
    taught = tuple(each for each in _in_order(shelf) if each.action_vector)
    return taught, vectors.stack([each.action_vector for each in taught])


def _in_order(shelf: Shelf) -> Iterator[Taught]:
    # A learnt silence says nothing that another text could be similar to.
    known = (shelf.heuristics[id_] for id_ in sorted(shelf.heuristics))
    return (each for each in known if not each.is_silence)


def _nearness(known: KnownHeuristic) -> tuple[float, str]:
    return -known.similarity, known.heuristic_id
