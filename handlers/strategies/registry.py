"""Every strategy by name, and how one is made from its specification."""

import difflib
from collections.abc import Callable, Mapping
from functools import lru_cache

import orjson
from pydantic import JsonValue, ValidationError

from handlers.strategies.baselines import AlwaysLlm, Random, Silent
from handlers.strategies.heuristic_first import HeuristicFirst
from handlers.strategies.hybrid import Hybrid
from schemas.context import Strategy
from schemas.settings import MindSettings, StrategySpec

Parameters = dict[str, JsonValue]

STRATEGIES: Mapping[str, Callable[[Parameters], Strategy]] = {
    "heuristic_first": HeuristicFirst.model_validate,
    "hybrid": Hybrid.model_validate,
    "always_llm": AlwaysLlm.model_validate,
    "silent": Silent.model_validate,
    "random": Random.model_validate,
}


class UnknownStrategyError(ValueError):
    """No strategy has this name, or not these parameters."""


def create_decision_strategy(spec: StrategySpec, settings: MindSettings) -> Strategy:
    """The strategy of a specification; what it leaves open comes from the settings.

    Raises:
        UnknownStrategyError: there is no such name or parameter, or a value is out of range.
    """
    return _create(spec.name, orjson.dumps(_parameters(spec, settings)))


def _parameters(spec: StrategySpec, settings: MindSettings) -> Parameters:
    given = _with_short_names(spec.parameters)
    if spec.name not in (HeuristicFirst.name, Hybrid.name):
        return given
    return {
        "confidence_threshold": settings.threshold,
        "max_candidates": settings.max_candidates,
        "llm_confidence_ceiling": settings.confidence_ceiling,
        **given,
    }


def _with_short_names(parameters: Parameters) -> Parameters:
    """People write `threshold`, or a setting's name; the strategy has its own for it."""
    return {_SHORT_NAMES.get(name, name): parameters[name] for name in parameters}


@lru_cache(maxsize=256)
def _create(name: str, parameters: bytes) -> Strategy:
    make = STRATEGIES.get(name)
    if make is None:
        near = difflib.get_close_matches(name, STRATEGIES, n=1)
        hint = f"; did you mean {near[0]!r}?" if near else ""
        known = ", ".join(sorted(STRATEGIES))
        raise UnknownStrategyError(
            f"there is no strategy {name!r}, there are {known}{hint}"
        )
    try:
        return make(orjson.loads(parameters))
    except ValidationError as error:
        fault = error.errors(include_url=False)[0]
        place = ".".join(str(part) for part in fault["loc"])
        raise UnknownStrategyError(
            f"strategy {name!r}, parameter {place!r}: {fault['msg']}"
        ) from error


_SHORT_NAMES = {"threshold": "confidence_threshold", "candidates.present": "present"}
