"""The belief in each heuristic as it counts: under its terms, and within its bounds.

A pack's author may constrain its heuristics, and the prior of an origin has a weight of
its own: these are a heuristic's terms. `learning_under` applies them to the agent's
learning settings; all counting (`confidence`) goes by the result.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import lru_cache

from msgspec.structs import replace

from projections.folds.learning import confidence
from schemas.packs.compiled import CompiledPack
from schemas.packs.constraints import OUTER_BOUNDS, UNCONSTRAINED, Constraints
from schemas.state.agent import AgentState
from schemas.state.evidence import Belief, Prior, belief_key
from schemas.values.by_identity import by_identity
from schemas.values.exact_math import clamp, round6, total
from schemas.values.learning_settings import ALIKE, LearningSettings, LearningWeights
from schemas.values.reasons import Lifecycle, Origin


@dataclass(frozen=True, slots=True, kw_only=True)
class Terms:
    """What replaces the agent's learning settings for one heuristic; None where nothing."""

    kappa: float | None = None
    """The weight of its prior in observations, as pooled or set for its origin."""
    origin: Origin | None = None
    """Where it is from; None if the heuristic is gone."""
    locked: float | None = None
    """The confidence that no evidence moves."""
    floor: float | None = None
    ceiling: float | None = None
    feedback_weight: float | None = None

    @property
    def is_free(self) -> bool:
        """Whether it replaces nothing itself; its origin may still weigh the prior."""
        return (
            self.kappa is None
            and self.locked is None
            and self.floor is None
            and self.ceiling is None
            and self.feedback_weight is None
        )


FREE = Terms()
"""Terms that leave the settings as they are."""

_NOTHING_COUNTS = LearningWeights(
    outcome=0.0, explicit=0.0, endorsement=0.0, ignored=0.0
)


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
    if learning.floor <= belief.confidence <= learning.ceiling:
        return belief
    within = clamp(belief.confidence, learning.floor, learning.ceiling)
    return replace(belief, confidence=round6(within))


def lifecycle(
    belief: Belief, frozen_by_hand: bool, learning: LearningSettings
) -> Lifecycle:
    """Return the lifecycle: a frozen heuristic never fires, a deprecated one still does."""
    if frozen_by_hand or belief.confidence < learning.frozen_below:
        return "frozen"
    return "deprecated" if belief.confidence < learning.deprecated_below else "active"


def is_stale(last_fired: datetime | None, now: datetime, days: float) -> bool:
    """Tell whether a heuristic that once fired has not for `days`; 0 days is never stale."""
    if last_fired is None or days <= 0.0:
        return False
    return now - last_fired > timedelta(days=days)


def terms_of(
    state: AgentState, packs: Sequence[CompiledPack], heuristic_id: str
) -> Terms:
    """Return the terms of a heuristic as it stands now; free if there is none."""
    taught = state.taught(heuristic_id)
    if taught is not None:
        return Terms(kappa=_kappa(state, taught.origin), origin=taught.origin)
    for pack in packs:
        row = pack.row_of(heuristic_id)
        if row is not None:
            return _of_row(state, pack, row)
    return FREE


def terms_in_force(
    state: AgentState, packs: Sequence[CompiledPack]
) -> dict[str, Terms]:
    """Return the terms of all heuristics in force that are not free, by id."""
    ids = [id_ for pack in packs for id_ in pack.ids]
    for domain in sorted(state.shelves):
        ids += sorted(state.shelves[domain].heuristics)
    found = {id_: terms_of(state, packs, id_) for id_ in ids}
    return {id_: found[id_] for id_ in sorted(found) if found[id_] != FREE}


def declared_confidence(
    state: AgentState, packs: Sequence[CompiledPack], heuristic_id: str
) -> float:
    """Return the prior mean of a heuristic: its origin's, else what its author declared.

    0.5 if the heuristic is gone.
    """
    taught = state.taught(heuristic_id)
    if taught is not None:
        return _start(state, taught.origin, taught.confidence)
    for pack in packs:
        row = pack.row_of(heuristic_id)
        if row is not None:
            of_author = pack.pack.heuristics[row].confidence
            # Locked means at the author's value, whatever a prior would say.
            if _of_row(state, pack, row).locked is not None:
                return of_author
            return _start(state, "skill_pack", of_author)
    return 0.5


def learning_under(learning: LearningSettings, terms: Terms) -> LearningSettings:
    """Return the learning settings for a heuristic of these terms."""
    # Most heuristics differ in nothing: spare them a copy of the settings.
    is_plain = terms.is_free and _weight(learning, terms) == learning.kappa
    if is_plain and learning.feedback_weight == 1.0 and _is_unbounded(learning):
        return learning
    return _under(learning, terms)


# Both arguments are frozen and hashable, and terms repeat across a pack's heuristics.
@lru_cache(maxsize=4096)
def _under(learning: LearningSettings, terms: Terms) -> LearningSettings:
    weight = terms.feedback_weight
    weight = learning.feedback_weight if weight is None else weight
    weights = learning.weights.model_copy(
        update={"explicit": learning.weights.explicit * weight}
    )
    floor, ceiling = bounds(learning, terms)
    if terms.locked is not None:
        weights, floor, ceiling = _NOTHING_COUNTS, terms.locked, terms.locked
    return learning.model_copy(
        update={
            "kappa": _weight(learning, terms),
            # Both are multiplied in above and must not apply a second time.
            "kappa_by_origin": ALIKE,
            "weights": weights,
            "feedback_weight": 1.0,
            "floor": floor,
            "ceiling": ceiling,
        }
    )


