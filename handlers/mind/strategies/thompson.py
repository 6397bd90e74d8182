"""`thompson`: Thompson sampling over the candidates' Beta beliefs, with exact odds.

Each arm's probability of winning (W. R. Thompson, Biometrika 25, 1933) is integrated, not
sampled, so that it can be recorded as the propensity of the one keyed draw.
"""

from bisect import bisect_right
from functools import lru_cache
from math import prod
from typing import ClassVar, NamedTuple

from handlers.mind.strategies.exploration import whole
from handlers.mind.strategies.heuristic_first import Trusting, ask_or_reject
from handlers.mind.strategies.scoring import ranked
from schemas.ports.decision_context import DecisionContext, Odds
from schemas.values.exact_math import exp, log, total


class Thompson(Trusting):
    """Draw each candidate's worth from its Beta; the best answers if it is good enough.

    That is Thompson sampling: the highest draw answers if it reaches the threshold, else
    the model is asked. The odds are the exact probabilities of that, so nothing but the
    one recorded draw is left to chance. The likeliest arm counts as greedy.
    """

    name: ClassVar[str] = "thompson"
    version: ClassVar[int] = 1

    def decide(self, context: DecisionContext) -> Odds:
        """Return odds over the candidates, and the model or silence."""
        pool = ranked(context.candidates)
        otherwise = ask_or_reject(context)
        if not pool:
            return self.or_silence(context, otherwise)
        counts = tuple((each.alpha, each.beta) for each in pool)
        wins = best_of(counts, self.threshold(context))
        odds = dict(zip((each.arm for each in pool), wins, strict=True))
        likeliest = max(odds, key=odds.__getitem__)
        # All draws below the threshold; at least 0, for sums of floats may pass one.
        odds[otherwise.greedy] = max(1.0 - total(wins), 0.0)
        greedy = max(likeliest, otherwise.greedy, key=odds.__getitem__)
        drawn = Odds(arms=whole(odds, greedy), greedy=greedy, silence=otherwise.silence)
        return self.or_silence(context, drawn)


CELLS = 200
"""Into how many equal cells [0, 1] is divided; within one the density counts as flat."""

_Counts = tuple[float, float]
"""Alpha and beta of a Beta distribution."""

# A Beta needs counts above 0.
_LEAST_COUNT = 0.001

# Three points are exact for polynomials up to degree 5, within a cell of 1/200 enough.
_THREE = ((0.11270166537925831, 5 / 18), (0.5, 4 / 9), (0.8872983346207417, 5 / 18))
_FIVE = (
    (0.04691007703066802, 0.11846344252809454),
    (0.23076534494715845, 0.23931433524968324),
    (0.5, 0.28444444444444444),
    (0.7692346550528415, 0.23931433524968324),
    (0.953089922969332, 0.11846344252809454),
)
"""Nodes and weights of Gauss-Legendre quadrature with three and five points, on [0, 1]."""


class _Histogram(NamedTuple):
    """A Beta distribution in `CELLS` cells."""

    mass: tuple[float, ...]
    below: tuple[float, ...]
    """The probability below each cell."""


@lru_cache(maxsize=16_384)
def best_of(beliefs: tuple[_Counts, ...], threshold: float) -> tuple[float, ...]:
    """Return for each belief the probability that its draw is the highest and >= threshold.

    What these lack of one is the probability that all draws are below the threshold.
    """
    histograms = [histogram(alpha, beta) for alpha, beta in beliefs]
    # P(i wins) = integral of f_i(x) * product over j != i of F_j(x) dx above the threshold.
    wins = [0.0] * len(beliefs)
    for cell in range(int(threshold * CELLS), CELLS):
        # The threshold may lie within the first of them.
        start = max(threshold * CELLS - cell, 0.0)
        masses = [each.mass[cell] for each in histograms]
        below = [each.below[cell] for each in histograms]
        for place, weight in _FIVE:
            at = start + (1.0 - start) * place
            # How probable it is that each one's draw is no higher than this.
            reached = [low + at * mass for low, mass in zip(below, masses, strict=True)]
            all_reached = (1.0 - start) * weight * prod(reached)
            if all_reached > 0.0:
                for i, mass in enumerate(masses):
                    # The product of all, divided by the own one: linear in the number of
                    # beliefs.
                    wins[i] += mass * all_reached / reached[i]
    return tuple(wins)


@lru_cache(maxsize=4096)
def histogram(alpha: float, beta: float) -> _Histogram:
    """Return a Beta's cells; in logarithms, so that small densities do not underflow."""
    a, b = max(alpha, _LEAST_COUNT), max(beta, _LEAST_COUNT)
    logs = [
        [(a - 1.0) * risen + (b - 1.0) * fallen for risen, fallen in nodes]
        for nodes in _node_logs()
    ]
    # The largest becomes exp(0) = 1; the sum is normalised below in any case.
    highest = max(max(each) for each in logs)
    masses = [_mass(each, highest) for each in logs]
    # At its ends the density may be infinite: there x^(a-1) is integrated by itself.
    masses[0] *= _end_by_nodes(a)
    masses[-1] *= _end_by_nodes(b)
    whole = total(masses)
    below, held = [], 0.0
    for mass in masses:
        below.append(held / whole)
        held += mass
    return _Histogram(tuple([mass / whole for mass in masses]), tuple(below))


def interval(alpha: float, beta: float, level: float) -> tuple[float, float]:
    """Return the equal-tailed interval of a Beta at this level, to four decimals."""
    known, tail = histogram(alpha, beta), (1.0 - level) / 2.0
    return _quantile(known, tail), _quantile(known, 1.0 - tail)


def _quantile(known: _Histogram, share: float) -> float:
    """Return the quantile at `share`, linear within a cell."""
    cell = max(bisect_right(known.below, share) - 1, 0)
    mass = known.mass[cell]
    within = (share - known.below[cell]) / mass if mass else 0.0
    return round((cell + min(within, 1.0)) / CELLS, 4)


def _mass(logs: list[float], highest: float) -> float:
    return total(
        weight * exp(each - highest)
        for each, (_, weight) in zip(logs, _THREE, strict=True)
    )


def _end_by_nodes(count: float) -> float:
    """Return the exact integral of x^(count-1) over [0, 1] divided by its quadrature."""
    by_nodes = total(
        weight * exp((count - 1.0) * log(place)) for place, weight in _THREE
    )
    return 1.0 / (count * by_nodes)


@lru_cache(maxsize=1)
def _node_logs() -> tuple[tuple[tuple[float, float], ...], ...]:
    """Return log x and log(1 - x) at each cell's nodes; the same for every Beta."""
    return tuple(
        tuple(_logs((cell + place) / CELLS) for place, _ in _THREE)
        for cell in range(CELLS)
    )


def _logs(x: float) -> tuple[float, float]:
    return log(x), log(1.0 - x)
