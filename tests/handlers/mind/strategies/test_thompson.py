"""`thompson`: the odds are the probabilities of drawing the best from each belief."""

from typing import Any

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from numpy.polynomial.legendre import leggauss
from numpy.typing import NDArray
from scipy.stats import beta

from handlers.mind.strategies import thompson
from handlers.mind.strategies.thompson import Thompson
from schemas.messages.arms import SILENT
from schemas.ports.decision_context import DecisionContext, Odds
from tests.factories import candidate

PLACES, WEIGHTS = leggauss(500)
LLM = "llm:m@t@s"
COUNTS = ((15.0, 4.0), (9.0, 3.0), (2.0, 2.0))
PUBLISHED = (0.51563, 0.36071, 0.08332, 0.04035)
"""By a quadrature of 200 nodes, at a threshold of 0.7; the last is that none reaches it."""


def decided(counts: Any, threshold: float = 0.7, **more: Any) -> Odds:
    """The odds over candidates that are believed in so."""
    pool = tuple(
        candidate(f"h{place}", 0.9 - place / 100, a / (a + b), alpha=a, beta=b)
        for place, (a, b) in enumerate(counts)
    )
    context = DecisionContext(
        **{
            "event_id": "e",
            "event_text": "x",
            "event_source": "game",
            "candidates": pool,
            "llm_arm": LLM,
            **more,
        }
    )
    return Thompson(confidence_threshold=threshold).decide(context)


def by_quadrature(counts: Any, threshold: float) -> NDArray[np.float64]:
    """The same probabilities of the Betas themselves."""
    x = (1 - threshold) / 2 * PLACES + (1 + threshold) / 2
    densities = [beta.pdf(x, a, b) for a, b in counts]
    reached = [beta.cdf(x, a, b) for a, b in counts]
    return np.array(
        [
            WEIGHTS @ (density * np.prod(reached[:i] + reached[i + 1 :], axis=0))
            for i, density in enumerate(densities)
        ]
    ) * ((1 - threshold) / 2)


def test_the_odds_are_the_published_ones() -> None:
    """Three heuristics and the model, to within two in a hundred thousand."""
    odds = decided(COUNTS)
    by_id = [dict(odds.arms)[f"heuristic:h{place}@c0"] for place in range(3)]

    assert [*by_id, dict(odds.arms)[LLM]] == pytest.approx(PUBLISHED, abs=2e-5)
    assert odds.greedy == "heuristic:h0@c0"


def test_the_odds_are_those_of_drawing() -> None:
    """Two hundred thousand draws from the Betas take the arms as often, within 4 sigma."""
    count, threshold = 200_000, 0.6
    rng = np.random.default_rng(7)
    draws = np.array([rng.beta(a, b, count) for a, b in COUNTS])
    best = np.where(draws.max(axis=0) >= threshold, draws.argmax(axis=0), len(COUNTS))
    shares = np.bincount(best, minlength=4) / count
    odds = [*thompson.best_of(COUNTS, threshold)]
    odds.append(1 - sum(odds))

    sigma = np.sqrt(np.array(odds) * (1 - np.array(odds)) / count)
    assert (np.abs(shares - odds) < 4 * sigma).all()


@given(
    st.lists(st.tuples(st.floats(1, 60), st.floats(1, 30)), min_size=1, max_size=5),
    st.floats(0.3, 0.95),
)
@example([(60.0, 2.0), (60.0, 1.0), (29.0, 2.0), (40.0, 2.0)], 0.3)
def test_the_histograms_stand_for_the_betas(
    counts: list[tuple[float, float]], threshold: float
) -> None:
    """No probability is off by a percent; the sharpest together are, by two thirds of one."""
    found = thompson.best_of(tuple(counts), threshold)

    assert np.abs(found - by_quadrature(counts, threshold)).max() < 0.01


@given(st.floats(0, 5_000), st.floats(0, 5_000))
def test_a_histogram_is_one_of_a_belief(a: float, b: float) -> None:
    """However little or much is known, its mass is one and its mean the confidence."""
    found = thompson.histogram(a, b)
    a, b = max(a, 0.001), max(b, 0.001)
    mean = sum(
        mass * (cell + 0.5) / thompson.CELLS for cell, mass in enumerate(found.mass)
    )

    assert sum(found.mass) == pytest.approx(1.0, abs=1e-9)
    assert mean == pytest.approx(a / (a + b), abs=0.004)


@given(
    st.lists(
        st.tuples(st.floats(0.05, 600), st.floats(0.05, 600)), min_size=1, max_size=10
    ),
    st.floats(0.0, 1.0),
)
def test_the_odds_are_whole(counts: Any, threshold: float) -> None:
    """Millionths that add up to one, each arm's over zero, the greedy one the likeliest."""
    odds = decided(counts, threshold)

    assert sum(round(share * 1e6) for _, share in odds.arms) == 1_000_000
    assert all(share > 0.0 for _, share in odds.arms)
    assert dict(odds.arms)[odds.greedy] >= max(dict(odds.arms).values()) - 2e-6


def test_without_candidates_the_model_is_asked() -> None:
    """There is nothing to draw from."""
    assert decided(()).arms == ((LLM, 1.0),)


def test_without_a_model_it_may_be_silent() -> None:
    """What is not good enough is not said, and the reason is the model's absence."""
    odds = decided(((2.0, 3.0),), llm_arm=None)

    assert odds.greedy == SILENT
    assert odds.silence == "llm_unavailable"
    assert 0.0 < dict(odds.arms)["heuristic:h0@c0"] < 0.5


@pytest.mark.parametrize("counts", [(1.0, 1.0), (2.0, 2.0), (80.0, 20.0), (0.9, 6.0)])
def test_the_interval_of_a_beta(counts: tuple[float, float]) -> None:
    """As its quantiles have it, to the width of a cell."""
    ends = beta.ppf([0.025, 0.975], *counts)

    assert thompson.interval(*counts, 0.95) == pytest.approx(tuple(ends), abs=0.002)


@pytest.mark.parametrize("counts", [(1000.0, 0.001), (0.001, 0.001), (0.0, 3.0)])
def test_an_interval_at_the_ends_of_the_scale(counts: tuple[float, float]) -> None:
    """Beliefs without a failure, or nearly without any weight, have one as well."""
    low, high = thompson.interval(*counts, 0.95)

    assert 0.0 <= low <= high <= 1.0
