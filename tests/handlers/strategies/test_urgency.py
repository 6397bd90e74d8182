"""`urgency`: what may answer follows from how soon an answer is worth having."""

from typing import Any

import pytest

from handlers.strategies.urgency import Urgency
from schemas.context import DecisionContext, HeuristicCandidate, Odds
from schemas.decisions import SILENT
from tests.factories import candidate

LLM = "llm:m@t@s"
CLOSE = candidate("close", similarity=0.9, confidence=0.3)
TRUSTED = candidate("trusted", similarity=0.6, confidence=0.7)


def decided(
    *candidates: HeuristicCandidate,
    urgency: float,
    strategy: Urgency | None = None,
    **more: Any,
) -> Odds:
    """The odds at an occasion of this urgency."""
    context = DecisionContext(
        **{
            "event_id": "e",
            "event_text": "x",
            "event_source": "game",
            "candidates": candidates,
            "urgency": urgency,
            "llm_arm": LLM,
            **more,
        }
    )
    return (strategy or Urgency()).decide(context)


@pytest.mark.parametrize(
    ("urgency", "bias", "threshold"),
    [
        (0.0, 0.0, 0.7),
        (0.5, 0.0, 0.55),
        (1.0, 0.0, 0.4),
        (1.0, -0.3, 0.3),
        (0.0, 0.4, 0.95),
        (0.1, 0.0, 0.67),
    ],
)
def test_urgency_lowers_the_threshold(
    urgency: float, bias: float, threshold: float
) -> None:
    """Base and bias less urgency times reduction, within the safe range."""
    context = DecisionContext(
        event_id="e",
        event_text="x",
        event_source="game",
        urgency=urgency,
        personality_biases={"confidence_threshold": bias},
    )

    assert Urgency().threshold(context) == threshold


@pytest.mark.parametrize(
    ("urgency", "tier"),
    [
        (1.0, "immediate"),
        (0.7, "immediate"),
        (0.699999, "soon"),
        (0.3, "soon"),
        (0.299999, "not_urgent"),
        (0.0, "not_urgent"),
    ],
)
def test_tiers_have_exact_limits(urgency: float, tier: str) -> None:
    """Immediate from 0.7 on, soon from 0.3 on."""
    assert Urgency().tier(urgency) == tier


@pytest.mark.parametrize("urgency", [0.5, 1.0])
def test_a_better_match_goes_before_more_trust(urgency: float) -> None:
    """Similarity 0.9 with confidence 0.3 beats 0.6 with 0.7 where both reach the bar."""
    strategy = Urgency(confidence_threshold=0.45)

    odds = decided(CLOSE, TRUSTED, urgency=urgency, strategy=strategy)

    assert odds.arms == ((CLOSE.arm, 1.0),)


def test_near_ties_of_similarity_go_by_confidence() -> None:
    """Within 0.03 the better trusted one answers."""
    rival = candidate("rival", similarity=0.88, confidence=0.9)

    assert decided(CLOSE, rival, urgency=0.5).greedy == rival.arm


def test_immediately_any_trusted_match_answers() -> None:
    """Speed before quality: the first that reaches the threshold, not the first alone."""
    assert decided(CLOSE, TRUSTED, urgency=0.9).greedy == TRUSTED.arm
    assert decided(CLOSE, urgency=0.9).greedy == LLM


def test_soon_the_best_match_answers_or_the_model() -> None:
    """A worse match is no way out if the best is not trusted enough."""
    assert decided(CLOSE, TRUSTED, urgency=0.5).greedy == LLM


@pytest.mark.parametrize(
    ("candidates", "answers"),
    [
        ([("only", 0.9, 0.9)], "only"),
        ([("only", 0.75, 0.8)], "only"),
        ([("only", 0.749999, 0.9)], None),
        ([("only", 0.9, 0.799999)], None),
        ([("first", 0.9, 0.9), ("second", 0.8, 0.1)], "first"),
        ([("first", 0.9, 0.9), ("second", 0.800001, 0.1)], None),
        ([], None),
    ],
)
def test_without_urgency_only_a_singular_match_answers(
    candidates: list[tuple[str, float, float]], answers: str | None
) -> None:
    """It matches well, is well trusted, and leads by a margin; else the model is asked."""
    pool = [candidate(id_, match, trust) for id_, match, trust in candidates]
    arms = {each.heuristic_id: each.arm for each in pool}

    assert decided(*pool, urgency=0.1).greedy == arms.get(answers or "", LLM)


def test_what_was_tested_is_on_record() -> None:
    """Each gate with its value, threshold and margin."""
    gates = decided(candidate("a", 0.7, 0.9), urgency=0.0).gates

    assert [(gate.name, gate.passed, gate.margin) for gate in gates] == [
        ("confidence", True, 0.1),
        ("similarity", False, -0.05),
        ("lead", True, 0.6),
    ]


def test_without_a_model_it_is_silent() -> None:
    """Nothing singular, nobody to ask: the reason is the model's absence."""
    odds = decided(CLOSE, urgency=0.0, llm_arm=None)

    assert (odds.greedy, odds.silence) == (SILENT, "llm_unavailable")
