"""What a row may say, and what cannot be true."""

from math import inf, nan

import pytest

from evaluation.ope.rows import ObservationError, check
from tests.evaluation.ope.samples import row


@pytest.mark.parametrize("p", [0.0, -0.1, 1.0000001, nan, inf])
def test_refuses_a_propensity_outside_its_range(p):
    """What was done had a chance above 0, and of at most 1."""
    with pytest.raises(ObservationError, match=r"p .* is not in \(0, 1\]"):
        check(row(p=p))


@pytest.mark.parametrize("reward", [-0.1, 1.1, nan, inf])
def test_refuses_a_reward_outside_its_range(reward):
    """A reward is in [0, 1], or None."""
    with pytest.raises(ObservationError, match=r"reward .* is not in \[0, 1\]"):
        check(row(reward=reward))
    check(row(reward=None))


@pytest.mark.parametrize("side", ["target", "baseline", "logging"])
@pytest.mark.parametrize(
    ("odds", "why"),
    [
        ({}, "adds up to"),
        ({"a": 0.5}, "adds up to"),
        ({"a": 1.0, "b": 2e-6}, "adds up to"),
        ({"a": 1.5, "b": -0.5}, "a probability is in"),
        ({"a": nan}, "a probability is in"),
    ],
)
def test_refuses_odds_that_are_none(side, odds, why):
    """Odds are probabilities that add up to 1, and the error names whose they are."""
    with pytest.raises(ObservationError, match=f"{side} .*{why}"):
        check(row(**{side: odds}))


def test_lets_rounded_odds_pass():
    """Three thirds written with six decimals are whole enough."""
    check(row(target={"a": 0.333333, "b": 0.333333, "c": 0.333333}))


def test_refuses_a_logging_policy_that_contradicts_p():
    """The probability of the arm taken is told twice, and must be the same."""
    with pytest.raises(
        ObservationError, match=r"p is 0\.5, but logging gives 'a' 0\.9"
    ):
        check(row(p=0.5, logging={"a": 0.9, "b": 0.1}))


def test_refuses_a_chance_of_speaking_outside_its_range():
    """It is a probability as well."""
    with pytest.raises(ObservationError, match="respond_probability"):
        check(row(respond_probability=1.5))
