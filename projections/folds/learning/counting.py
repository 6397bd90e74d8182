"""Counting: what the signals on a heuristic come to, as the pseudo-counts of a Beta.

Nothing here is kept: the fold of beliefs says which signals there are, and which of them
are settled.
"""

from collections.abc import Iterable
from math import inf

from projections.folds.learning import raters
from schemas.state.evidence import Signal, SignalKind
from schemas.values.exact_math import clamp, power
from schemas.values.settings import LearningSettings

DIRECT_VOTE = "direct"
"""The fire of a vote that is about the heuristic itself."""

_DECLARED = (0.05, 0.95)
_STRENGTH = {"implicit": 3, "explicit": 2, "ignored": 1, "endorsement": 0}
"""Which of a fire's signals says how it went."""
_JUDGEMENTS: tuple[SignalKind, ...] = ("implicit", "explicit")
"""Which signals say how one fire went."""


def prior_counts(declared: float, kappa: float) -> tuple[float, float]:
    """Return the pseudo-counts of a declared confidence: successes and failures."""
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
    """Return the pseudo-counts after `signals`, starting from `alpha` and `beta`.

    `approvals` is how many there were before these; more of them may count for less.
    What models' agreement adds is `endorsement`'s to say.
    """
    judged: set[str] = set()
    for signal in signals:
        if learning.first_signal and signal.kind in _JUDGEMENTS:
            if signal.is_second or signal.fire_id in judged:
                continue
            judged.add(signal.fire_id)
        weight, value = _counted(signal, learning)
        if is_approval(signal):
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
    """Return what of the successes models' agreement adds after `signals`, from `endorsed` on.

    It never exceeds what lifts the prior alone to the cap. So without a word of people
    or the world a confidence stays there; what they add comes on top.
    """
    room = _room(prior, learning.endorsement_cap)
    endorsed = min(room, endorsed)
    for signal in signals:
        endorsed *= learning.gamma
        if signal.kind == "endorsement":
            weight = learning.weights.endorsement * signal.similarity
            endorsed = min(room, endorsed + weight)
    return endorsed


def is_approval(signal: Signal) -> bool:
    """Tell whether a signal is that people, on the whole, approved."""
    return signal.kind == "explicit" and signal.value > 0.5


def is_stronger(one: Signal, other: Signal) -> bool:
    """Tell whether of two signals on one fire the first says how it went."""
    return _STRENGTH[one.kind] > _STRENGTH[other.kind]


def successes(signals: tuple[Signal, ...]) -> int:
    """Return how many fires went well, going by the stronger of each fire's signals."""
    stronger: dict[str, Signal] = {}
    for signal in signals:
        if signal.kind == "endorsement" or signal.is_second:
            continue
        held = stronger.get(signal.fire_id)
        if held is None or is_stronger(signal, held):
            stronger[signal.fire_id] = signal
    return sum(1 for signal in stronger.values() if signal.value > 0.5)


def _room(prior: tuple[float, float], cap: float) -> float:
    """Return what may be added to the prior's successes until its mean is the cap."""
    if cap >= 1.0:
        return inf
    return max(0.0, (cap * (prior[0] + prior[1]) - prior[0]) / (1.0 - cap))


def _counted(signal: Signal, learning: LearningSettings) -> tuple[float, float]:
    """Return the weight and the value that a signal counts with."""
    weights = learning.weights
    if signal.kind == "implicit":
        return weights.outcome, signal.value
    if signal.kind == "ignored":
        return weights.ignored, signal.value
    if signal.kind == "endorsement":
        return 0.0, signal.value
    by_path = learning.path_llm if signal.is_models else learning.path_heuristic
    weight = weights.explicit * (by_path if signal.fire_id != DIRECT_VOTE else 1.0)
    is_calibrated = learning.calibrate_raters and signal.bases
    if is_calibrated or (learning.feedback_half_life_s and signal.ages):
        return _shared(signal, weight, learning)
    return weight, signal.value


def _shared(
    signal: Signal, weight: float, learning: LearningSettings
) -> tuple[float, float]:
    """Votes of which each counts for its share: late ones, and what is always said, less."""
    shares = mean = 0.0
    for actor in sorted(signal.votes):
        vote, share = signal.votes[actor], 1.0
        if learning.calibrate_raters:
            share = raters.share(vote, signal.bases.get(actor, 0.0))
        if learning.feedback_half_life_s:
            age_s = signal.ages.get(actor, 0.0)
            share *= power(0.5, age_s / learning.feedback_half_life_s)
        shares += share
        mean += share * (vote + 1.0) / 2.0
    if not shares:
        return 0.0, signal.value
    return weight * shares / len(signal.votes), mean / shares
