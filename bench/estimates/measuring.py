"""How often intervals and verdicts are wrong over many logs of one world."""

from collections.abc import Callable
from dataclasses import dataclass
from math import exp, lgamma, log

import numpy as np

from bench.estimates import people
from bench.estimates.people import Crowd
from bench.estimates.worlds import World, play, truth
from evaluation.ope.estimate import estimate_of
from evaluation.ope.results import DifferenceEstimate
from evaluation.ope.settings import EstimationSettings


@dataclass(frozen=True, slots=True, kw_only=True)
class Measured:
    """Coverage and errors over many logs."""

    world: str
    runs: int
    truth: float
    flip_observations: float
    """On average."""
    shown: float
    """The share of logs whose interval is shown; the others are withheld by a gate."""
    coverage: float | None
    """Of the intervals shown, the share that holds the truth."""
    width: float | None
    """How wide those are on average."""
    wrong: float
    """The share of all logs with a verdict of BETTER or WORSE that is not true."""
    found: float
    """The share of all logs with one that is."""


def measured(
    world: World, runs: int, *, seed: int = 7, resamples: int = 400
) -> Measured:
    """Play a world `runs` times; the seed is fixed, so the figures are repeatable."""
    # Seeded by the name, so that a world added or removed changes no other's figures.
    draws = np.random.default_rng([seed, *world.name.encode()])
    settings = EstimationSettings(resamples=resamples)
    found = [estimate_of(play(world, draws), settings).difference for _ in range(runs)]
    true = truth(world)
    # Coverage is conditional on being shown: what a gate withholds claims nothing.
    shown = [each.ci for each in found if not each.withheld and each.ci is not None]
    claims = [_claim(each) for each in found]
    right = _sign(true)
    return Measured(
        world=world.name,
        runs=runs,
        truth=true,
        flip_observations=float(np.mean([each.flip_observations for each in found])),
        shown=len(shown) / runs,
        coverage=_mean([low <= true <= high for low, high in shown]),
        width=_mean([high - low for low, high in shown]),
        # Of all logs, shown or not: withholding many must not hide wrong verdicts.
        wrong=sum(claim not in (0, right) for claim in claims) / runs,
        found=sum(claim == right != 0 for claim in claims) / runs,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class MeasuredCrowd:
    """Coverage and errors over many logs of several people."""

    world: str
    population: str
    runs: int
    shown: float
    """The share of logs whose interval is shown; the others are withheld by a gate."""
    coverage: float | None
    """Of the intervals shown, the share that holds the truth."""
    coverage_bound: float | None
    """The lower end of its exact 95 % interval."""
    width: float | None
    """How wide those are on average."""
    wrong: float
    """The share of all logs with a verdict that is not true: BETTER, WORSE or EQUIVALENT."""
    wrong_bound: float
    """The upper end of its exact 95 % interval."""
    claims: float
    """The share of all logs with one of these verdicts."""
    cautions: float
    """The share of all logs with a caution of their propensities, which are right."""


def measured_crowd(
    crowd: Crowd, runs: int, *, seed: int = 7, resamples: int = 400
) -> MeasuredCrowd:
    """Play a world of several people `runs` times, each against what is true of it."""
    draws = np.random.default_rng([seed, *crowd.name.encode()])
    settings = EstimationSettings(resamples=resamples, population=crowd.population)
    held: list[bool] = []
    widths: list[float] = []
    wrong = claims = cautions = 0
    for _ in range(runs):
        played = people.play(crowd, draws)
        found = estimate_of(played.columns, settings).difference
        if not found.withheld and found.ci is not None:
            low, high = found.ci
            held.append(low <= played.truth <= high)
            widths.append(high - low)
        claims += found.verdict in ("BETTER", "WORSE", "EQUIVALENT")
        wrong += is_wrong(found, played.truth)
        cautions += any(
            each.name.startswith("propensity") and each.status != "ok"
            for each in found.gates
        )
    return MeasuredCrowd(
        world=crowd.name,
        population=crowd.population,
        runs=runs,
        shown=len(held) / runs,
        coverage=_mean(held),
        coverage_bound=exact_bounds(sum(held), len(held))[0] if held else None,
        width=_mean(widths),
        wrong=wrong / runs,
        wrong_bound=exact_bounds(wrong, runs)[1],
        claims=claims / runs,
        cautions=cautions / runs,
    )


def is_wrong(found: DifferenceEstimate, true: float) -> bool:
    """Tell whether a verdict claims what is not so; a truth of 0 has no sign."""
    rounded = round(true, 9)
    match found.verdict:
        case "BETTER":
            return rounded <= 0.0
        case "WORSE":
            return rounded >= 0.0
        case "EQUIVALENT":
            return abs(rounded) > found.margin
        case _:
            return False


def exact_bounds(count: int, of: int, level: float = 0.95) -> tuple[float, float]:
    """Return the exact interval of a share (Clopper and Pearson, 1934), two-sided."""
    tail = (1.0 - level) / 2.0
    # The chance of at least so many rises with the share, that of at most so many falls.
    low = 0.0 if not count else _share(lambda p: _at_least(count, of, p) > tail)
    high = 1.0 if count == of else _share(lambda p: _at_most(count, of, p) < tail)
    return low, high


def _share(is_above: Callable[[float], bool]) -> float:
    """Return where a condition that holds above some share begins to, by bisection."""
    low, high = 0.0, 1.0
    for _ in range(60):
        middle = (low + high) / 2.0
        low, high = (low, middle) if is_above(middle) else (middle, high)
    return (low + high) / 2.0


def _at_most(count: int, of: int, p: float) -> float:
    return sum(_chance(each, of, p) for each in range(count + 1))


def _at_least(count: int, of: int, p: float) -> float:
    return sum(_chance(each, of, p) for each in range(count, of + 1))


def _chance(count: int, of: int, p: float) -> float:
    """Return the binomial probability of `count`."""
    ways = lgamma(of + 1) - lgamma(count + 1) - lgamma(of - count + 1)
    return exp(ways + count * log(p) + (of - count) * log(1.0 - p))


def _claim(found: DifferenceEstimate) -> int:
    return {"BETTER": 1, "WORSE": -1}.get(found.verdict, 0)


def _sign(value: float) -> int:
    return (value > 0.0) - (value < 0.0)


def _mean(values: list[bool] | list[float]) -> float | None:
    return float(np.mean(values)) if values else None
