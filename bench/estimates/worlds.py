"""Worlds of known truth, in which outcomes are rare, sessions few or of uneven size.

A baseline plays `a`; at its flips a challenger would play `b`. What is drawn is laid out
as the estimator's columns, without a row object for each decision: it takes thousands of
logs to see how often an interval is wrong.
"""

from dataclasses import dataclass, replace
from functools import cache
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from evaluation.ope.columns import Columns, Odds, columns_of, halved
from evaluation.ope.rows import Observation

A, B = 0, 1
ARMS = ("a", "b", "c")

PARETO_SHAPE, PARETO_MOST = 1.5, 25.0
"""Of sessions' sizes: a variance without bound but for the cut at 25 times the mean."""

# The truth has no closed form where chances are clipped at 0 and 1; with so many sessions
# its own error is far below that of one log's estimate.
_TRUTH_SESSIONS = 400_000


@dataclass(frozen=True, slots=True, kw_only=True)
class World:
    """How a log is generated, and so what is true of it."""

    name: str
    sessions: int = 60
    length: int = 40
    """Decisions of a session: of each, or on average."""
    sizes: Literal["even", "lognormal", "pareto"] = "even"
    flips: float = 0.25
    """The share of decisions where the two differ."""
    success: float = 0.5
    """Of the baseline's arm."""
    gain: float = 0.0
    """What a flip adds to it."""
    mood: float = 0.0
    """The spread of what a session as a whole adds to each of its outcomes."""
    by_size: float = 0.0
    """What a flip adds besides in a session e times as long as usual."""
    uniform: float | None = None
    """The share of exploration over three arms everywhere; None: challenger exploration."""
    challenger: float = 0.3
    """With which probability the challenger's arm is then played at a flip."""

    @property
    def odds(self) -> NDArray[np.float64]:
        """Of each arm where exploration has its say."""
        if self.uniform is None:
            return np.array([1.0 - self.challenger, self.challenger, 0.0])
        share = self.uniform / len(ARMS)
        return np.array([1.0 - 2.0 * share, share, share])


@cache
def truth(world: World) -> float:
    """Return the true difference per decision: exact, or simulated where sizes matter."""
    if not world.by_size:
        return world.flips * world.gain
    draws = np.random.default_rng(1)
    size = _sizes(replace(world, sessions=_TRUTH_SESSIONS), draws)
    # Decisions are averaged, not sessions: a long session counts for its length.
    chance = np.clip(world.success + _gain(world, size), 0.0, 1.0)
    return world.flips * float((size * (chance - world.success)).sum() / size.sum())


def play(world: World, draws: np.random.Generator) -> Columns:
    """Generate one log."""
    size = _sizes(world, draws)
    session = np.repeat(np.arange(world.sessions), size)
    flip = draws.random(len(session)) < world.flips
    explored = flip if world.uniform is None else np.ones_like(flip)
    # Draw an arm by the inverse of the cumulated odds, all decisions at once.
    lots = np.searchsorted(
        np.cumsum(world.odds)[:-1], draws.random(len(session)), "right"
    )
    arm = np.where(explored, lots, A)
    gain = np.where(flip & (arm == B), _gain(world, size)[session], 0.0)
    mood = draws.normal(0.0, world.mood, world.sessions) if world.mood else np.zeros(1)
    chance = world.success + gain + (mood[session] if world.mood else 0.0)
    reward = (draws.random(len(session)) < np.clip(chance, 0.0, 1.0)).astype(np.float64)
    return replace(
        empty(),
        arms=ARMS,
        sessions=world.sessions,
        session=session,
        halves=halved(np.arange(world.sessions, dtype=np.uint64)),
        arm=arm,
        context=flip.astype(np.int64),
        # Where nothing was explored the logging strategy is deterministic.
        propensity=np.where(explored, world.odds[arm], 1.0),
        reward=reward,
        known=np.ones_like(flip),
        target=certain(np.where(flip, B, A), arm),
        baseline=certain(np.full(len(session), A), arm),
        position=np.arange(len(session)),
        responded=np.full(len(session), -1),
        respond_probability=np.full(len(session), -1.0),
    )


def _gain(world: World, size: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return what a flip adds in sessions of these sizes."""
    added: NDArray[np.float64] = np.log(size / world.length)
    return world.gain + world.by_size * added


def _sizes(world: World, draws: np.random.Generator) -> NDArray[np.int64]:
    """Draw the number of decisions of each session."""
    share = np.ones(world.sessions)
    if world.sizes == "lognormal":
        # The mean of exp(N(m, s²)) is exp(m + s²/2), so m = -1/2 with s = 1 keeps it at 1.
        share = np.exp(draws.normal(-0.5, 1.0, world.sessions))
    if world.sizes == "pareto":
        heavy = 1.0 + draws.pareto(PARETO_SHAPE, world.sessions)
        # A Pareto variable of shape a has the mean a / (a - 1): divided by that it is 1,
        # before the cut.
        share = np.minimum(heavy * (1.0 - 1.0 / PARETO_SHAPE), PARETO_MOST)
    # A session without a decision would be none.
    return np.maximum(np.rint(share * world.length), 1.0).astype(np.int64)


def certain(chosen: NDArray[np.int64], taken: NDArray[np.int64]) -> Odds:
    """Return the odds of a strategy that is certain of its arm everywhere."""
    rows = np.arange(len(chosen))
    return Odds(rows, chosen, np.ones(len(rows)), (chosen == taken).astype(np.float64))


@cache
def empty() -> Columns:
    """Return columns of one row, for the defaults of all that a world does not set."""
    return columns_of([Observation("", "a", 1.0, 0.0, {"a": 1.0}, {"a": 1.0})])