def bounds(learning: LearningSettings, terms: Terms) -> tuple[float, float]:
    """Return floor and ceiling of a reported confidence; 0 and 1 if it has no bounds.

    Where the settings contradict the author, the author's bound holds.
    """
    if terms.floor is None and terms.ceiling is None and _is_unbounded(learning):
        return 0.0, 1.0
    floor = learning.floor if terms.floor is None else terms.floor
    ceiling = learning.ceiling if terms.ceiling is None else terms.ceiling
    if floor > ceiling:
        floor, ceiling = (ceiling, ceiling) if terms.floor is None else (floor, floor)
    return clamp(floor, *OUTER_BOUNDS), clamp(ceiling, *OUTER_BOUNDS)


def relearnt(
    belief: Belief, before: LearningSettings, after: LearningSettings, its: Terms
) -> Belief:
    """Return the belief recounted under other settings, by the heuristic's terms."""
    return confidence.relearnt(
        belief, learning_under(before, its), learning_under(after, its)
    )


def _beginning(
    state: AgentState,
    packs: Sequence[CompiledPack],
    learning: LearningSettings,
    heuristic_id: str,
) -> tuple[LearningSettings, Belief]:
    """Return the learning settings of a heuristic, and its belief before any evidence."""
    is_taught = state.taught(heuristic_id) is not None
    known = _beginnings(learning, state.priors.get("skill_pack"), *packs)
    if not is_taught and heuristic_id in known:
        return known[heuristic_id]
    its = terms_of(state, packs, heuristic_id)
    judged = learning_under(learning, its)
    declared = declared_confidence(state, packs, heuristic_id)
    beginning = judged, confidence.initial(declared, judged)
    # Taught heuristics are edited and unknown ones come and go: neither is cached, so the
    # cache stays as small as the packs.
    if not is_taught and its is not FREE:
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


def _of_row(state: AgentState, pack: CompiledPack, row: int) -> Terms:
    kappa = _kappa(state, "skill_pack")
    constraints = pack.constraints[row] if pack.constraints else UNCONSTRAINED
    return _of_author(constraints, pack.pack.heuristics[row].confidence, kappa)


# Pure in its arguments, and asked for at each candidate of an event.
@lru_cache(maxsize=4096)
def _of_author(constraints: Constraints, declared: float, kappa: float | None) -> Terms:
    return Terms(
        kappa=kappa,
        origin="skill_pack",
        locked=clamp(declared, *OUTER_BOUNDS) if constraints.locked else None,
        floor=constraints.floor,
        ceiling=constraints.ceiling,
        feedback_weight=constraints.feedback_weight,
    )


def _weight(learning: LearningSettings, terms: Terms) -> float:
    """Return the weight of the prior, in observations.

    It is that of its origin's prior, else the settings' kappa times their origin factor.
    """
    if terms.kappa is not None:
        return terms.kappa
    if terms.origin is None:
        return learning.kappa
    factor: float = getattr(learning.kappa_by_origin, terms.origin)
    return learning.kappa * factor


def _kappa(state: AgentState, origin: Origin) -> float | None:
    prior = state.priors.get(origin)
    return None if prior is None else prior.kappa


def _start(state: AgentState, origin: Origin, declared: float) -> float:
    prior = state.priors.get(origin)
    return declared if prior is None or prior.mean is None else prior.mean


def _is_unbounded(learning: LearningSettings) -> bool:
    return learning.floor <= 0.0 and learning.ceiling >= 1.0


KAPPA = (2.0, 20.0)
"""Least and greatest weight of a pooled prior, in observations."""

LEAST = 3
"""The fewest heuristics with evidence from which a prior is pooled."""


def pooled(beliefs: Iterable[Belief]) -> Prior | None:
    """Return the prior pooled from the beliefs of one origin.

    None if fewer than `LEAST` of them have evidence.
    """
    ends = [counts for counts in map(_counts, beliefs) if total(counts) > 0.0]
    if len(ends) < LEAST:
        return None
    good = total(each[0] for each in ends)
    fires = total(total(each) for each in ends)
    mean = good / fires
    # The weighted sum of squares has the expectation (k - 1) m (1 - m) by sampling, plus
    # the variance between heuristics times `size`, as in an unbalanced one-way ANOVA.
    spread = total(total(each) * (each[0] / total(each) - mean) ** 2 for each in ends)
    by_chance = mean * (1.0 - mean) * (len(ends) - 1)
    size = fires - total(total(each) ** 2 for each in ends) / fires
    between = (spread - by_chance) / size if size > 0.0 else 0.0
    if between <= 0.0:
        # Rates no further apart than chance: all alike, so the prior is as firm as it gets.
        return Prior(kappa=KAPPA[1], mean=round6(mean))
    # The variance of a Beta is m (1 - m) / (kappa + 1).
    kappa = mean * (1.0 - mean) / between - 1.0
    return Prior(kappa=round6(clamp(kappa, *KAPPA)), mean=round6(mean))


def _counts(belief: Belief) -> tuple[float, float]:
    """Return a belief's successes and failures, each signal counting as one observation."""
    good = total(each.value for each in belief.signals)
    return good, len(belief.signals) - good
