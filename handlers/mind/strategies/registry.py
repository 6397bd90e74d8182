"""Every strategy by name, and how one is made from its specification."""

import difflib
from collections.abc import Iterable, Mapping
from functools import lru_cache

import orjson
from pydantic import JsonValue, ValidationError
from pydantic_core import ErrorDetails

from handlers.mind.strategies import plugin
from handlers.mind.strategies.baselines import AlwaysLlm, Random, Silent
from handlers.mind.strategies.heuristic_first import Asking, HeuristicFirst, Trusting
from handlers.mind.strategies.layers import Layers
from handlers.mind.strategies.thompson import Thompson
from handlers.mind.strategies.urgency import Hybrid, Urgency
from schemas.ports.decision_context import Strategy
from schemas.ports.faults import MissingStrategyError
from schemas.values.by_identity import by_identity
from schemas.values.model_settings import ModelSettings, links_of
from schemas.values.settings import MindSettings, StrategySpec
from schemas.values.settings_by_name import SHORT_NAMES
from schemas.values.unicode_text import quoted

_Parameters = dict[str, JsonValue]
_Kind = (
    type[HeuristicFirst]
    | type[Thompson]
    | type[AlwaysLlm]
    | type[Random]
    | type[Silent]
)

STRATEGIES: Mapping[str, _Kind] = {
    "heuristic_first": HeuristicFirst,
    "urgency": Urgency,
    "hybrid": Hybrid,
    "thompson": Thompson,
    "layers": Layers,
    "always_llm": AlwaysLlm,
    "silent": Silent,
    "random": Random,
}


class UnknownStrategyError(ValueError):
    """No strategy has this name, or not these parameters."""

    def __init__(self, message: str, parameter: str | None = None) -> None:
        super().__init__(message)
        self.parameter = parameter
        """The parameter at fault, as the strategy calls it; None if it is the name."""


def create_decision_strategy(spec: StrategySpec, settings: MindSettings) -> Strategy:
    """Make the strategy of a specification; what it leaves open comes from the settings.

    Raises:
        UnknownStrategyError: no such name or parameter, or a value is out of range.
    """
    # Bytes, for a cache needs a hashable key and parameters are a mapping.
    given = orjson.dumps(_parameters(spec, settings))
    made = _create(spec.name, given, plugin.allowed())
    if isinstance(made, Asking) and made.model is not None:
        _check_model(spec.name, made.model, settings.model)
    return made


def in_force(spec: StrategySpec, settings: MindSettings) -> Strategy:
    """Return the strategy by which an agent decides; one of an unlisted module is silent.

    Raises:
        UnknownStrategyError: no such name or parameter, or a value is out of range.
        MissingStrategyError: the log admits its module, and this program does not.
    """
    return _in_force(spec, settings, plugin.LISTED.get())


@by_identity(256)
def _in_force(
    spec: StrategySpec, settings: MindSettings, _: tuple[str, ...]
) -> Strategy:
    """Return the same, cached while the same modules are listed: it saves 8 µs an event."""
    if _is_listed(spec, settings):
        return create_decision_strategy(spec, settings)
    return plugin.Unlisted(spec.name, 0, {"strategy": spec.name})


def problem(spec: StrategySpec, settings: MindSettings) -> str | None:
    """Return what keeps a strategy from being put in force; None if nothing does.

    What is recorded decides which modules are admitted, so that a replay that may not
    import them comes to the same answer.
    """
    if not _is_listed(spec, settings):
        module = spec.name.partition(":")[0]
        return (
            f"the module {quoted(module)} is not in {plugin.SETTING} of this instance"
        )
    try:
        create_decision_strategy(spec, settings)
    except UnknownStrategyError as error:
        return str(error)
    # The recorded list admits it; whether this machine has the module changes no answer.
    except MissingStrategyError:
        pass
    return None


