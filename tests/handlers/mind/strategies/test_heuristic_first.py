"""`heuristic_first`: trusted advice, else the model, else silence."""

from typing import Any

import pytest

from handlers.mind.strategies.heuristic_first import HeuristicFirst
from schemas.messages.decisions import Gate
from schemas.ports.decision_context import DecisionContext, HeuristicCandidate, Odds
from tests.factories import candidate

LLM = "llm:m@t@s"


def decide(
    *candidates: HeuristicCandidate, threshold: float = 0.7, **context: Any
) -> Odds:
    """The odds at an occasion with a model."""
    occasion = {"event_id": "e", "event_text": "x", "event_source": "game"}
    return HeuristicFirst(confidence_threshold=threshold).decide(
        DecisionContext(
            **{**occasion, "candidates": candidates, "llm_arm": LLM, **context}
        )
    )


@pytest.mark.parametrize(("confidence", "answers"), [(0.7, True), (0.699999, False)])
def test_the_threshold_is_exact(confidence: float, answers: bool) -> None:
    """0.7 passes 0.7."""
    best = candidate("a", confidence=confidence)
    odds = decide(best)

    assert odds.arms == (((best.arm if answers else LLM), 1.0),)
    assert odds.greedy == odds.arms[0][0]
    (gate,) = odds.gates
    assert (gate.passed, gate.value, gate.threshold) == (answers, confidence, 0.7)


def test_a_biased_threshold_is_exact_too() -> None:
    """0.53 + 0.17 is 0.7 here, though not in floats; the gate says by how much."""
    best = candidate("a", confidence=0.7)
    odds = decide(
        best, threshold=0.53, personality_biases={"confidence_threshold": 0.17}
    )

    assert 0.53 + 0.17 > 0.7
    assert odds.arms == ((best.arm, 1.0),)
    assert odds.gates == (
        Gate(name="confidence", passed=True, value=0.7, threshold=0.7, margin=0.0),
    )


@pytest.mark.parametrize(
    ("bias", "threshold"),
    [(-0.05, 0.65), (0.05, 0.75), (-1.0, 0.3), (1.0, 0.95), (0.0, 0.7)],
)
def test_bias_moves_the_threshold_within_safe_bounds(
    bias: float, threshold: float
) -> None:
    """However bold or shy the personality, some doubt and some trust remain."""
    odds = decide(candidate("a"), personality_biases={"confidence_threshold": bias})

    assert odds.gates[0].threshold == threshold


def test_only_the_first_is_tested() -> None:
    """A trusted second choice does not answer for the best match."""
    odds = decide(
        candidate("near", similarity=0.9, confidence=0.5),
        candidate("far", similarity=0.8, confidence=0.95),
    )

    assert odds.arms == ((LLM, 1.0),)


def test_silence_says_what_was_missing() -> None:
    """No model is said before not immediate."""
    assert decide(llm_arm=None).silence == "llm_unavailable"
    assert decide(llm_arm=None, immediate=False).silence == "llm_unavailable"
    assert decide(immediate=False).silence == "not_immediate"
    assert decide(immediate=False).arms == (("silent", 1.0),)


def test_the_configuration_is_told_in_full() -> None:
    """For the record of every decision."""
    assert HeuristicFirst().config == {
        "strategy": "heuristic_first",
        "confidence_threshold": 0.7,
        "max_candidates": 3,
        "llm_confidence_ceiling": 0.8,
    }
