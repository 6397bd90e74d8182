"""Known: every heuristic that an agent has at a place, and how far it is trusted there.

It is put together of what is in force and what the facts so far make believable.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from evaluation.evidence.refold import Believing
from projections.folds.learning import terms
from replay.recording.standing import Standing
from schemas.state.evidence import belief_key
from schemas.values.reasons import Lifecycle, Origin


@dataclass(frozen=True, slots=True, kw_only=True)
class Known:
    """One heuristic as it stands."""

    id: str
    name: str
    domain: str
    origin: Origin
    content_hash: str
    condition: str
    text: str
    declared: float
    confidence: float
    fires: int
    successes: int
    life: Lifecycle


def known(standing: Standing, believing: Believing) -> Mapping[str, Known]:
    """The agent's heuristics by id."""
    return {each.id: each for each in _all(standing, believing)}


def trust(
    standing: Standing, believing: Believing, heuristic_id: str, content_hash: str
) -> float:
    """What is believed of a content of a heuristic, of what stands there now."""
    start = terms.declared(standing.agent, standing.packs, heuristic_id)
    return believing.confidence(belief_key(heuristic_id, content_hash), start)


def _all(standing: Standing, believing: Believing) -> Iterator[Known]:
    for pack in standing.packs:
        rows = zip(pack.ids, pack.content_hashes, pack.pack.heuristics, strict=True)
        for id_, content_hash, heuristic in rows:
            yield _one(
                standing,
                believing,
                (id_, heuristic.name, pack.pack.name, "skill_pack"),
                content_hash=content_hash,
                words=(heuristic.condition, heuristic.action.text),
                declared=heuristic.confidence,
            )
    shelves = standing.agent.shelves
    for domain in sorted(shelves):
        shelf = shelves[domain].heuristics
        for taught in (shelf[id_] for id_ in sorted(shelf)):
            yield _one(
                standing,
                believing,
                (taught.id, taught.name, domain, taught.origin),
                content_hash=taught.content_hash,
                words=(taught.condition, taught.text),
                declared=taught.declared,
            )


def _one(
    standing: Standing,
    believing: Believing,
    named: tuple[str, str, str, Origin],
    *,
    content_hash: str,
    words: tuple[str, str],
    declared: float,
) -> Known:
    id_, name, domain, origin = named
    key = belief_key(id_, content_hash)
    held = believing.believed.get(key)
    start = terms.declared(standing.agent, standing.packs, id_)
    by_hand = standing.agent.frozen.get(id_, False)
    is_frozen = by_hand or believing.is_frozen(key, start)
    return Known(
        id=id_,
        name=name,
        domain=domain,
        origin=origin,
        content_hash=content_hash,
        condition=words[0],
        text=words[1],
        declared=declared,
        confidence=believing.confidence(key, start),
        fires=held.fire_count if held else 0,
        successes=held.success_count if held else 0,
        life="frozen" if is_frozen else believing.life(key),
    )
