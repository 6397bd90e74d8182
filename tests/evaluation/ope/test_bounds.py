"""Bounds: what holds whatever the log does not show."""

from itertools import product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as some

from evaluation.ope.columns import columns_of
from evaluation.ope.estimate import difference_bounds, value_bounds
from evaluation.ope.flips import contrasted
from tests.evaluation.ope.samples import ARMS, columns, row, rows


def bounds(*log):
    """Of target, baseline and difference."""
    found = columns_of(log)
    return (
        value_bounds(found, found.target),
        value_bounds(found, found.baseline),
        difference_bounds(found, contrasted(found)),
    )


def worlds(each):
    """Every way in which the arms could have turned out, at the extremes."""
    for outcome in product((0.0, 1.0), repeat=len(ARMS)):
        world = dict(zip(ARMS, outcome, strict=True))
        if each.reward is not None:
            world[each.arm] = each.reward
        yield world


def extremes(log, worth):
    """The least and the most of a mean over rows that can turn out any way."""
    found = [[worth(each, world) for world in worlds(each)] for each in log]
    return (
        pytest.approx(sum(map(min, found)) / len(log), abs=1e-12),
        pytest.approx(sum(map(max, found)) / len(log), abs=1e-12),
    )


def value(odds, world):
    """What odds are worth in a world."""
    return sum(odds.get(arm, 0.0) * world[arm] for arm in ARMS)


@settings(max_examples=60)
@given(rows())
def test_bounds_are_the_extremes_of_all_possible_worlds(log):
    """Trying every outcome of every arm finds nothing beyond, and reaches both ends."""
    target, baseline, difference = bounds(*log)

    assert target == extremes(log, lambda each, world: value(each.target, world))
    assert baseline == extremes(log, lambda each, world: value(each.baseline, world))
    assert difference == extremes(
        log, lambda each, world: value(each.target, world) - value(each.baseline, world)
    )


def test_bounds_of_a_log_without_exploration():
    """V in [E(Y match), E(Y match) + P(no match)], the difference in [-E(Y flip), …]."""
    log = [
        row(target="a", reward=1.0),
        row(reward=1.0),
        row(reward=1.0),
        row(reward=0.0),
    ]

    assert bounds(*log) == ((0.25, 1.0), (0.75, 0.75), (-0.5, 0.25))


def test_unknown_rewards_may_be_anything():
    """An outcome that is not known bounds nothing, not even of what was played."""
    assert bounds(row(reward=None)) == ((0.0, 1.0), (0.0, 1.0), (-1.0, 1.0))


@given(some.lists(some.sampled_from([0.0, 1.0, None]), min_size=1))
def test_no_difference_is_bounded_to_none(rewards):
    """Where both do the same, no outcome can make a difference."""
    log = [row(reward=reward, target="a") for reward in rewards]

    assert bounds(*log)[2] == (0.0, 0.0)


def test_without_rows_everything_is_possible():
    """If all rows were cut off, a value may be anything."""
    found = columns(row(is_censored=True))

    assert value_bounds(found, found.target) == (0.0, 1.0)
