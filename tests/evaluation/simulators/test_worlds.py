"""The whole estimate in worlds where it is hard: rare outcomes, few or uneven sessions.

Runs are independent, with fixed seeds; `python -m bench.estimates` is the larger study.
"""

from functools import cache

import pytest

from bench.estimates.measuring import Measured, measured
from bench.estimates.worlds import World
from evaluation.ope.planning import challenger, plan, uniform

RUNS = 150
ALIKE = (
    World(name="challenger .3"),
    World(name="twenty sessions", sessions=20),
    World(name="twenty sessions with moods", sessions=20, mood=0.15),
    World(name="uniform .5", uniform=0.5),
    World(name="uneven sizes", sizes="pareto", length=20),
    World(name="rare, and played often", success=0.06),
    World(name="failures rare, and played often", success=0.94),
)
"""Flips change nothing in these."""
UNLIKE = (
    World(name="more in long sessions", sizes="lognormal", by_size=0.15),
    World(name="more in very long sessions", sizes="pareto", by_size=0.1, length=20),
    World(name="a loss of nearly all", gain=-0.45, uniform=0.3),
    World(name="a gain where little succeeds", success=0.1, gain=0.2),
)
RARE = (
    World(name="success .02", success=0.02, uniform=0.3),
    World(name="success .05", success=0.05, uniform=0.3),
    World(name="failure .05", success=0.95, uniform=0.3),
)


@cache
def found(world: World) -> Measured:
    """What so many logs of a world came to."""
    return measured(world, RUNS, resamples=200)


def covered(worlds: tuple[World, ...]) -> float:
    """The share of the intervals shown, in all the worlds, that hold the truth."""
    each = [found(world) for world in worlds]
    held = sum((one.coverage or 0.0) * one.shown for one in each)
    return held / sum(one.shown for one in each)


@pytest.mark.parametrize("worlds", [ALIKE, UNLIKE], ids=["alike", "unlike"])
def test_intervals_hold_the_truth(worlds):
    """.93 or more of all that are shown; in no world less than chance explains."""
    assert covered(worlds) >= 0.93
    for world in worlds:
        assert (found(world).coverage or 0.0) >= 0.89, world.name


def test_verdicts_are_seldom_false():
    """Where flips change nothing, BETTER or WORSE is said in .06 of logs at most."""
    wrong = [found(world).wrong for world in ALIKE]

    assert sum(wrong) / len(wrong) <= 0.06
    assert max(wrong) <= 0.1


@pytest.mark.parametrize("world", RARE, ids=lambda world: world.name)
def test_what_is_too_rare_is_not_told(world):
    """Sixty flip observations, and one to three of the rarer outcome: no interval."""
    assert found(world).flip_observations == pytest.approx(60, abs=2)
    assert found(world).shown == 0.0
    assert found(world).wrong == 0.0


def test_what_is_there_is_found():
    """A large gain or loss is told in nearly every log."""
    assert found(UNLIKE[2]).found > 0.95
    assert found(UNLIKE[3]).found > 0.95


PLANNED = (
    (0.2, challenger(0.3), 40),
    (0.2, challenger(0.5), 20),
    (0.25, uniform(0.3), 60),
)


def test_a_plan_finds_what_it_is_made_for_four_times_in_five():
    """As many sessions as planned, judged by the whole estimate, gates and all."""
    found = []
    for effect, scheme, length in PLANNED:
        planned = plan(
            effect, scheme, flip_rate=0.25, decisions_per_session=float(length)
        )
        world = World(
            name=f"planned for {effect} by {scheme.name}",
            sessions=planned.sessions,
            length=length,
            success=0.4,
            gain=effect,
            uniform=0.3 if scheme.name.startswith("uniform") else None,
            challenger=scheme.challenger,
        )
        found.append(measured(world, RUNS, resamples=200).found)

    assert sum(found) / len(found) == pytest.approx(0.8, abs=0.03)
    assert min(found) >= 0.72
