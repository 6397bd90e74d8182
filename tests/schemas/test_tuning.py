"""Settings by name: changed one by one, within what the arithmetic bears."""

import pytest

from schemas.settings import LearningSettings, LearningWeights, StrategySpec
from schemas.tuning import (
    LEARNING,
    TuningError,
    learning_value,
    learning_with,
    scalar,
    strategy_with,
)


def test_named_settings_change_and_no_others() -> None:
    """A part of a part is named with its path."""
    changed = learning_with(
        LearningSettings(), {"learning.gamma": 0.9, "learning.weights.explicit": 1}
    )

    assert changed == LearningSettings(gamma=0.9, weights=LearningWeights(explicit=1.0))


@pytest.mark.parametrize("name", LEARNING)
def test_every_setting_can_be_read_and_set(name: str) -> None:
    """At both ends of its range."""
    for value in LEARNING[name]:
        changed = learning_with(LearningSettings(), {name: value})
        assert learning_value(changed, name) == value


def test_an_unknown_name_is_told_with_the_known_ones() -> None:
    """And with the nearest."""
    with pytest.raises(
        TuningError, match=r"no setting 'learning.gama'.*learning.kappa"
    ):
        learning_with(LearningSettings(), {"learning.gama": 0.9})


def test_a_strategys_parameter_has_one_name() -> None:
    """The short name changes what the long one set."""
    spec = StrategySpec(parameters={"threshold": 0.7, "max_candidates": 2})

    assert strategy_with(spec, {"strategy.confidence_threshold": 0.6}).parameters == {
        "confidence_threshold": 0.6,
        "max_candidates": 2,
    }


@pytest.mark.parametrize(
    ("value", "named"),
    [(1, 1), (0.5, 0.5), (True, True), ("dry", "dry"), ("x" * 201, None), ([1], None)],
)
def test_a_difference_names_scalars_alone(value: object, named: object) -> None:
    """A long text, or what has parts, is left out."""
    assert scalar(value) == named
