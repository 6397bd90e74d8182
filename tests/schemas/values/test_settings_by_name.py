"""Settings by name: changed one by one, within what the arithmetic bears."""

import pytest

from schemas.values.learning_settings import LearningWeights
from schemas.values.settings import StrategySpec
from schemas.values.settings_by_name import (
    LEARNING,
    TuningError,
    learning_value,
    learning_with,
    parameter_in,
    scalar,
    strategy_with,
)
from tests.factories import plain_learning


def test_named_settings_change_and_no_others() -> None:
    """A part of a part is named with its path."""
    changed = learning_with(
        plain_learning(), {"learning.gamma": 0.9, "learning.weights.explicit": 1}
    )

    assert changed == plain_learning(gamma=0.9, weights=LearningWeights(explicit=1.0))


@pytest.mark.parametrize("name", LEARNING)
def test_every_setting_can_be_read_and_set(name: str) -> None:
    """At both ends of its range."""
    for value in LEARNING[name]:
        changed = learning_with(plain_learning(), {name: value})
        assert learning_value(changed, name) == value


def test_an_unknown_name_is_told_with_the_known_ones() -> None:
    """And with the nearest."""
    with pytest.raises(
        TuningError, match=r"no setting 'learning.gama'.*learning.kappa"
    ):
        learning_with(plain_learning(), {"learning.gama": 0.9})


@pytest.mark.parametrize("name", ["threshold", "confidence_threshold"])
def test_a_strategys_parameter_has_one_value(name: str) -> None:
    """By whichever of its names it was given before."""
    for held in ("threshold", "confidence_threshold"):
        spec = StrategySpec(parameters={held: 0.7, "max_candidates": 2})
        changed = strategy_with(spec, {f"strategy.{name}": 0.6})
        assert changed.parameters == {"max_candidates": 2, name: 0.6}


def test_a_parameter_is_found_by_either_name() -> None:
    """The strategy's own name, or the short one."""
    config = {"confidence_threshold": 0.7, "tiers": [0.3, 0.7]}

    assert parameter_in(config, "strategy.threshold") == 0.7
    assert parameter_in(config, "strategy.confidence_threshold") == 0.7
    assert parameter_in(config, "strategy.tiers") is None
    assert parameter_in({"threshold": 0.2}, "strategy.threshold") == 0.2


@pytest.mark.parametrize(
    ("value", "named"),
    [(1, 1), (0.5, 0.5), (True, True), ("dry", "dry"), ("x" * 201, None), ([1], None)],
)
def test_a_difference_names_scalars_alone(value: object, named: object) -> None:
    """A long text, or what has parts, is left out."""
    assert scalar(value) == named
