"""Effective beliefs: evidence under the terms of its heuristic, and within its bounds.

Also new trials after a freeze, changed declarations and settings, and staleness.
"""

from collections.abc import Sequence
from datetime import datetime, timedelta

from immutables import Map
from msgspec.structs import replace

from projections.folds.learning import confidence, heuristics, terms
from projections.folds.learning.terms import Terms
from schemas.packs.manifest import CompiledPack
from schemas.state.agent import AgentState, Taught
from schemas.state.evidence import Belief, Prior, belief_key
from schemas.values.by_identity import by_identity
from schemas.values.exact_math import clamp, round6
from schemas.values.settings import LearningSettings


def raw_belief(
    state: AgentState,
    packs: Sequence[CompiledPack],
    learning: LearningSettings,
    heuristic_id: str,
    content_hash: str,
) -> Belief:
    """Return the belief by evidence alone, the prior if there is none yet.

    Folds go on from this one: a bounded confidence would forget what lies beyond.
    """
    known = state.beliefs.get(belief_key(heuristic_id, content_hash))
    return known or _beginning(state, packs, learning, heuristic_id)[1]


def bounded_belief(
    state: AgentState,
    packs: Sequence[CompiledPack],
    learning: LearningSettings,
    heuristic_id: str,
    content_hash: str,
) -> Belief:
    """Return the belief as it is reported and decided by, within its bounds."""
    known = state.beliefs.get(belief_key(heuristic_id, content_hash))
    its, start = _beginning(state, packs, learning, heuristic_id)
    return bounded(known or start, its)


def bounded(belief: Belief, learning: LearningSettings) -> Belief:
    """Return the belief with its confidence within the bounds of the settings.

    Alpha and beta stay: they are the evidence, which no bound changes.
    """
    within = clamp(belief.confidence, learning.floor, learning.ceiling)
    if within == belief.confidence:
        return belief
    return replace(belief, confidence=round6(within))


def revived(belief: Belief, declared: float, learning: LearningSettings) -> Belief:
    """Return the belief that begins a new trial, from the declared confidence.

    Earlier evidence counts no more; counts of fires and successes stay. Where the
    declared confidence would freeze it again at once, the trial begins at the threshold
    of an active heuristic instead.
    """
    if declared < learning.frozen_below:
        declared = learning.deprecated_below
    # Successes so far become settled ones: `success_count` counts the whole life, while
    # the signals behind it are gone.
    return replace(
        confidence.initial(declared, learning),
        fire_count=belief.fire_count,
        success_count=belief.success_count,
        settled_successes=belief.success_count,
        last_fired=belief.last_fired,
        recent=belief.recent,
        trials=belief.trials + 1,
    )


def redeclared(
    state: AgentState,
    packs: Sequence[CompiledPack],
    learning: LearningSettings,
    taught: Taught,
) -> AgentState:
    """Return the state whose evidence on a heuristic counts from its present declaration."""
    key = belief_key(taught.id, taught.content_hash)
    known = state.beliefs.get(key)
    declared = terms.declared(state, packs, taught.id)
    if known is None or known.declared == declared:
        return state
    its = terms.under(learning, terms.of(state, packs, taught.id))
    known = confidence.redeclared(known, declared, its)
    return replace(state, beliefs=state.beliefs.set(key, known))


def reread(
    state: AgentState,
    packs: Sequence[CompiledPack],
    before: LearningSettings,
    after: LearningSettings,
) -> AgentState:
    """Return the state with every belief and fit recounted under other settings."""
    if before == after:
        return state

    def recounted(believed: Map[str, Belief]) -> Map[str, Belief]:
        return Map(
            {
                key: relearnt(
                    believed[key], before, after, terms.of_key(state, packs, key)
                )
                # Of contents that were edited too: an outcome may still come for them.
                for key in sorted(believed)
            }
        )

    return replace(state, beliefs=recounted(state.beliefs), fits=recounted(state.fits))


def is_stale(last_fired: datetime | None, now: datetime, days: float) -> bool:
    """Tell whether a heuristic that once fired has not for `days`; 0 days is never stale."""
    if last_fired is None or days <= 0.0:
        return False
    return now - last_fired > timedelta(days=days)


def relearnt(
    belief: Belief, before: LearningSettings, after: LearningSettings, its: Terms
) -> Belief:
    """Return the belief recounted under other settings, by the heuristic's terms."""
    return confidence.relearnt(
        belief, terms.under(before, its), terms.under(after, its)
    )


def _beginning(
    state: AgentState,
    packs: Sequence[CompiledPack],
    learning: LearningSettings,
    heuristic_id: str,
) -> tuple[LearningSettings, Belief]:
    """Return the learning settings of a heuristic, and its belief before any evidence."""
    is_taught = heuristics.find(state, heuristic_id) is not None
    known = _beginnings(learning, state.priors.get("skill_pack"), *packs)
    if not is_taught and heuristic_id in known:
        return known[heuristic_id]
    its = terms.of(state, packs, heuristic_id)
    judged = terms.under(learning, its)
    declared = terms.declared(state, packs, heuristic_id)
    beginning = judged, confidence.initial(declared, judged)
    # Taught heuristics are edited and unknown ones come and go: neither is cached, so the
    # cache stays as small as the packs.
    if not is_taught and its is not terms.FREE:
        known[heuristic_id] = beginning
    return beginning


@by_identity(64)
def _beginnings(
    *_: LearningSettings | Prior | CompiledPack | None,
) -> dict[str, tuple[LearningSettings, Belief]]:
    """Return a cache, by heuristic id, of the beginnings under these settings and packs.

    Everything else that a beginning depends on is in the arguments. To compute one takes
    6 µs, and an event meets one or two heuristics that nobody has ever judged.
    """
    return {}
