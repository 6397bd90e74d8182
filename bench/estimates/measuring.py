"""How often intervals and verdicts are wrong over many logs of one world."""

from dataclasses import dataclass

import numpy as np

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


def _claim(found: DifferenceEstimate) -> int:
    return {"BETTER": 1, "WORSE": -1}.get(found.verdict, 0)


def _sign(value: float) -> int:
    return (value > 0.0) - (value < 0.0)


def _mean(values: list[bool] | list[float]) -> float | None:
    return float(np.mean(values)) if values else None
