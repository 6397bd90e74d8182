"""How one event is decided: eight cases, from the event to what the receiver sees."""

from typing import Any

import pytest

from handlers.mind.stages import executive
from handlers.mind.strategies.heuristic_first import HeuristicFirst
from schemas.messages.asks import DeliveryAsked, ModelAsked
from schemas.messages.decisions import Completed, Decided, Dropped, HeuristicFired
from schemas.ports.decision_context import DecisionContext, DecisionResult
from tests import factories
from tests.factories import candidate, heuristic, pack
from tests.scenario import Scenario, decision_id, names, one, said

LLM = "llm:m@t@s"


def decide(**context: Any) -> DecisionResult:
    """What `heuristic_first` comes to in a context."""
    occasion = DecisionContext(
        **{
            "event_id": "e1",
            "event_text": "health low",
            "event_source": "game",
            "llm_arm": LLM,
            **context,
        }
    )
    choice = executive.choose(
        HeuristicFirst().decide(occasion), occasion, lambda _: 0.0
    )
    return executive.result(occasion, choice, "d1")


@pytest.mark.parametrize(
    ("context", "path", "matched"),
    [
        ({"candidates": (candidate("h", confidence=0.7),)}, "heuristic", "h"),
        ({"candidates": (candidate("h", confidence=0.69),)}, "llm", "h"),
        ({"candidates": ()}, "llm", None),
        ({"candidates": (candidate("h", eligible=False),)}, "llm", None),
        ({"candidates": (), "llm_arm": None}, "rejected", None),
        ({"candidates": (), "immediate": False}, "rejected", None),
        (
            {"candidates": (candidate("h", confidence=0.7),), "immediate": False},
            "heuristic",
            "h",
        ),
        (
            {
                "candidates": (candidate("h", confidence=0.7),),
                "personality_biases": {"confidence_threshold": 0.01},
            },
            "llm",
            "h",
        ),
    ],
    ids=str,
)
def test_various_contexts(
    context: dict[str, Any], path: str, matched: str | None
) -> None:
    """The path follows from candidates, threshold, model and immediacy alone."""
    result = decide(**context)

    assert (result.path, result.matched_heuristic_id) == (path, matched)


def test_a_double_of_the_model_makes_tests_deterministic() -> None:
    """The model is asked and answered through messages, so any words can stand in."""
    scenarios = [Scenario(model=factories.MODEL) for _ in range(2)]
    for scenario in scenarios:
        scenario.answer_model(scenario.sense("health low"), "Drink.")

    assert scenarios[0].mind.chain == scenarios[1].mind.chain
    assert one(scenarios[0].turns[-1], Completed).text == "Drink."


def test_heuristic_path_when_the_best_candidate_reaches_the_threshold() -> None:
    """It answers at once, in its own words and with its own confidence."""
    garden = pack(heuristic("low", "health low", "Drink.", confidence=0.7))
    turn = Scenario(garden, model=factories.MODEL).sense("health low")
    decided = one(turn, Decided)

    assert names(turn) == ["Decided", "HeuristicFired", "DeliveryAsked"]
    assert (decided.path, decided.text, decided.final) == ("heuristic", "Drink.", True)
    assert decided.matched_heuristic_id == garden.ids[0]
    assert decided.predicted_success == decided.prediction_confidence == 0.7
    assert decided.prompt_digest is None
    assert one(turn, HeuristicFired).mode == "shown"
    assert one(turn, DeliveryAsked).text == "Drink."


def test_llm_path_below_the_threshold_shows_the_candidates() -> None:
    """The model sees condition and action, and the person what the model says."""
    garden = pack(heuristic("low", "health low", "Drink.", confidence=0.69))
    scenario = Scenario(garden, model=factories.MODEL)
    turn = scenario.sense("health low")
    told = scenario.answer_model(turn, "Rest a while.")

    assert names(turn) == ["Decided", "HeuristicFired", "ModelAsked"]
    assert one(turn, Decided).path == "llm"
    assert (
        'when <data>"health low"</data>: <data>"Drink."</data>'
        in one(turn, ModelAsked).prompt
    )
    assert one(turn, HeuristicFired).mode == "suggested"
    completed = one(told, Completed)
    assert completed.text == one(told, DeliveryAsked).text == "Rest a while."
    assert completed.matched_heuristic_id == garden.ids[0]


@pytest.mark.parametrize(
    ("model", "immediate", "reason"),
    [
        (None, True, "llm_unavailable"),
        (None, False, "llm_unavailable"),
        (factories.MODEL, False, "not_immediate"),
    ],
    ids=str,
)
def test_rejected_path_without_a_model_or_not_immediate(
    model: Any, immediate: bool, reason: str
) -> None:
    """Nothing is said, nothing is asked, and the reason is on record."""
    garden = pack(heuristic("low", "health low", "Drink.", confidence=0.69))
    turn = Scenario(garden, model=model).sense("health low", immediate=immediate)
    decided = one(turn, Decided)

    assert names(turn) == ["Decided"]
    assert (decided.path, decided.silence, decided.final) == ("rejected", reason, True)
    assert (decided.text, decided.matched_heuristic_id) == (None, None)
    assert decided.predicted_success == decided.prediction_confidence == 0.0
    result = decide(llm_arm=None if model is None else LLM, immediate=immediate)
    assert result.metadata == {"reason": reason}
    assert result.response_id == ""


def test_fallback_path_when_the_model_returns_nothing() -> None:
    """The decision ends as dropped, with the reason; nothing is said."""
    scenario = Scenario(model=factories.MODEL)
    turn = scenario.sense("health low")
    told = scenario.fail_model(turn, "no_response")

    assert names(told) == ["Handled", "Dropped"]
    assert one(told, Dropped).reason == "llm_no_response"
    remembered = scenario.mind.decisions.get(decision_id(turn))
    assert remembered is not None
    assert remembered.path == "fallback"


@pytest.mark.parametrize("ceiling", [0.8, 0.5])
def test_the_models_own_confidence_is_capped(ceiling: float) -> None:
    """Both numbers, at the ceiling that is in force; below it they stand."""
    for said_of_itself, held in ((0.99, ceiling), (0.4, 0.4)):
        scenario = Scenario(model=factories.MODEL, confidence_ceiling=ceiling)
        told = scenario.answer_model(
            scenario.sense("health low"),
            "Drink.",
            predicted_success=said_of_itself,
            prediction_confidence=said_of_itself,
        )
        completed = one(told, Completed)
        assert completed.predicted_success == held
        assert completed.prediction_confidence == held


@pytest.mark.parametrize("strategy", ["always_llm", "random"])
def test_the_ceiling_holds_for_strategies_that_have_none(strategy: str) -> None:
    """It is then the settings'."""
    scenario = Scenario(model=factories.MODEL, strategy={"name": strategy})
    turn = next(
        turn
        for turn in (scenario.sense(f"x{n}") for n in range(20))
        if said(turn, ModelAsked)
    )
    told = scenario.answer_model(turn, "Drink.", predicted_success=1.0)

    assert one(told, Completed).predicted_success == 0.8


def test_no_candidates_are_fine() -> None:
    """The model is asked from scratch, with no word of earlier answers."""
    turn = Scenario(model=factories.MODEL).sense("health low")

    assert names(turn) == ["Decided", "ModelAsked"]
    assert "similar situations" not in one(turn, ModelAsked).prompt
    assert one(turn, Decided).matched_heuristic_id is None
