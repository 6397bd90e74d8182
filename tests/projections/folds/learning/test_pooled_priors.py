"""Priors: what heuristics of one origin turned out to be worth."""

from random import Random

import pytest

from projections.folds.learning import confidence
from projections.folds.learning.beliefs import KAPPA, pooled
from schemas.state.evidence import Belief
from tests.factories import plain_learning


def fired(good: int, bad: int) -> Belief:
    """What is believed of a heuristic after so many fires of each end."""
    held, learning = confidence.initial(0.5, plain_learning()), plain_learning()
    for place in range(good + bad):
        held = confidence.observed(held, f"f{place}", place < good, place, learning)
    return held


def test_too_few_say_nothing() -> None:
    """Also those that never fired."""
    assert pooled([fired(3, 1), fired(2, 2), fired(0, 0)]) is None


def test_heuristics_that_are_alike_make_a_weighty_prior() -> None:
    """What they have in common is known well."""
    prior = pooled([fired(7, 3) for _ in range(5)])

    assert prior is not None
    assert (prior.mean, prior.kappa) == (0.7, KAPPA[1])


def test_heuristics_that_are_nothing_alike_make_a_light_one() -> None:
    """Some always work, some never."""
    prior = pooled([fired(20, 0), fired(0, 20), fired(20, 0), fired(0, 20)])

    assert prior is not None
    assert (prior.mean, prior.kappa) == (0.5, KAPPA[0])


def test_the_prior_that_made_them_is_found_again() -> None:
    """Of two hundred heuristics drawn from Beta(6, 2), each with thirty fires."""
    random = Random(4)
    made = []
    for _ in range(200):
        rate = random.betavariate(6.0, 2.0)
        good = sum(random.random() < rate for _ in range(30))
        made.append(fired(good, 30 - good))
    prior = pooled(made)

    assert prior is not None
    assert prior.mean == pytest.approx(0.75, abs=0.03)
    assert prior.kappa == pytest.approx(8.0, abs=2.5)
