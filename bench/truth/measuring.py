"""One session measured: its decisions as rows, and the mean of their outcomes."""

import asyncio
from dataclasses import dataclass
from statistics import fmean

from bench.truth.playing import Game, played, settings_for
from evaluation.compare.rows import asked, observations
from evaluation.ope.rows import Observation
from replay.open_loop.asked import ask_open_loop
from replay.recording.outcomes import OutcomeSettings
from replay.recording.recorded_decisions import recorded_decisions
from replay.recording.source import Recording, of_file
from schemas.values.settings import ExplorationSettings, StrategySpec


@dataclass(frozen=True, slots=True)
class Pair:
    """Two strategies to be told apart."""

    name: str
    baseline: StrategySpec
    challenger: StrategySpec


@dataclass(frozen=True, slots=True)
class Explored:
    """A session under the baseline, with exploration of the challenger."""

    rows: tuple[Observation, ...]


@dataclass(frozen=True, slots=True)
class Lived:
    """A session under one strategy, without exploration."""

    total: float
    """The sum of the outcomes of its decisions."""
    known: int
    """How many of them are known."""

    @property
    def mean(self) -> float:
        """The mean outcome of a decision."""
        return self.total / self.known if self.known else 0.0


def explored(pair: Pair, seed: int, steps: int, rate: float) -> Explored:
    """Play the baseline, exploring where the challenger differs."""
    settings = settings_for(
        seed,
        strategy=pair.baseline,
        exploration=ExplorationSettings(
            scheme="challenger", rate=rate, challengers=(pair.challenger,)
        ),
    )
    recording = of_file(played(Game(seed, steps, settings)), f"seed {seed}")
    return Explored(asyncio.run(_rows(recording, pair)))


def lived(strategy: StrategySpec, seed: int, steps: int) -> Lived:
    """Play a strategy for real."""
    settings = settings_for(seed, strategy=strategy)
    recording = of_file(played(Game(seed, steps, settings)), f"seed {seed}")
    # The same rows as for an estimate, so that both go by one definition of an outcome.
    rows = asyncio.run(_rows(recording, Pair("itself", strategy, strategy)))
    values = [
        row.reward for row in rows if row.reward is not None and not row.is_censored
    ]
    return Lived(fmean(values) * len(values) if values else 0.0, len(values))


async def _rows(recording: Recording, pair: Pair) -> tuple[Observation, ...]:
    strategies = (pair.baseline, pair.challenger)
    decisions = asked([each async for each in ask_open_loop(recording, strategies)])
    recorded = await recorded_decisions(recording, OutcomeSettings())
    return tuple(observations(decisions, 1, recorded.outcomes))
