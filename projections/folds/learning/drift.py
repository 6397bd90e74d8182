"""Drift: whether a heuristic's latest fires differ from those before by more than chance.

The evidence before the latest n fires is a Beta(alpha, beta), under which the number of
successes among n more is beta-binomial. Drift is a count outside the central posterior
predictive interval, which allows for the uncertain rate and for the chance of n trials. A
credible interval of the rate alone lacks the second, and alarms on most sound heuristics
(ADR 0016). Products and quotients alone make it, so it is the same on every machine.
"""

from dataclasses import dataclass
from itertools import accumulate

from projections.folds.learning import confidence, signal_weights
from schemas.state.evidence import Belief, Signal
from schemas.values.exact_math import round6, total
from schemas.values.learning_settings import LearningSettings


@dataclass(frozen=True, slots=True)
class Drift:
    """Latest fires whose successes lie outside the predictive interval."""

    fires: int
    successes: int
    expected: float
    """The mean rate of success before them, 0 to 1."""
    low: float
    """The predictive interval of their rate, 0 to 1, both ends included."""
    high: float


def drift(belief: Belief, learning: LearningSettings) -> Drift | None:
    """Return how the latest `learning.drift_fires` fires differ from those before.

    None if they do not, or if fewer than as many fires came before them.
    """
    n = learning.drift_fires
    ends = _ends(belief.signals)
    if not n or len(ends) < 2 * n:
        return None
    latest = ends[len(ends) - n :]
    # By place and not by index: a signal on an early fire may have been given late.
    began = min(each.place for each in latest)
    before = [each for each in belief.signals if each.place < began]
    start = confidence.initial(belief.declared, learning)
    alpha, beta = signal_weights.pseudo_counts(
        belief.settled_alpha,
        belief.settled_beta,
        (start.settled_alpha, start.settled_beta),
        before,
        learning,
        belief.settled_approvals,
    )
    successes = sum(1 for each in latest if each.value > 0.5)
    low, high = interval(alpha, beta, n, learning.drift_level)
    if low <= successes <= high:
        return None
    expected = round6(alpha / (alpha + beta))
    return Drift(n, successes, expected, round6(low / n), round6(high / n))


def interval(alpha: float, beta: float, n: int, level: float) -> tuple[int, int]:
    """Return the central beta-binomial interval of successes among `n`, ends included.

    `level` is the probability that it covers at least, such as 0.95.
    """
    tail = (1.0 - level) / 2.0
    reached = list(accumulate(_beta_binomial(alpha, beta, n)))
    # The quantiles: as many counts as lie wholly in a tail are left out there.
    low = sum(1 for each in reached if each <= tail)
    high = sum(1 for each in reached if each < 1.0 - tail)
    # Rounding may leave the last cumulative sum just below 1.
    return min(low, n), min(high, n)


def _beta_binomial(alpha: float, beta: float, n: int) -> list[float]:
    """Return the probability of each number of successes, from none to `n`."""
    # By the ratio of neighbours, P(k + 1) / P(k), no gamma function is needed. It begins
    # where most of the probability lies, so that underflow loses only what is negligible.
    middle = round(n * alpha / (alpha + beta))
    odds = [0.0] * (n + 1)
    odds[middle] = 1.0
    for k in range(middle, n):
        up = (n - k) / (k + 1) * (alpha + k) / (beta + n - k - 1)
        odds[k + 1] = odds[k] * up
    for k in range(middle, 0, -1):
        down = k / (n - k + 1) * (beta + n - k) / (alpha + k - 1)
        odds[k - 1] = odds[k] * down
    whole = total(odds)
    return [each / whole for each in odds]


def _ends(signals: tuple[Signal, ...]) -> list[Signal]:
    """Return the highest-ranking signal of each fire, in order of place."""
    told: dict[str, Signal] = {}
    for signal in signals:
        if signal.kind != "endorsement":
            held = told.get(signal.fire_id)
            if held is None or signal_weights.is_stronger(signal, held):
                told[signal.fire_id] = signal
    return sorted(told.values(), key=lambda each: each.place)
