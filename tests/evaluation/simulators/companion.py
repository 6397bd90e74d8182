"""A companion in four contexts with three arms, small enough to know the truth of.

Its values come from enumerating contexts and arms, not from playing. Sessions may share
a mood that moves every outcome in them.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from math import erf, exp, pi, sqrt

import numpy as np
from numpy.typing import NDArray

from evaluation.ope.rows import Observation

CONTEXTS = ("alarm", "routine", "smalltalk", "ambiguous")
ARMS = ("silent", "heuristic:usual", "llm:small")

HOW_OFTEN = np.array([0.1, 0.5, 0.3, 0.1])
SUCCESS = np.array(
    [[0.05, 0.85, 0.80], [0.50, 0.75, 0.70], [0.45, 0.40, 0.65], [0.30, 0.25, 0.60]]
)
"""The chance of success of each arm in each context."""

STRATEGIES: Mapping[str, tuple[int, int, int, int]] = {
    "heuristic_first": (1, 1, 1, 2),
    "always_llm": (2, 2, 2, 2),
    "tuned": (1, 1, 2, 2),
    "quiet": (1, 1, 0, 2),
}
"""The arm that each strategy takes in each context."""
BASELINE = "heuristic_first"


@dataclass(frozen=True, slots=True)
class Log:
    """What was played: one entry a decision in each array."""

    context: NDArray[np.int64]
    arm: NDArray[np.int64]
    propensity: NDArray[np.float64]
    reward: NDArray[np.float64]
    session: NDArray[np.int64]
    logging: NDArray[np.float64]
    """The whole logging distribution of each decision."""

    def is_played(self, strategy: str) -> NDArray[np.bool_]:
        """Where the arm taken is this strategy's."""
        matched: NDArray[np.bool_] = self.arm == chosen(strategy)[self.context]
        return matched

    def flips(self, strategy: str) -> NDArray[np.bool_]:
        """Where this strategy's arm is not the baseline's."""
        differs: NDArray[np.bool_] = chosen(strategy) != chosen(BASELINE)
        return differs.take(self.context)

    def observations(
        self, target: str, baseline: str = BASELINE
    ) -> Iterator[Observation]:
        """The same for the estimator."""
        target_odds = [{ARMS[arm]: 1.0} for arm in STRATEGIES[target]]
        baseline_odds = [{ARMS[arm]: 1.0} for arm in STRATEGIES[baseline]]
        for i, context in enumerate(self.context.tolist()):
            yield Observation(
                session=f"s{self.session[i]:05}",
                arm=ARMS[self.arm[i]],
                propensity=float(self.propensity[i]),
                reward=float(self.reward[i]),
                target=target_odds[context],
                baseline=baseline_odds[context],
                decision=f"d{i:07}",
                context=CONTEXTS[context],
                logging=dict(zip(ARMS, self.logging[i].tolist(), strict=True)),
            )


def chosen(strategy: str) -> NDArray[np.int64]:
    """The arm a strategy takes in each context."""
    return np.array(STRATEGIES[strategy])


def value(strategy: str, *, mood: float = 0.0) -> float:
    """The exact value of a strategy, sessions' moods having this spread."""
    arms = STRATEGIES[strategy]
    return sum(
        float(often) * _mean_clipped(float(SUCCESS[context, arms[context]]), mood)
        for context, often in enumerate(HOW_OFTEN)
    )


def difference(strategy: str, *, mood: float = 0.0) -> float:
    """The exact value of a strategy less the baseline's."""
    return value(strategy, mood=mood) - value(BASELINE, mood=mood)


def uniform_odds(rate: float) -> NDArray[np.float64]:
    """The baseline's arm, and a share of `rate` for every arm: odds by context."""
    odds = np.full((len(CONTEXTS), len(ARMS)), rate / len(ARMS))
    odds[np.arange(len(CONTEXTS)), chosen(BASELINE)] += 1.0 - rate
    return odds


def challenger_odds(challenger: str, rate: float) -> NDArray[np.float64]:
    """The baseline's arm, or with `rate` the challenger's where the two differ."""
    odds = np.zeros((len(CONTEXTS), len(ARMS)))
    contexts = np.arange(len(CONTEXTS))
    odds[contexts, chosen(BASELINE)] += 1.0 - rate
    odds[contexts, chosen(challenger)] += rate
    return odds


def play(
    draws: np.random.Generator,
    odds: NDArray[np.float64],
    *,
    sessions: int,
    length: int = 1,
    mood: float = 0.0,
    success: NDArray[np.float64] = SUCCESS,
) -> Log:
    """Play sessions of equal length under these logging odds."""
    n = sessions * length
    session = np.repeat(np.arange(sessions), length)
    context = draws.choice(len(CONTEXTS), size=n, p=HOW_OFTEN)
    own = odds[context]
    arm = (draws.random(n)[:, None] > np.cumsum(own, axis=1)).sum(axis=1)
    arm = np.minimum(arm, len(ARMS) - 1)
    moods = draws.normal(0.0, mood, sessions)[session] if mood else 0.0
    chance = np.clip(success[context, arm] + moods, 0.0, 1.0)
    reward = (draws.random(n) < chance).astype(np.float64)
    return Log(context, arm, own[np.arange(n), arm], reward, session, own)


def variance_of_ips(strategy: str, odds: NDArray[np.float64]) -> float:
    """Of one decision's IPS term, from the same enumeration."""
    weight, success = _by_context(strategy, odds)
    return float((HOW_OFTEN * weight * success).sum()) - value(strategy) ** 2


def variance_of_difference(
    strategy: str, odds: NDArray[np.float64], *, is_doubly_robust: bool
) -> float:
    """Of one decision's paired difference; the robust one knows every true chance."""
    contexts = np.arange(len(CONTEXTS))
    flips = chosen(strategy) != chosen(BASELINE)
    total = 0.0
    for name in (strategy, BASELINE):
        weight, success = _by_context(name, odds)
        noise = weight * success * ((1.0 - success) if is_doubly_robust else 1.0)
        total += float((HOW_OFTEN * flips * noise).sum())
    if is_doubly_robust:
        gain = SUCCESS[contexts, chosen(strategy)] - SUCCESS[contexts, chosen(BASELINE)]
        total += float((HOW_OFTEN * gain**2).sum())
    return total - difference(strategy) ** 2


def mean_squared_weight(strategy: str, odds: NDArray[np.float64]) -> float:
    """E[w²]: the effective sample is the real one divided by it."""
    weight, _ = _by_context(strategy, odds)
    return float((HOW_OFTEN * weight).sum())


def _by_context(
    strategy: str, odds: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    contexts = np.arange(len(CONTEXTS))
    arms = chosen(strategy)
    return 1.0 / odds[contexts, arms], SUCCESS[contexts, arms]


def _mean_clipped(mean: float, spread: float) -> float:
    """The mean of a normal number that is clipped to [0, 1]."""
    if spread == 0.0:
        return mean
    low, high = -mean / spread, (1.0 - mean) / spread
    inside = _normal(high) - _normal(low)
    return 1.0 - _normal(high) + mean * inside + spread * (_bell(low) - _bell(high))


def _normal(x: float) -> float:
    return 0.5 * (1.0 + erf(x / sqrt(2.0)))


def _bell(x: float) -> float:
    return exp(-x * x / 2.0) / sqrt(2.0 * pi)
