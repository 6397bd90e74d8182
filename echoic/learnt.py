"""What an agent goes by: its heuristics, and how far each is trusted.

Its rule: the same whether it comes from the read models or is folded from the log.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from echoic.remembering import Remembered
from projections.folds import beliefs
from projections.queries import Heuristic
from schemas.identity import heuristic_id
from schemas.packs import Pack, content_hash, from_blob
from schemas.settings import UNSTARTED
from schemas.state import Taught, belief_key
from streams.log import ReadableLog


@dataclass(frozen=True, slots=True, kw_only=True)
class Learnt:
    """One heuristic as it stands."""

    id: str
    name: str
    domain: str
    origin: str
    """`skill_pack`, `learned` or `seeded`."""
    condition: str
    when: str | None
    text: str
    confidence: float
    declared: float
    fires: int
    successes: int
    lifecycle: str
    content_hash: str


async def learnt(log: ReadableLog, known: Remembered) -> list[Learnt]:
    """Every heuristic that the agent goes by: of its packs, then what it was taught."""
    refs = known.shared.packs.update(known.agent.packs)
    found: list[Learnt] = []
    for name in sorted(refs):
        blob = await log.blob(refs[name].digest)
        if blob is not None:
            found.extend(_of_pack(from_blob(blob), known))
    for domain in sorted(known.agent.shelves):
        shelf = known.agent.shelves[domain].heuristics
        found.extend(_taught(shelf[id_], known) for id_ in sorted(shelf))
    return found


def of_read_models(row: Heuristic) -> Learnt:
    """A heuristic as the read models hold it."""
    return Learnt(
        id=row.id,
        name=row.name,
        domain=row.domain,
        origin=row.origin,
        condition=row.condition["text"],
        when=row.condition.get("when"),
        text=row.action["text"],
        confidence=row.confidence,
        declared=row.declared,
        fires=row.fire_count,
        successes=row.success_count,
        lifecycle=row.lifecycle,
        content_hash=row.content_hash,
    )


def _of_pack(pack: Pack, known: Remembered) -> Iterator[Learnt]:
    for each in pack.heuristics:
        yield _standing(
            known,
            id_=heuristic_id(pack.name, each.name),
            name=each.name,
            domain=pack.name,
            origin="skill_pack",
            content=content_hash(each),
            declared=each.confidence,
            words=(each.condition, each.when, each.action.text),
        )


def _taught(taught: Taught, known: Remembered) -> Learnt:
    return _standing(
        known,
        id_=taught.id,
        name=taught.name,
        domain=taught.domain,
        origin=taught.origin,
        content=taught.content_hash,
        declared=taught.declared,
        words=(taught.condition, taught.when, taught.text),
    )


def _standing(
    known: Remembered,
    *,
    id_: str,
    name: str,
    domain: str,
    origin: str,
    content: str,
    declared: float,
    words: tuple[str, str | None, str],
) -> Learnt:
    settings = known.shared.settings
    learning = known.agent.learning(settings or UNSTARTED)
    belief = known.agent.beliefs.get(belief_key(id_, content))
    belief = belief or beliefs.initial(declared, learning)
    by_hand = known.agent.frozen.get(id_, False)
    condition, when, text = words
    return Learnt(
        id=id_,
        name=name,
        domain=domain,
        origin=origin,
        condition=condition,
        when=when,
        text=text,
        confidence=belief.confidence,
        declared=declared,
        fires=belief.fire_count,
        successes=belief.success_count,
        lifecycle=beliefs.lifecycle(belief, by_hand, learning),
        content_hash=content,
    )
