"""Signal weights: what outcomes and votes add to the counts of a Beta distribution.

Stateless: `confidence` holds the signals and says which of them are settled. Weights are
in observations, so that a signal of weight 1 counts as one Bernoulli trial.
"""

from collections.abc import Iterable
from math import inf

from projections.folds.learning import raters
from schemas.state.evidence import Signal, SignalKind
from schemas.values.exact_math import clamp, power
from schemas.values.learning_settings import LearningSettings

DIRECT_VOTE = "direct"
"""The fire id of votes on the heuristic itself rather than on one of its fires."""

# A prior of 0 or 1 has a pseudo-count of 0, by which a single author's claim would be
# certain before any evidence.
_DECLARED = (0.05, 0.95)
_STRENGTH = {"implicit": 3, "explicit": 2, "ignored": 1, "endorsement": 0}
"""Which of a fire's signals decides how it went: the one of the highest rank."""
_JUDGEMENTS: tuple[SignalKind, ...] = ("implicit", "explicit")
"""The signals of which `first_signal` counts only the first for each fire."""


def prior_counts(declared: float, kappa: float) -> tuple[float, float]:
    """Return alpha and beta of a declared confidence, which together weigh `kappa`."""
    c = clamp(declared, *_DECLARED)
    return kappa * c, kappa * (1.0 - c)


def pseudo_counts(
    alpha: float,
    beta: float,
    prior: tuple[float, float],
    signals: Iterable[Signal],
    learning: LearningSettings,
    approvals: int = 0,
) -> tuple[float, float]:
    """Return alpha and beta after `signals`, starting from `alpha` and `beta`.

    Before each signal of weight w and value v both are pulled toward the prior:
    alpha = prior + gamma (alpha - prior) + w v, and likewise beta with 1 - v.
    `approvals` is how many approving votes came before; `learning.repeat_decay` makes
    further ones count for less. Endorsements weigh nothing here: see `endorsed_successes`.
    """
    judged: set[str] = set()
    for signal in signals:
        # A skipped signal is no observation: it must not forget anything either.
        if learning.first_signal and signal.kind in _JUDGEMENTS:
            if signal.is_second or signal.fire_id in judged:
                continue
            judged.add(signal.fire_id)
        weight, value = _counted(signal, learning)
        if is_approval(signal):
            # Hyperbolic decay: the n-th approval weighs 1 / (1 + decay (n - 1)).
            weight /= 1.0 + learning.repeat_decay * approvals
            approvals += 1
        alpha = prior[0] + learning.gamma * (alpha - prior[0]) + weight * value
        beta = prior[1] + learning.gamma * (beta - prior[1])
        beta += weight * (1.0 - value)
    return alpha, beta


def endorsed_successes(
    endorsed: float,
    prior: tuple[float, float],
    signals: Iterable[Signal],
    learning: LearningSettings,
) -> float:
    """Return the successes that endorsements add after `signals`, starting from `endorsed`.

    They never exceed what lifts the prior's mean to `learning.endorsement_cap`, so that
    models alone cannot raise a confidence over it. Votes and outcomes come on top.
    """
    room = _room(prior, learning.endorsement_cap)
    # Settled under other settings, it may exceed the cap of these.
    endorsed = min(room, endorsed)
    for signal in signals:
        # Every signal forgets, as in `pseudo_counts`; here the prior's part is 0.
        endorsed *= learning.gamma
        if signal.kind == "endorsement":
            weight = learning.weights.endorsement * signal.similarity
            endorsed = min(room, endorsed + weight)
    return endorsed


def is_approval(signal: Signal) -> bool:
    """Tell whether a signal is votes that approve on average."""
    return signal.kind == "explicit" and signal.value > 0.5


def is_stronger(one: Signal, other: Signal) -> bool:
    """Tell whether the first of two signals on one fire outranks the second."""
    return _STRENGTH[one.kind] > _STRENGTH[other.kind]


def successes(signals: tuple[Signal, ...]) -> int:
    """Return how many fires succeeded, by the highest-ranking signal of each."""
    stronger: dict[str, Signal] = {}
    for signal in signals:
        # An endorsement has no fire, and a fire with a settled signal is counted already.
        if signal.kind == "endorsement" or signal.is_second:
            continue
        held = stronger.get(signal.fire_id)
        if held is None or is_stronger(signal, held):
            stronger[signal.fire_id] = signal
    return sum(1 for signal in stronger.values() if signal.value > 0.5)


def _room(prior: tuple[float, float], cap: float) -> float:
    """Return what may be added to the prior's successes until its mean is the cap.

    Solves (alpha + x) / (alpha + beta + x) = cap for x, and is 0 for a prior above it.
    """
    if cap >= 1.0:
        return inf
    return max(0.0, (cap * (prior[0] + prior[1]) - prior[0]) / (1.0 - cap))


def _counted(signal: Signal, learning: LearningSettings) -> tuple[float, float]:
    """Return the weight (in observations) and the value (0 to 1) of a signal."""
    weights = learning.weights
    if signal.kind == "implicit":
        return weights.outcome, signal.value
    if signal.kind == "ignored":
        return weights.ignored, signal.value
    if signal.kind == "endorsement":
        return 0.0, signal.value
    # How much a vote on a model's or on a heuristic's answer weighs; a direct vote judges
    # no answer, so neither factor applies.
    by_path = learning.path_llm if signal.is_models else learning.path_heuristic
    weight = weights.explicit * (by_path if signal.fire_id != DIRECT_VOTE else 1.0)
    weight *= signal.share
    is_calibrated = learning.calibrate_raters and signal.bases
    if is_calibrated or (learning.feedback_half_life_s and signal.ages):
        return _shared(signal, weight, learning)
    return weight, signal.value


def _shared(
    signal: Signal, weight: float, learning: LearningSettings
) -> tuple[float, float]:
    """Return weight and value of votes that count by shares.

    A late vote, and one that repeats what its actor always says, has a smaller share.
    The value is the mean weighted by shares, the weight that of their mean share.
    """
    shares = mean = 0.0
    # Sorted, since a sum of floats depends on its order.
    for actor in sorted(signal.votes):
        vote, share = signal.votes[actor], 1.0
        if learning.calibrate_raters:
            share = raters.share(vote, signal.bases.get(actor, 0.0))
        if learning.feedback_half_life_s:
            # Where the age is unknown the vote counts whole.
            age_s = signal.ages.get(actor, 0.0)
            share *= power(0.5, age_s / learning.feedback_half_life_s)
        shares += share
        mean += share * (vote + 1.0) / 2.0
    if not shares:
        return 0.0, signal.value
    return weight * shares / len(signal.votes), mean / shares
