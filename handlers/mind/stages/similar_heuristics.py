"""The repertoire: every heuristic of a domain, and which of them is like a given text.

Those of the domain's pack and those that the agent was taught or formed itself. Nothing
of another domain is ever like anything of this one.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

from schemas.packs.compiled import CompiledPack
from schemas.state.agent import AgentState
from schemas.state.taught import Shelf, Taught
from schemas.values import vectors
from schemas.values.vectors import Matrix, Vector

Part = Literal["condition", "action"]

_NEAR_LIMIT = 64
"""How many of the nearest are returned, of the pack and of the taught ones each."""


@dataclass(frozen=True, slots=True)
class KnownHeuristic:
    """A heuristic found to be like a text."""

    heuristic: Taught
    similarity: float
    """Cosine similarity of the text and the heuristic's condition or action."""


def similar(
    state: AgentState,
    packs: Sequence[CompiledPack],
    domain: str,
    vector: Vector,
    at_least: float,
    *,
    by: Part,
) -> list[KnownHeuristic]:
    """Return a domain's heuristics with a similar condition or action, most similar
    first, then by id.
    """
    found: list[KnownHeuristic] = []
    for pack in packs:
        if pack.pack.name == domain:
            of_pack = pack.conditions if by == "condition" else pack.actions
            near = vectors.top(of_pack, vector, _NEAR_LIMIT, at_least)
            known = pack.heuristics
            found += [KnownHeuristic(known[row], similar) for row, similar in near]
    shelf = state.shelves.get(domain)
    if shelf is not None:
        taught, of_shelf = _embedded(shelf, by)
        near = vectors.top(of_shelf, vector, _NEAR_LIMIT, at_least)
        found += [KnownHeuristic(taught[row], similar) for row, similar in near]
    return sorted(found, key=_nearness)


# Keyed by the shelf, a persistent value: a changed shelf is another key.
@lru_cache(maxsize=512)
def _embedded(shelf: Shelf, by: Part) -> tuple[tuple[Taught, ...], Matrix]:
    """Return those whose part was embedded, with the matrix of these vectors."""
    found = [
        (each, own)
        for each in _in_order(shelf)
        if (own := each.vector if by == "condition" else each.action_vector)
    ]
    return tuple(each for each, _ in found), vectors.stack([own for _, own in found])


def _in_order(shelf: Shelf) -> Iterator[Taught]:
    # A learnt silence says nothing that another text could be similar to.
    known = (shelf.heuristics[id_] for id_ in sorted(shelf.heuristics))
    return (each for each in known if not each.is_silence)


def _nearness(known: KnownHeuristic) -> tuple[float, str]:
    return -known.similarity, known.heuristic.heuristic_id
