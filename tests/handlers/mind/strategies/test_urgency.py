"""`urgency`: what may answer follows from how soon an answer is worth having."""

from typing import Any

import pytest

from handlers.mind.strategies.urgency import Urgency
from schemas.messages.arms import SILENT
from schemas.ports.decision_context import DecisionContext, HeuristicCandidate, Odds
from tests import factories
from tests.factories import candidate
from tests.scenario import Scenario

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
    """Base and bias less urgency times reduction, within the safe range.

    Where it is immediate, what is reasonable is enough.
    """
    context = DecisionContext(
        event_id="e",
        event_text="x",
        event_source="game",
        urgency=urgency,
        personality_biases={"confidence_threshold": bias},
    )

    assert Urgency().threshold(context) == (0.3 if urgency == 1.0 else threshold)


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


def test_immediately_a_better_match_goes_before_more_trust() -> None:
    """Similarity 0.9 with confidence 0.3 beats 0.6 with 0.7."""
    odds = decided(CLOSE, TRUSTED, urgency=1.0)

    assert odds.arms == ((CLOSE.arm, 1.0),)


def test_near_ties_of_similarity_go_by_confidence() -> None:
    """Within 0.03 the better trusted one answers."""
    rival = candidate("rival", similarity=0.88, confidence=0.9)

    assert decided(CLOSE, rival, urgency=0.9).greedy == rival.arm


@pytest.mark.parametrize(
    ("confidence", "answers"), [(0.45, True), (0.3, True), (0.299999, False)]
)
def test_immediately_any_reasonable_match_answers(
    confidence: float, answers: bool
) -> None:
    """Similarity .95 with confidence .45 answers at urgency .7; distrusted it does not."""
    near = candidate("near", similarity=0.95, confidence=confidence)

    assert decided(near, urgency=0.7).greedy == (near.arm if answers else LLM)


def test_soon_makes_a_weighted_choice() -> None:
    """By similarity squared times confidence, of all that reach the lowered threshold."""
    a = candidate("a", similarity=0.8, confidence=0.6)
    b = candidate("b", similarity=0.6, confidence=0.8)

    odds = decided(a, b, CLOSE, urgency=0.5)

    assert dict(odds.arms) == {a.arm: 0.571429, b.arm: 0.428571}
    assert (odds.greedy, odds.gates[0].threshold) == (a.arm, 0.55)


def test_soon_the_model_is_asked_where_nothing_is_trusted() -> None:
    """A near match is no reason to trust it; and what matches nothing is not drawn."""
    nothing = candidate("nothing", similarity=0.0, confidence=0.9)

    assert decided(CLOSE, urgency=0.5).arms == ((LLM, 1.0),)
    assert decided(nothing, urgency=0.5).arms == ((nothing.arm, 1.0),)


def test_the_weighted_choice_is_drawn_and_recorded() -> None:
    """The decision holds each arm's probability and the draw that took one."""
    garden = factories.pack(
        factories.heuristic("rest", "health is low", "Rest.", 0.8),
        factories.heuristic("eat", "health is very low", "Eat.", 0.8),
    )
    scenario = Scenario(garden, strategy={"name": "urgency"})
    taken = [
        scenario.wait(3600).decide(
            "health is low", urgency=0.5, salience={"novelty": 1.0}
        )
        for _ in range(30)
    ]
    drawn = [each for each in taken if each.draw is not None]
    probabilities = {each.probability for each in drawn}

    assert {each.text for each in drawn} == {"Rest.", "Eat."}
    assert len(probabilities) == 2
    assert sum(probabilities) == pytest.approx(1.0)


def test_a_threat_is_immediate_unless_its_urgency_is_declared() -> None:
    """A declared one counts, however threatening the event is."""
    garden = factories.pack(factories.heuristic("flee", "zombie near", "Flee.", 0.45))
    threat = {"threat": 0.95}
    scenario = Scenario(garden, strategy={"name": "urgency"})

    assert scenario.decide("zombie near", salience=threat).text == "Flee."
    calm = scenario.wait(3600).decide("zombie near", salience=threat, urgency=0.0)
    assert calm.text is None


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
