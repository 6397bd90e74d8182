"""`thompson`: what was learnt is tried as often as it may be the best there is."""

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
        """Odds over the candidates, and the model or silence."""
        pool = ranked(context.candidates)
        otherwise = ask_or_reject(context)
        if not pool:
            return self.or_silence(context, otherwise)
        counts = tuple((each.alpha, each.beta) for each in pool)
        wins = best_of(counts, self.threshold(context))
        odds = dict(zip((each.arm for each in pool), wins, strict=True))
        likeliest = max(odds, key=odds.__getitem__)
        odds[otherwise.greedy] = max(1.0 - total(wins), 0.0)
        greedy = max(likeliest, otherwise.greedy, key=odds.__getitem__)
        drawn = Odds(arms=whole(odds, greedy), greedy=greedy, silence=otherwise.silence)
        return self.or_silence(context, drawn)


CELLS = 200
"""Into how many cells [0, 1] is divided."""

Counts = tuple[float, float]
"""Alpha and beta."""

_LEAST_COUNT = 0.001

_THREE = ((0.11270166537925831, 5 / 18), (0.5, 4 / 9), (0.8872983346207417, 5 / 18))
_FIVE = (
    (0.04691007703066802, 0.11846344252809454),
    (0.23076534494715845, 0.23931433524968324),
    (0.5, 0.28444444444444444),
    (0.7692346550528415, 0.23931433524968324),
    (0.953089922969332, 0.11846344252809454),
)
"""Gauss's places in [0, 1], with their weights."""


class Histogram(NamedTuple):
    """A belief, cell by cell."""

    mass: tuple[float, ...]
    below: tuple[float, ...]
    """What lies below each cell."""


@lru_cache(maxsize=16_384)
def best_of(beliefs: tuple[Counts, ...], threshold: float) -> tuple[float, ...]:
    """For each belief the probability that its draw is the highest and at the threshold.

    What these lack of one is the probability that all draws are below the threshold.
    """
    histograms = [histogram(alpha, beta) for alpha, beta in beliefs]
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
                    wins[i] += mass * all_reached / reached[i]
    return tuple(wins)


@lru_cache(maxsize=4096)
def histogram(alpha: float, beta: float) -> Histogram:
    """Return a Beta's cells; by logarithms, lest small densities vanish all together."""
    a, b = max(alpha, _LEAST_COUNT), max(beta, _LEAST_COUNT)
    logs = [
        [(a - 1.0) * risen + (b - 1.0) * fallen for risen, fallen in nodes]
        for nodes in _node_logs()
    ]
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
    return Histogram(tuple([mass / whole for mass in masses]), tuple(below))


def interval(alpha: float, beta: float, level: float) -> tuple[float, float]:
    """Between which a Beta lies with this probability, the tails alike; to four decimals."""
    known, tail = histogram(alpha, beta), (1.0 - level) / 2.0
    return _quantile(known, tail), _quantile(known, 1.0 - tail)


def _quantile(known: Histogram, share: float) -> float:
    """Return where so much lies below, even within a cell."""
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
    """x^(count-1) integrated over [0, 1], by what the nodes make of it."""
    by_nodes = total(
        weight * exp((count - 1.0) * log(place)) for place, weight in _THREE
    )
    return 1.0 / (count * by_nodes)


@lru_cache(maxsize=1)
def _node_logs() -> tuple[tuple[tuple[float, float], ...], ...]:
    """Log x and log (1 - x) at each cell's nodes."""
    return tuple(
        tuple(_logs((cell + place) / CELLS) for place, _ in _THREE)
        for cell in range(CELLS)
    )


def _logs(x: float) -> tuple[float, float]:
    return log(x), log(1.0 - x)
