"""What an agent goes by: its heuristics, and how far each is trusted.

Its rule: the same whether it comes from the read models or is folded from the log.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime

from echoic.client.state import Remembered
from projections.folds.learning import confidence as beliefs
from projections.folds.learning import effective
from projections.store.queries import Heuristic
from schemas.packs.manifest import CompiledPack, compile_pack, from_blob
from schemas.state.agent import Taught
from schemas.values.settings import UNSTARTED
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
    alpha: float
    """The pseudo-counts that the confidence is the mean of."""
    beta: float
    declared: float
    fires: int
    successes: int
    lifecycle: str
    content_hash: str
    last_fired: datetime | None

    def is_stale(self, now: datetime, days: float) -> bool:
        """Whether it fired once, and then not for so many days; of 0 days never."""
        return effective.is_stale(self.last_fired, now, days)


async def learnt(log: ReadableLog, known: Remembered) -> list[Learnt]:
    """Every heuristic that the agent goes by: of its packs, then what it was taught."""
    refs = known.shared.packs.update(known.agent.packs)
    blobs = [await log.blob(refs[name].digest) for name in sorted(refs)]
    # For their words alone: nothing is matched with them here.
    packs = [
        compile_pack(pack, [b""] * len(pack.heuristics))
        for pack in (from_blob(blob) for blob in blobs if blob is not None)
    ]
    standing = _Standing(known, packs)
    found: list[Learnt] = []
    for pack in packs:
        found.extend(_of_pack(pack, standing))
    for domain in sorted(known.agent.shelves):
        shelf = known.agent.shelves[domain].heuristics
        found.extend(_taught(shelf[id_], standing) for id_ in sorted(shelf))
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
        alpha=row.alpha,
        beta=row.beta,
        declared=row.declared,
        fires=row.fire_count,
        successes=row.success_count,
        lifecycle=row.lifecycle,
        content_hash=row.content_hash,
        last_fired=row.last_fired,
    )


def _of_pack(compiled: CompiledPack, standing: "_Standing") -> Iterator[Learnt]:
    pack = compiled.pack
    for row, each in enumerate(pack.heuristics):
        yield standing.of(
            id_=compiled.ids[row],
            name=each.name,
            domain=pack.name,
            origin="skill_pack",
            content=compiled.content_hashes[row],
            declared=each.confidence,
            words=(each.condition, each.when, each.action.text),
        )


def _taught(taught: Taught, standing: "_Standing") -> Learnt:
    return standing.of(
        id_=taught.id,
        name=taught.name,
        domain=taught.domain,
        origin=taught.origin,
        content=taught.content_hash,
        declared=taught.declared,
        words=(taught.condition, taught.when, taught.text),
    )


@dataclass(frozen=True, slots=True)
class _Standing:
    """Where an agent's heuristics stand."""

    known: Remembered
    packs: Sequence[CompiledPack]

    def of(
        self,
        *,
        id_: str,
        name: str,
        domain: str,
        origin: str,
        content: str,
        declared: float,
        words: tuple[str, str | None, str],
    ) -> Learnt:
        """One of them, as it stands."""
        agent = self.known.agent
        learning = agent.learning(self.known.shared.settings or UNSTARTED)
        belief = effective.believed(agent, self.packs, learning, id_, content)
        by_hand = agent.frozen.get(id_, False)
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
            alpha=belief.alpha,
            beta=belief.beta,
            declared=declared,
            fires=belief.fire_count,
            successes=belief.success_count,
            lifecycle=beliefs.lifecycle(belief, by_hand, learning),
            content_hash=content,
            last_fired=belief.last_fired,
        )