def _is_listed(spec: StrategySpec, settings: MindSettings) -> bool:
    """Tell whether the recorded settings admit the module of a strategy of one's own."""
    module, colon, _ = spec.name.partition(":")
    is_own = bool(colon) and module not in STRATEGIES
    return not is_own or module in settings.strategy_modules


def _check_model(strategy: str, model: str, settings: ModelSettings | None) -> None:
    """Refuse a model that an operator has not named: a strategy may come by the log."""
    links = links_of(settings.name) if settings is not None else ()
    if model not in links:
        named = ", ".join(links) or "none"
        raise UnknownStrategyError(
            f"strategy {quoted(strategy)}: model {quoted(model)} is none that model.name"
            f" names: {named}",
            "model",
        )


def from_settings(settings: MindSettings) -> _Parameters:
    """Return the parameters whose defaults come from the settings."""
    return {
        "confidence_threshold": settings.threshold,
        "max_candidates": settings.max_candidates,
        "llm_confidence_ceiling": settings.confidence_ceiling,
    }


def _parameters(spec: StrategySpec, settings: MindSettings) -> _Parameters:
    kind = STRATEGIES.get(spec.name)
    if kind is None:
        return spec.parameters
    given = {_full_name(kind, name): spec.parameters[name] for name in spec.parameters}
    if len(given) < len(spec.parameters):
        raise UnknownStrategyError(
            f"strategy {quoted(spec.name)}: a parameter is given by both of its names,"
            f" {', '.join(sorted(spec.parameters))}"
        )
    if not issubclass(kind, Trusting):
        return given
    return {**from_settings(settings), **given}


def _full_name(kind: _Kind, name: str) -> str:
    """Return the strategy's own name of a parameter; `name` may be its short form."""
    full = SHORT_NAMES.get(name, name)
    return full if full in kind.model_fields else name


@lru_cache(maxsize=256)
def _create(name: str, parameters: bytes, _: tuple[str, ...]) -> Strategy:
    """Make a strategy; cached, with the listed modules as part of the key."""
    given: _Parameters = orjson.loads(parameters)
    if ":" in name:
        return _own(name, given)
    kind = STRATEGIES.get(name)
    if kind is None:
        raise UnknownStrategyError(
            f"there is no strategy {quoted(name)}, there are {_choice(name, STRATEGIES)}"
        )
    try:
        return kind.model_validate(given)
    except ValidationError as error:
        raise _fault(name, kind, error) from error


def _own(name: str, parameters: _Parameters) -> Strategy:
    known, _, rest = name.partition(":")
    if known in STRATEGIES:
        raise UnknownStrategyError(
            f"{quoted(rest)} is no parameter for {quoted(known)}: write {known}:key=value"
        )
    try:
        return plugin.make(name, parameters)
    except plugin.OwnStrategyError as error:
        raise UnknownStrategyError(str(error)) from error


def _fault(name: str, kind: _Kind, error: ValidationError) -> UnknownStrategyError:
    """Return the error for the first invalid parameter."""
    # The first alone: one parameter at a time is easier to correct than a list.
    fault = error.errors(include_url=False)[0]
    parameter = str(fault["loc"][0])
    return UnknownStrategyError(_told(name, kind, parameter, fault), parameter)


def _told(name: str, kind: _Kind, place: str, fault: ErrorDetails) -> str:
    if fault["type"] != "extra_forbidden":
        return f"strategy {quoted(name)}, parameter {quoted(place)}: {fault['msg']}"
    if not kind.model_fields:
        return f"strategy {quoted(name)} has no parameters, so none {quoted(place)}"
    short = [each for each in SHORT_NAMES if _full_name(kind, each) != each]
    known = [*kind.model_fields, *short]
    return (
        f"strategy {quoted(name)} has no parameter {quoted(place)},"
        f" it has {_choice(place, known)}"
    )


def _choice(name: str, known: Iterable[str]) -> str:
    """Return the known names, and the one that may have been meant."""
    names = sorted(known)
    near = difflib.get_close_matches(name, names, n=1)
    return ", ".join(names) + (f"; did you mean {quoted(near[0])}?" if near else "")
