"""Drift: does a heuristic do now as it did before?

Its latest n fires are held against all before them. What was learnt until then is a
Beta(alpha, beta), by which the number of successes among n further fires is
beta-binomial; if the number seen lies outside the central interval of that, the world
has changed, or the heuristic's use of it. It is a predictive interval: it allows for what
is not known of the rate and for the chance of so few fires. A credible interval, of the
rate alone, would allow for the first only, and alarm in most sound lives. It is made of
products and quotients alone, so it is exact everywhere.
"""

from dataclasses import dataclass
from itertools import accumulate

from projections.folds.learning import confidence, counting
from schemas.state.evidence import Belief, Signal
from schemas.values.exact_math import round6, total
from schemas.values.settings import LearningSettings


@dataclass(frozen=True, slots=True)
class Drift:
    """Latest fires whose success lies outside what was to be expected of them."""

    fires: int
    successes: int
    expected: float
    """The rate of success that was learnt before them."""
    low: float
    """The predictive interval of their own rate, ends included."""
    high: float


def drift(belief: Belief, learning: LearningSettings) -> Drift | None:
    """Return how the latest fires differ from those before; None if they do not, or too few.

    There must have been as many fires before as there are now.
    """
    n = learning.drift_fires
    ends = _ends(belief.signals)
    if not n or len(ends) < 2 * n:
        return None
    latest = ends[len(ends) - n :]
    began = min(each.place for each in latest)
    before = [each for each in belief.signals if each.place < began]
    start = confidence.initial(belief.declared, learning)
    alpha, beta = counting.pseudo_counts(
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
    """Return the central interval of the successes among `n` fires, by Beta(alpha, beta)."""
    tail = (1.0 - level) / 2.0
    reached = list(accumulate(_beta_binomial(alpha, beta, n)))
    low = sum(1 for each in reached if each <= tail)
    high = sum(1 for each in reached if each < 1.0 - tail)
    return min(low, n), min(high, n)


def _beta_binomial(alpha: float, beta: float, n: int) -> list[float]:
    """Return the probability of each number of successes, from none to `n`."""
    # From one number to the next all but a few factors are the same. It begins where
    # most of the probability lies, so that nothing that matters is lost to underflow.
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
    """Return how each fire went, in order, by the strongest that was said of it."""
    told: dict[str, Signal] = {}
    for signal in signals:
        if signal.kind != "endorsement":
            held = told.get(signal.fire_id)
            if held is None or counting.is_stronger(signal, held):
                told[signal.fire_id] = signal
    return sorted(told.values(), key=lambda each: each.place)
