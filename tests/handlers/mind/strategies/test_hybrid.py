"""`hybrid`: when a race is run, and what it is recorded as."""

from typing import Any

import pytest

from handlers.mind.stages import executive
from handlers.mind.strategies import exploration
from handlers.mind.strategies.registry import (
    UnknownStrategyError,
    create_decision_strategy,
)
from handlers.mind.strategies.urgency import Hybrid
from schemas.messages.arms import SILENT, race_arm, race_deadline_ms
from schemas.ports.decision_context import DecisionContext, Odds
from schemas.values.settings import StrategySpec
from tests import factories
from tests.factories import candidate

LLM = "llm:m@t@s"
TRUSTED = candidate("a", confidence=0.7)
DOUBTED = candidate("a", confidence=0.69)
RACE = f"race:{LLM}+{TRUSTED.arm}@400"


def context(**changes: Any) -> DecisionContext:
    """An occasion with a trusted candidate and a model."""
    return DecisionContext(
        **{
            "event_id": "e",
            "event_text": "x",
            "event_source": "game",
            "candidates": (TRUSTED, candidate("b", similarity=0.5)),
            "llm_arm": LLM,
            **changes,
        }
    )


@pytest.mark.parametrize(
    ("changes", "arm"),
    [
        ({}, RACE),
        ({"candidates": (DOUBTED,)}, LLM),
        ({"candidates": ()}, LLM),
        ({"llm_arm": None}, TRUSTED.arm),
        ({"llm_arm": None, "candidates": (DOUBTED,)}, SILENT),
        ({"immediate": False}, TRUSTED.arm),
        ({"immediate": False, "candidates": ()}, SILENT),
        ({"urgency": 0.899999}, RACE),
        ({"urgency": exploration.CRITICAL_URGENCY}, TRUSTED.arm),
        ({"urgency": 1.0, "candidates": (DOUBTED,)}, LLM),
        ({"salience": {"threat": exploration.CRITICAL_THREAT}}, TRUSTED.arm),
        ({"personality_biases": {"confidence_threshold": 0.1}}, LLM),
    ],
    ids=str,
)
def test_a_race_needs_a_trusted_heuristic_a_model_and_time(
    changes: dict[str, Any], arm: str
) -> None:
    """Where one of them is missing it decides as `heuristic_first` does."""
    assert Hybrid().decide(context(**changes)).arms == ((arm, 1.0),)


def test_a_race_is_one_arm_and_weighed_as_such() -> None:
    """Neither the model nor the heuristic alone is taken; the confidence gate is on record."""
    odds = Hybrid().decide(context())
    choice = executive.choose(odds, context(), lambda _: 0.0)

    weighed = {each.arm: each.probability for each in choice.candidates}
    assert (choice.arm, choice.path, choice.heuristic) == (RACE, "llm", None)
    assert choice.race == executive.Race(TRUSTED, 400)
    assert list(weighed)[-3:] == [LLM, RACE, SILENT]
    assert [arm for arm in weighed if weighed[arm]] == [RACE]
    assert [(gate.name, gate.passed) for gate in odds.gates] == [("confidence", True)]


def test_the_arm_of_a_race_tells_its_deadline() -> None:
    """Only that of these two, and only a whole one."""
    arm = race_arm(LLM, TRUSTED.arm, 250)

    assert race_deadline_ms(arm, LLM, TRUSTED.arm) == 250
    assert race_deadline_ms(arm, LLM, "heuristic:b@c0") is None
    assert race_deadline_ms(f"{arm}x", LLM, TRUSTED.arm) is None


@pytest.mark.parametrize("arm", ["race:x", f"race:{LLM}+heuristic:gone@c@400"])
def test_a_race_of_nobody_here_is_silence(arm: str) -> None:
    """An arm that names no candidate of the occasion asks nobody."""
    odds = Odds.certain(arm, "strategy_silent")

    choice = executive.choose(odds, context(), lambda _: 0.0)

    assert (choice.race, choice.asks_model) == (None, False)


def test_without_a_model_there_is_no_race_to_read() -> None:
    """Even where an arm claims one."""
    odds = Odds.certain(RACE, "strategy_silent")

    assert executive.choose(odds, context(llm_arm=None), lambda _: 0.0).race is None


def test_its_parameters_are_those_of_heuristic_first_and_the_deadline() -> None:
    """What settings say of threshold, candidates and ceiling holds for it too."""
    spec = StrategySpec(
        name="hybrid", parameters={"deadline_ms": 150, "candidates.present": "hint"}
    )

    assert create_decision_strategy(spec, factories.settings(threshold=0.6)).config == {
        "strategy": "hybrid",
        "confidence_threshold": 0.6,
        "max_candidates": 3,
        "llm_confidence_ceiling": 0.8,
        "present": "hint",
        "deadline_ms": 150,
    }
    bad = StrategySpec(name="hybrid", parameters={"deadline_ms": 0})
    with pytest.raises(UnknownStrategyError, match="deadline_ms"):
        create_decision_strategy(bad, factories.settings())
