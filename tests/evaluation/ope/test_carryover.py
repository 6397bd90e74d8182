"""Whether the carry-over test finds what lasts, and only that."""

from dataclasses import replace

import numpy as np
import pytest

from evaluation.ope.carryover import carry_over
from evaluation.ope.columns import columns_of
from evaluation.ope.rows import Observation
from tests.evaluation.simulators import annoyance
from tests.evaluation.simulators.annoyance import at_random

ALWAYS = at_random(1.0)


def columns(log):
    """The log as the estimator lays it out; what the target is does not matter here."""
    return columns_of(log.observations(ALWAYS))


def found_in(laid_out):
    """The test of a log that allows one."""
    found = carry_over(laid_out)
    assert found is not None
    return found


def rate_found(chance, *, runs, is_lasting):
    """How many of so many runs of 300 sessions are significant; one layout for all."""
    draws = np.random.default_rng([round(100 * chance), is_lasting])
    logger = at_random(chance)
    layout = columns(annoyance.play(draws, logger, sessions=300))
    found = 0
    for _ in range(runs):
        log = annoyance.play(draws, logger, sessions=300, is_lasting=is_lasting)
        played = replace(
            layout,
            reward=log.reward.ravel(),
            responded=log.answered.ravel().astype(np.int64),
        )
        found += found_in(played).is_significant
    return found / runs


@pytest.mark.parametrize(("chance", "power"), [(0.5, 0.95), (0.9, 0.95), (0.95, 0.85)])
def test_finds_annoyance_that_lasts(chance, power):
    """100 runs a logger: at even odds or nineteen to one, nearly all are found."""
    assert rate_found(chance, runs=100, is_lasting=True) >= power


@pytest.mark.parametrize("chance", [0.5, 0.9, 0.95])
def test_false_alarms(chance):
    """600 runs a logger without any carry-over: one in twenty is called one."""
    assert 0.02 <= rate_found(chance, runs=600, is_lasting=False) <= 0.08


def test_tells_the_direction():
    """Having spoken lowers the next outcome by what the annoyance takes from it."""
    log = annoyance.play(np.random.default_rng(1), at_random(0.5), sessions=300)

    found = found_in(columns(log))
    # Half of the next decisions speak, and lose .75 * .16 by the one before.
    assert found.effect == pytest.approx(-0.5 * 0.75 * 0.16, abs=3 * found.se)
    assert (found.pairs, found.sessions) == (300 * 19, 300)


def test_the_next_outcome_alone_counts():
    """The effect of two decisions worked by hand: +2 and -2 times the outcome's rest."""
    rows = [
        Observation(
            session=f"s{i:02}",
            arm="heuristic:a" if spoke else "silent",
            propensity=0.5,
            reward=outcome,
            target={"silent": 1.0},
            baseline={"silent": 1.0},
            position=position,
            responded=bool(spoke),
            respond_probability=0.5,
        )
        for i, spoke in enumerate([1, 0] * 15)
        for position, outcome in ((0, None), (1, 0.8 if spoke else 0.6))
    ]

    found = found_in(columns_of(rows))
    assert found.effect == pytest.approx(0.2)
    assert found.is_significant


def test_lines_in_another_order_give_the_same_bits():
    """Only positions say what came first."""
    rows = list(
        annoyance.play(
            np.random.default_rng(2), at_random(0.5), sessions=40
        ).observations(ALWAYS)
    )

    assert carry_over(columns_of(rows)) == carry_over(columns_of(rows[::-1]))


@pytest.mark.parametrize(
    "missing",
    [
        {"responded": None},
        {"respond_probability": None},
        {"respond_probability": 1.0},
        {"position": 0},
        {"reward": None},
        {"session": ""},
    ],
    ids=lambda missing: "{}={}".format(*next(iter(missing.items()))),
)
def test_says_when_it_cannot_be_tested(missing):
    """Without order, draws or outcomes there is no answer, rather than a calm one."""
    log = annoyance.play(np.random.default_rng(3), at_random(0.5), sessions=40)
    rows = [replace(row, **missing) for row in log.observations(ALWAYS)]

    assert carry_over(columns_of(rows)) is None


def test_too_few_of_one_side_cannot_be_tested():
    """A handful of silences tells nothing about what silence leads to."""
    log = annoyance.play(np.random.default_rng(4), at_random(0.98), sessions=30)

    assert carry_over(columns(log)) is None
