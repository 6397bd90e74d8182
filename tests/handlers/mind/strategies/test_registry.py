"""The registry: strategies by name, with what settings leave to them."""

import pytest
from pydantic import JsonValue

from handlers.mind.strategies.registry import (
    STRATEGIES,
    UnknownStrategyError,
    create_decision_strategy,
)
from schemas.messages.asks import ModelAsked
from schemas.messages.decisions import Decided
from schemas.values.model_settings import ModelSettings, chain_of
from schemas.values.settings import StrategySpec
from tests.factories import settings
from tests.scenario import Scenario, one


def config(
    name: str = "heuristic_first", **parameters: JsonValue
) -> dict[str, JsonValue]:
    """The configuration of a strategy under settings that are not the defaults."""
    spec = StrategySpec(name=name, parameters=parameters)
    chosen = settings(threshold=0.6, max_candidates=2, confidence_ceiling=0.5)
    return create_decision_strategy(spec, chosen).config


def test_one_model_of_a_chain_is_asked_alone() -> None:
    """Its name is in the arm and in the ask, so that the two ways can be compared."""
    model = ModelSettings(name=chain_of(["openai/a", "ollama/b"]))
    for alone, name in ((None, model.name), ("ollama/b", "ollama/b")):
        spec = StrategySpec(name="always_llm", parameters={"model": alone})
        scenario = Scenario(relevance=0.0, model=model, strategy=spec)
        turn = scenario.sense("the plants look dry")

        decided = one(turn, Decided)
        assert one(turn, ModelAsked).model == name
        assert decided.arm.startswith(f"llm:{name}@")


@pytest.mark.parametrize("model", [None, ModelSettings(name="openai/a")])
def test_a_model_that_no_operator_named_is_asked_by_no_strategy(
    model: ModelSettings | None,
) -> None:
    """Strategies come by the log as well; what is sent where is the operator's say."""
    spec = StrategySpec(name="always_llm", parameters={"model": "openai/evil"})

    with pytest.raises(UnknownStrategyError, match=r"none that model\.name names"):
        create_decision_strategy(spec, settings(model=model))


def test_every_strategy_is_known_by_its_name() -> None:
    """The name in settings is the name on record."""
    for name in STRATEGIES:
        assert config(name)["strategy"] == name


def test_settings_fill_what_the_specification_leaves_open() -> None:
    """A parameter goes before the setting of the same meaning."""
    assert config() == {
        "strategy": "heuristic_first",
        "confidence_threshold": 0.6,
        "max_candidates": 2,
        "llm_confidence_ceiling": 0.5,
    }
    assert config(threshold=0.9)["confidence_threshold"] == 0.9
    assert config(confidence_threshold=0.8)["confidence_threshold"] == 0.8


@pytest.mark.parametrize(
    ("name", "hint"),
    [
        ("always_lm", "did you mean 'always_llm'"),
        ("zzz", "there are"),
        ("urgency:reduction", "'reduction' is no parameter for 'urgency'"),
    ],
)
def test_an_unknown_name_is_an_error_that_helps(name: str, hint: str) -> None:
    """It names the known ones, and the nearest."""
    with pytest.raises(UnknownStrategyError, match=hint):
        config(name)


@pytest.mark.parametrize(
    "parameters", [{"max_candidates": 6}, {"threshold": 2}, {"speed": 1}], ids=str
)
def test_a_parameter_out_of_place_is_an_error(parameters: dict[str, JsonValue]) -> None:
    """No more than five candidates, no threshold over 1, nothing unheard of."""
    with pytest.raises(UnknownStrategyError, match="parameter"):
        config("heuristic_first", **parameters)


def test_a_parameter_has_one_name_at_a_time() -> None:
    """Which of two values would count must not hang on the order they came in."""
    with pytest.raises(UnknownStrategyError, match="by both of its names"):
        config("heuristic_first", threshold=0.5, confidence_threshold=0.6)


@pytest.mark.parametrize(
    ("name", "parameter", "says"),
    [
        ("heuristic_first", "treshold", "did you mean 'threshold'"),
        ("urgency", "reducton", "did you mean 'reduction'"),
        ("always_llm", "threshold", "has no parameter 'threshold', it has"),
        ("silent", "volume", "has no parameters"),
    ],
)
def test_an_unknown_parameter_is_an_error_that_helps(
    name: str, parameter: str, says: str
) -> None:
    """It names the known ones, and the nearest."""
    with pytest.raises(UnknownStrategyError, match=says):
        config(name, **{parameter: 0.5})


@pytest.mark.parametrize("name", ["heuristic_first", "urgency", "hybrid", "thompson"])
def test_settings_fill_every_strategy_with_a_threshold(name: str) -> None:
    """The threshold of the settings is that of whichever strategy tests confidence."""
    assert config(name)["confidence_threshold"] == 0.6
