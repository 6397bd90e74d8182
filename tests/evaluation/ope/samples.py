"""Logged decisions for tests: few lines by hand, and many by lot."""

from itertools import count

import numpy as np
from hypothesis import strategies as some

from evaluation.ope.columns import columns_of
from evaluation.ope.rows import Observation

ARMS = ("a", "b", "c")


def row(arm="a", p=1.0, reward=1.0, target="b", baseline="a", session="", **more):
    """One decision; strategies that are an arm put all their odds on it."""
    return Observation(session, arm, p, reward, _odds(target), _odds(baseline), **more)


def columns(*rows):
    """Rows as they are laid out."""
    return columns_of(rows)


def explored(
    sessions=60, decisions=20, rate=0.5, gain=0.3, seed=1, known=1.0, flips=0.5
):
    """A log of a baseline `a` whose flips to `b` are played by lot; `b` gains."""
    draws = np.random.default_rng(seed)
    number = count()
    return [
        _drawn(draws, f"s{next(number) // decisions}", rate, gain, known, flips)
        for _ in range(sessions * decisions)
    ]


def _drawn(draws, session, rate, gain, known, flips):
    flip, other, good, seen = draws.random(4)
    is_flip, plays = flip < flips, flip < flips and other < rate
    p = 1.0 if not is_flip else rate if plays else 1.0 - rate
    reward = float(good < 0.4 + gain * plays) if seen < known else None
    return row("b" if plays else "a", p, reward, "b" if is_flip else "a", "a", session)


def _odds(strategy):
    return {strategy: 1.0} if isinstance(strategy, str) else strategy


@some.composite
def odds(draw):
    """Odds over the three arms, in eighths."""
    first = draw(some.integers(0, 8))
    second = draw(some.integers(0, 8 - first))
    eighths = dict(zip(ARMS, (first, second, 8 - first - second), strict=True))
    return {arm: n / 8 for arm, n in eighths.items()}


@some.composite
def rows(draw, least=1, is_known=False):
    """Any sound rows."""
    reward = some.sampled_from([0.0, 0.25, 1.0])
    return draw(
        some.lists(
            some.builds(
                Observation,
                session=some.sampled_from(["", "s1", "s2", "s3", "s4"]),
                arm=some.sampled_from(ARMS),
                propensity=some.sampled_from([1.0, 0.75, 0.5, 0.125]),
                reward=reward if is_known else reward | some.none(),
                target=odds(),
                baseline=odds(),
                context=some.sampled_from(["", "home"]),
            ),
            min_size=least,
            max_size=12,
        )
    )
