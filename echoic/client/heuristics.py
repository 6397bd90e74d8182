"""An agent's heuristics, and how far each is trusted, folded from the log."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING

from echoic.client.state import AgentSnapshot
from projections.folds.learning import beliefs
from projections.folds.learning.heuristics import all_heuristics
from schemas.packs.compiled import CompiledPack, compile_pack
from schemas.packs.manifest import from_blob
from schemas.state.taught import Taught
from schemas.values.exact_math import round6
from schemas.values.lazily import Lazily
from schemas.values.settings import UNSTARTED
from streams.log import ReadableLog

if TYPE_CHECKING:
    from handlers.mind.strategies import thompson
    from projections.store.queries import Fired
else:
    thompson = Lazily("handlers.mind.strategies.thompson")

LEVEL = 0.95
"""The mass of the credible interval of a confidence."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Learnt:
    """One heuristic with its present belief."""

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
    """Pseudo-counts of a Beta distribution, of which the confidence is the mean."""
    beta: float
    declared: float
    fires: int
    successes: int
    lifecycle: str
    content_hash: str
    last_fired: datetime | None

    def is_stale(self, now: datetime, days: float) -> bool:
        """Tell whether it fired, but not within `days`; 0 switches staleness off."""
        return beliefs.is_stale(self.last_fired, now, days)


async def learnt(log: ReadableLog, known: AgentSnapshot) -> list[Learnt]:
    """Return every heuristic of the agent: those of its packs, then those it was taught."""
    packs = await packs_of(log, known)
    return [
        _as_it_stands(each, known, packs) for each in all_heuristics(known.agent, packs)
    ]


async def packs_of(log: ReadableLog, known: AgentSnapshot) -> list[CompiledPack]:
    """Return the agent's packs by name, without vectors: nothing can be matched by them."""
    # A pack loaded for the agent alone replaces the shared one of the same name.
    refs = known.shared.packs.update(known.agent.packs)
    blobs = [await log.blob(refs[name].digest) for name in sorted(refs)]
    return [without_vectors(blob) for blob in blobs if blob is not None]


def without_vectors(blob: bytes) -> CompiledPack:
    """Compile a pack, so that nothing can be matched by it.

    Raises:
        PackError: as `from_blob`.
    """
    pack = from_blob(blob)
    return compile_pack(pack, [b""] * len(pack.heuristics))


def _as_it_stands(
    each: Taught, known: AgentSnapshot, packs: Sequence[CompiledPack]
) -> Learnt:
    agent = known.agent
    learning = agent.learning(known.shared.settings or UNSTARTED)
    belief = beliefs.bounded_belief(
        agent, packs, learning, each.heuristic_id, each.content_hash
    )
    by_hand = agent.frozen.get(each.heuristic_id, False)
    return Learnt(
        id=each.heuristic_id,
        name=each.name,
        domain=each.domain,
        origin=each.origin,
        condition=each.condition,
        when=each.when,
        text=each.text,
        confidence=belief.confidence,
        alpha=belief.alpha,
        beta=belief.beta,
        declared=each.confidence,
        fires=belief.fire_count,
        successes=belief.success_count,
        lifecycle=beliefs.lifecycle(belief, by_hand, learning),
        content_hash=each.content_hash,
        last_fired=belief.last_fired,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Measures:
    """How well a heuristic matches, how far it is trusted, and how often it succeeds.

    None replaces another: a condition may match well while its advice is wrong; a
    confidence may be declared, or learned from two fires; a rate means little without the
    number of cases.
    """

    matches: int
    """Fires that were shown and have a recorded similarity."""
    similarity: float | None
    """The mean similarity of those events to its condition."""
    low: float
    """The credible interval of its Beta-distributed confidence."""
    high: float
    judged: int | None
    """Fires with a known outcome or vote; None without the read models."""
    succeeded: int | None
    rate: float | None
    """The share of judged fires that succeeded."""


def measures(found: Learnt, fired: "Fired | None") -> Measures:
    """Return a heuristic's measures; without the read models, its fires are not counted."""
    # Equal tails of the Beta distribution that Thompson sampling draws from.
    low, high = thompson.interval(found.alpha, found.beta, LEVEL)
    similarity = fired.similarity if fired else None
    rate = fired.succeeded / fired.judged if fired and fired.judged else None
    return Measures(
        matches=fired.fires if fired else 0,
        similarity=None if similarity is None else round6(similarity),
        low=low,
        high=high,
        judged=fired.judged if fired else None,
        succeeded=fired.succeeded if fired else None,
        rate=None if rate is None else round6(rate),
    )
