"""Settings by name, as retuning and proposals change them: `learning.gamma` and the like.

A name is its part's and its own: `learning.weights.explicit`, `strategy.threshold`. Each
learning setting has a range here, so that no value can break the arithmetic of belief.
"""

import difflib
from collections.abc import Mapping

from schemas.values.base import NAME_LIMIT, Scalar
from schemas.values.learning_settings import LearningSettings
from schemas.values.setting import tunable
from schemas.values.settings import StrategySpec
from schemas.values.unicode_text import quoted

LEARNING = tunable(LearningSettings, "learning.")
"""The bounds of each tunable learning setting, ends included; a pair of booleans marks a
switch."""

STRATEGY_PREFIX = "strategy."
"""How the name of a parameter of the agent's strategy begins."""

ANY_PARAMETER = f"{STRATEGY_PREFIX}PARAMETER"
"""How all of them together are named in words."""

SHORT_NAMES: Mapping[str, str] = {
    "threshold": "confidence_threshold",
    "candidates.present": "present",
}
"""What people may write for a parameter, and what the strategies that ship call it."""


class TuningError(ValueError):
    """There is no such setting, or it cannot have such a value."""


def learning_with(
    learning: LearningSettings, changes: Mapping[str, Scalar]
) -> LearningSettings:
    """Return the learning settings with some changed, each by its whole name.

    Raises:
        TuningError: a name is unknown or a value out of its range.
    """
    fields = learning.model_dump()
    # Sorted, so that of several faults every machine reports the same.
    for name in sorted(changes):
        value = _checked(name, changes[name])
        *path, last = name.split(".")[1:]
        place = fields[path[0]] if path else fields
        place[last] = value
    return LearningSettings.model_validate(fields)


def learning_value(learning: LearningSettings, name: str) -> float:
    """Return what a learning setting is, by its whole name."""
    value: object = learning
    for part in name.split(".")[1:]:
        value = getattr(value, part)
    assert isinstance(value, bool | float)
    return value


def strategy_with(spec: StrategySpec, changes: Mapping[str, Scalar]) -> StrategySpec:
    """Return the strategy with some parameters changed, each by its whole name.

    Whether there are such parameters only the strategy itself can say.
    """
    changed = {
        name.removeprefix(STRATEGY_PREFIX): changes[name]
        for name in sorted(changes)
        if name.startswith(STRATEGY_PREFIX)
    }
    replaced = {_full(name) for name in changed}
    # A parameter has one value, by whichever of its names it was given.
    kept = {
        name: spec.parameters[name]
        for name in spec.parameters
        if _full(name) not in replaced
    }
    return StrategySpec(name=spec.name, parameters={**kept, **changed})


def parameter_in(config: Mapping[str, object], name: str) -> Scalar | None:
    """Return what `strategy.<parameter>` is in a strategy's own settings; None if not
    scalar.
    """
    short = name.removeprefix(STRATEGY_PREFIX)
    return scalar(config.get(short, config.get(_full(short))))


def scalar(value: object) -> Scalar | None:
    """Return a value if a `SettingChange` can hold it; None if too long, or not scalar."""
    if isinstance(value, str):
        return value if len(value) <= NAME_LIMIT else None
    return value if isinstance(value, bool | int | float) else None


def unknown(name: str, *also: str) -> TuningError:
    """Return the error for an unknown name; `also` are further names that exist."""
    near = difflib.get_close_matches(name, LEARNING, n=1)
    hint = f"; did you mean {quoted(near[0])}?" if near else ""
    known = ", ".join((*LEARNING, *also))
    return TuningError(f"there is no setting {quoted(name)}, there are {known}{hint}")


def _full(name: str) -> str:
    return SHORT_NAMES.get(name, name)


def _checked(name: str, value: Scalar) -> float:
    if name not in LEARNING:
        raise unknown(name)
    low, high = LEARNING[name]
    if isinstance(low, bool):
        return _switched(name, value)
    # A bool is an int in Python: `true` is no weight of 1.
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    if not is_number or not low <= float(value) <= high:
        raise TuningError(
            f"{name} = {quoted(value)} is not allowed: give a number from {low:g} to {high:g}"
        )
    return float(value)


def _switched(name: str, value: Scalar) -> bool:
    if value not in (0, 1):
        raise TuningError(
            f"{name} = {quoted(value)} is not allowed: give true or false"
        )
    return bool(value)
