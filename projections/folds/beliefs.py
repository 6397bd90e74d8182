"""Confidence: what is believed of a heuristic, from its declared value and its evidence.

Prior alpha = kappa * c, beta = kappa * (1 - c) with the declared confidence c in
[0.05, 0.95]; each signal of weight w and value y adds w*y to alpha and w*(1-y) to beta;
confidence = alpha / (alpha + beta). With c = 0.5, kappa = 2 and weights of 1 that is the
Beta-Binomial (1 + successes) / (2 + fires). Forgetting gamma pulls what was learnt so far
toward the prior before each signal; gamma = 1 forgets nothing.
"""

from collections.abc import Iterable
from datetime import datetime
from functools import lru_cache

from immutables import Map
from msgspec.structs import replace

from projections.folds import recency
from schemas.numbers import clamp, round6
from schemas.reasons import Lifecycle
from schemas.recency import NEVER
from schemas.settings import LearningSettings
from schemas.state import Belief, Signal, SignalKind

SIGNAL_LIMIT = 512
"""How many signals of a heuristic can still change; older ones are settled."""

VOTER_LIMIT = 1_000
"""How many people's votes on one fire count."""

_DECLARED = (0.05, 0.95)


def initial(declared: float, learning: LearningSettings) -> Belief:
    """The belief before any evidence: the declared confidence."""
    return _initial(declared, learning.kappa)


@lru_cache(maxsize=1024)
def _initial(declared: float, kappa: float) -> Belief:
    alpha, beta = _prior(declared, kappa)
    return Belief(
        declared=declared,
        confidence=round6(alpha / (alpha + beta)),
        alpha=round6(alpha),
        beta=round6(beta),
        settled_alpha=alpha,
        settled_beta=beta,
        recent=NEVER,
    )


def fired(belief: Belief, at: datetime) -> Belief:
    """The belief after the heuristic's action was shown once more."""
    return replace(
        belief,
        fire_count=belief.fire_count + 1,
        last_fired=at,
        recent=recency.fired(belief.recent, at),
    )


def told(belief: Belief, fire_id: str, is_success: bool, at: datetime) -> Belief:
    """The belief that remembers when it was last told how a fire went."""
    return replace(belief, recent=recency.told(belief.recent, fire_id, is_success, at))


def observed(
    belief: Belief, fire_id: str, success: bool, place: int, learning: LearningSettings
) -> Belief:
    """The belief after the world showed how a fire ended; the first showing counts."""
    if _find(belief, fire_id, "implicit") is not None:
        return belief
    signal = Signal(
        place=place, fire_id=fire_id, kind="implicit", value=1.0 if success else 0.0
    )
    return _with_signal(belief, signal, learning)


def voted(
    belief: Belief,
    fire_id: str,
    actor: str,
    vote: float,
    place: int,
    learning: LearningSettings,
) -> Belief:
    """The belief after an actor's vote, which replaces that actor's earlier one."""
    index = _find(belief, fire_id, "explicit")
    votes = belief.signals[index].votes if index is not None else Map[str, float]()
    if actor in votes or len(votes) < VOTER_LIMIT:
        votes = votes.set(actor, vote)
    signal = Signal(
        place=belief.signals[index].place if index is not None else place,
        fire_id=fire_id,
        kind="explicit",
        value=_mean_on_unit(votes),
        votes=votes,
    )
    if index is None:
        return _with_signal(belief, signal, learning)
    signals = (*belief.signals[:index], signal, *belief.signals[index + 1 :])
    return _recounted(replace(belief, signals=signals), learning)


def relearnt(
    belief: Belief, before: LearningSettings, after: LearningSettings
) -> Belief:
    """The belief as its evidence makes it under other settings, from there on.

    Evidence that is settled keeps the weight that it had; all else is counted anew, so
    that going back to `before` gives the very belief that was.
    """
    if after == before:
        return belief
    start, fresh = initial(belief.declared, before), initial(belief.declared, after)
    settled = belief.settled_alpha, belief.settled_beta
    if settled == (start.settled_alpha, start.settled_beta):
        settled = fresh.settled_alpha, fresh.settled_beta
    belief = replace(belief, settled_alpha=settled[0], settled_beta=settled[1])
    return _recounted(belief, after)


def lifecycle(
    belief: Belief, frozen_by_hand: bool, learning: LearningSettings
) -> Lifecycle:
    """Where the heuristic stands in its life: frozen never fires, deprecated still does."""
    if frozen_by_hand or belief.confidence < learning.frozen_below:
        return "frozen"
    return "deprecated" if belief.confidence < learning.deprecated_below else "active"


def confidence(
    alpha: float,
    beta: float,
    prior: tuple[float, float],
    signals: Iterable[Signal],
    learning: LearningSettings,
) -> tuple[float, float]:
    """The pseudo-counts after `signals`, starting from `alpha` and `beta`."""
    for signal in signals:
        weight = _weight(signal.kind, learning)
        alpha = prior[0] + learning.gamma * (alpha - prior[0]) + weight * signal.value
        beta = prior[1] + learning.gamma * (beta - prior[1])
        beta += weight * (1.0 - signal.value)
    return alpha, beta


def _with_signal(belief: Belief, signal: Signal, learning: LearningSettings) -> Belief:
    belief = replace(belief, signals=(*belief.signals, signal))
    if len(belief.signals) > SIGNAL_LIMIT:
        belief = _settled(belief, learning)
    return _recounted(belief, learning)


def _settled(belief: Belief, learning: LearningSettings) -> Belief:
    prior = _prior(belief.declared, learning.kappa)
    alpha, beta = confidence(
        belief.settled_alpha, belief.settled_beta, prior, belief.signals[:1], learning
    )
    return replace(
        belief,
        settled_alpha=alpha,
        settled_beta=beta,
        signals=belief.signals[1:],
        settled_successes=belief.settled_successes + _successes(belief.signals[:1]),
    )


def _recounted(belief: Belief, learning: LearningSettings) -> Belief:
    alpha, beta = confidence(
        belief.settled_alpha,
        belief.settled_beta,
        _prior(belief.declared, learning.kappa),
        belief.signals,
        learning,
    )
    return replace(
        belief,
        confidence=round6(alpha / (alpha + beta)),
        alpha=round6(alpha),
        beta=round6(beta),
        success_count=belief.settled_successes + _successes(belief.signals),
    )


def _successes(signals: tuple[Signal, ...]) -> int:
    """How many fires went well, going by the stronger of each fire's signals."""
    stronger: dict[str, Signal] = {}
    for signal in signals:
        held = stronger.get(signal.fire_id)
        if held is None or signal.kind == "implicit":
            stronger[signal.fire_id] = signal
    return sum(1 for signal in stronger.values() if signal.value > 0.5)


def _prior(declared: float, kappa: float) -> tuple[float, float]:
    c = clamp(declared, *_DECLARED)
    return kappa * c, kappa * (1.0 - c)


def _weight(kind: SignalKind, learning: LearningSettings) -> float:
    weights = learning.weights
    return weights.outcome if kind == "implicit" else weights.explicit


def _find(belief: Belief, fire_id: str, kind: SignalKind) -> int | None:
    for index, signal in enumerate(belief.signals):
        if signal.fire_id == fire_id and signal.kind == kind:
            return index
    return None


def _mean_on_unit(votes: Map[str, float]) -> float:
    # Sorted, since a sum of floats depends on its order.
    total = sum(votes[actor] for actor in sorted(votes))
    return (total / len(votes) + 1.0) / 2.0
