"""Worlds of several people of known truth: what holds for them, and for others like them.

A baseline plays `a`; at its flips a challenger would play `b`, which gains with some people
and loses with others. Whatever is added to a chance is bounded, so that none is cut off at
0 or 1 and every truth is exact.
"""

from dataclasses import dataclass, replace
from math import sqrt
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from bench.estimates.worlds import A, B, certain, empty
from evaluation.ope.columns import Columns, Odds, halved
from evaluation.ope.people import People, Population

ARMS = ("a", "b")
SUCCESS = 0.5
UNIFORM = sqrt(3.0)
"""A uniform number in ± this has variance 1."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Crowd:
    """How a log of several people is generated, and so what is true of it."""

    name: str
    people: int
    sessions: int | tuple[int, int]
    """Of each person: so many, or any number between two."""
    population: Population = "these"
    """Whose truth it is held against."""
    length: int = 10
    """Decisions of a session, on average."""
    uneven: bool = False
    """Whether sessions' lengths are lognormal, with a deviation as large as the mean."""
    flips: float = 0.5
    """The share of decisions where the two differ."""
    played: float = 0.5
    """With which probability the challenger's arm is played there."""
    gain: float = 0.0
    """What a flip adds for a person, on average."""
    spread: float = 0.15
    """How far people deviate from that."""
    is_null: bool = False
    """Whether gains and losses add up to nothing for those who took part."""
    mood: float = 0.1
    """The spread of what a session adds to all of its outcomes."""
    unknown: float = 0.0
    """With which probability an outcome stays unknown, where it may."""
    hidden: Literal["any", "of b", "failures of b", "late"] = "any"
    """Which may: any, or those of the challenger's arm, its failures, or those in the second
    half of a session, where its gain turns into a loss."""


@dataclass(frozen=True, slots=True)
class Played:
    """One log, and what is true of it."""

    columns: Columns
    truth: float


def play(crowd: Crowd, draws: np.random.Generator) -> Played:
    """Generate one log."""
    person, gain = _people(crowd, draws)
    size = _sizes(crowd, len(person), draws)
    session = np.repeat(np.arange(len(person)), size)
    rows = len(session)
    flip = draws.random(rows) < crowd.flips
    arm = np.where(flip & (draws.random(rows) < crowd.played), B, A)
    mood = draws.uniform(-1.0, 1.0, len(person)) * UNIFORM * crowd.mood
    late = _is_late(session, size)
    gains = np.where(arm == B, gain[person[session]], 0.0)
    if crowd.hidden == "late":
        gains = np.where(late, -gains, gains)
    reward = draws.random(rows) < SUCCESS + mood[session] + gains
    hides = {
        "any": np.ones(rows, np.bool_),
        "of b": arm == B,
        "failures of b": (arm == B) & ~reward,
        "late": late,
    }[crowd.hidden]
    known = ~hides | (draws.random(rows) >= crowd.unknown)
    odds = np.where(arm == B, crowd.played, 1.0 - crowd.played)
    columns = replace(
        empty(),
        arms=ARMS,
        sessions=len(person),
        session=session,
        halves=halved(np.arange(len(person), dtype=np.uint64)),
        arm=arm,
        context=flip.astype(np.int64),
        propensity=np.where(flip, odds, 1.0),
        reward=(reward & known).astype(np.float64),
        known=known,
        target=certain(np.where(flip, B, A), arm),
        baseline=certain(np.full(rows, A), arm),
        logging=_logging(crowd, flip, arm),
        position=np.arange(rows),
        responded=np.full(rows, -1),
        respond_probability=np.full(rows, -1.0),
        people=People(
            household=person,
            stratum=person,
            persons=tuple(f"p{each:02}" for each in range(crowd.people)),
            agents=(),
        ),
    )
    # Sessions are as long with everybody, so people count by how many they had.
    here = float(gain[person].mean()) if crowd.population == "these" else crowd.gain
    # Sessions of an even length have as much of a gain as of a loss.
    return Played(columns, 0.0 if crowd.hidden == "late" else crowd.flips * here)


def _is_late(session: NDArray[np.int64], size: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Return whether each decision lies in the second half of its session."""
    place = np.arange(len(session)) - (np.cumsum(size) - size)[session]
    late: NDArray[np.bool_] = 2 * place >= size[session]
    return late


def _logging(crowd: Crowd, flip: NDArray[np.bool_], arm: NDArray[np.int64]) -> Odds:
    """Return the probability of each arm that could be drawn."""
    row, arms = np.nonzero(np.column_stack((np.ones_like(flip), flip)))
    drawn = np.where(arms == B, crowd.played, 1.0 - crowd.played)
    chance = np.where(flip[row], drawn, 1.0)
    return Odds(row, arms, chance, chance[arms == arm[row]])


def _people(
    crowd: Crowd, draws: np.random.Generator
) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Return whose each session is, and what a flip adds for each person."""
    least, most = (
        crowd.sessions
        if isinstance(crowd.sessions, tuple)
        else (crowd.sessions, crowd.sessions)
    )
    each = draws.integers(least, most + 1, crowd.people)
    person = np.repeat(np.arange(crowd.people), each)
    gain = draws.uniform(-1.0, 1.0, crowd.people) * UNIFORM * crowd.spread
    if crowd.is_null:
        gain -= gain[person].mean()
    return person, gain + crowd.gain


def _sizes(
    crowd: Crowd, sessions: int, draws: np.random.Generator
) -> NDArray[np.int64]:
    share = np.ones(sessions)
    if crowd.uneven:
        # A lognormal variable whose deviation is its mean, 1.
        deviation = sqrt(np.log(2.0))
        share = np.exp(draws.normal(-(deviation**2) / 2.0, deviation, sessions))
    return np.maximum(np.rint(share * crowd.length), 1.0).astype(np.int64)
