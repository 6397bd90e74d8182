"""Strategies given as a text or a YAML file, checked before they are used.

`heuristic_first:threshold=0.6`, `module:function:key=value`, or the path of a file with
`strategy: name` and `parameters: {key: value}`.
"""

from pathlib import Path
from typing import TYPE_CHECKING

from pydantic import JsonValue, ValidationError

from echoic.errors import SettingsError
from echoic.packs import yaml_positions
from echoic.packs.prompt_files import OF_STRATEGIES, PromptFileError, with_texts
from echoic.packs.yaml_positions import Source, SourceError, Steps
from handlers.mind.strategies import spec as texts
from handlers.mind.strategies.registry import (
    UnknownStrategyError,
    create_decision_strategy,
)
from schemas.ports.faults import MissingStrategyError
from schemas.values.settings import UNSTARTED, ExplorationSettings, StrategySpec
from schemas.values.settings_by_name import SHORT_NAMES

if TYPE_CHECKING:
    from echoic.config.load import Settings

_NEXT_STEP = "echoic strategy list"
_LIST_IT = 'in echoic.toml: strategies.modules = ["module"]'
_FILES = (".yaml", ".yml")
_KEYS = ("strategy", "parameters")


class StrategyError(SettingsError):
    """A strategy does not exist, or does not take these parameters."""


def strategy_of(text: str, place: str = "") -> StrategySpec:
    """Return the strategy that a text names, or that the file at this path holds.

    `place` is where the text was given, for the error.

    Raises:
        StrategyError: it names none that can be made.
    """
    if text.strip().endswith(_FILES):
        return _of_file(Path(text.strip()).expanduser())
    prefix = f"{place}: " if place else ""
    try:
        spec = _with_prompts(texts.parse(text), Path())
        create_decision_strategy(spec, UNSTARTED)
    except (texts.StrategyTextError, UnknownStrategyError, PromptFileError) as error:
        raise StrategyError(f"{prefix}{error}", next_step=_NEXT_STEP) from error
    except MissingStrategyError as error:
        raise StrategyError(f"{prefix}{error}", next_step=_LIST_IT) from error
    return spec


def exploration_of(settings: "Settings") -> ExplorationSettings | None:
    """Return the exploration that the settings ask for; None if there is none.

    Raises:
        StrategyError: a challenger is no strategy, or there is none to follow.
    """
    place = settings.origins["exploration.challenger"]
    given = settings["exploration.challenger"]
    challengers = tuple(strategy_of(each, place) for each in given)
    scheme = settings["exploration.scheme"]
    # Naming challengers is enough to follow them.
    if scheme == "auto":
        scheme = "challenger" if challengers else "none"
    if scheme == "none":
        return None
    if scheme == "uniform":
        return ExplorationSettings(scheme="uniform", rate=settings["exploration.rate"])
    if not challengers:
        raise StrategyError(
            f"{settings.origins['exploration.scheme']}: exploration.scheme ="
            " 'challenger' has nobody to follow",
            next_step="name a strategy as exploration.challenger",
        )
    return ExplorationSettings(
        scheme="challenger", rate=settings["exploration.rate"], challengers=challengers
    )


def _of_file(file: Path) -> StrategySpec:
    try:
        source = yaml_positions.read(file)
    except SourceError as error:
        at = error.place
        raise StrategyError(
            f"{file}:{at.line}:{at.column}: {error.message}", next_step=_NEXT_STEP
        ) from error
    spec = _spec(source)
    try:
        # The file may be another's, as a pack may: it names prompts beside it alone.
        spec = _with_prompts(spec, file.parent, only_within=True)
        create_decision_strategy(spec, UNSTARTED)
    except PromptFileError as error:
        raise _wrong(source, ("parameters", error.name), str(error)) from error
    except UnknownStrategyError as error:
        raise _wrong(source, _steps_to(spec, error.parameter), str(error)) from error
    except MissingStrategyError as error:
        raise _wrong(source, ("strategy",), str(error)) from error
    return spec


def _with_prompts(
    spec: StrategySpec, folder: Path, *, only_within: bool = False
) -> StrategySpec:
    """Return a strategy with its prompts' files replaced by their texts."""
    # The recorded strategy holds the texts, so that a replay needs no file.
    parameters = with_texts(
        spec.parameters, OF_STRATEGIES, folder, only_within=only_within
    )
    return spec.model_copy(update={"parameters": parameters})


def _steps_to(spec: StrategySpec, parameter: str | None) -> Steps:
    """Return the steps to the parameter at fault, by its long or short name as written."""
    if parameter is None:
        return ("strategy",)
    # A parameter may be given by its short name; the error's place is where it was written.
    written = (each for each in spec.parameters if SHORT_NAMES.get(each) == parameter)
    return ("parameters", next(written, parameter))


def _spec(source: Source) -> StrategySpec:
    """Return the strategy in a file; raise if the file holds anything else."""
    value = source.value
    if not isinstance(value, dict) or not isinstance(value.get("strategy"), str):
        raise _wrong(source, (), "write `strategy: name` and perhaps `parameters:`")
    if source.repeated:
        steps, place = source.repeated[0]
        raise StrategyError(
            f"{source.file}:{place.line}:{place.column}: {steps[-1]!r} stands twice:"
            " give it once"
        )
    for key in value:
        if key not in _KEYS:
            raise _wrong(source, (key,), f"{key!r} is neither strategy nor parameters")
    return _made(source, value)


def _made(source: Source, value: dict[str, JsonValue]) -> StrategySpec:
    parameters = value.get("parameters") or {}
    try:
        return StrategySpec.model_validate(
            {"name": value["strategy"], "parameters": parameters}
        )
    except ValidationError as error:
        fault = error.errors(include_url=False)[0]
        key = "strategy" if fault["loc"][0] == "name" else "parameters"
        raise _wrong(source, (key,), f"{key}: {fault['msg']}") from error


def _wrong(source: Source, steps: Steps, what: str) -> StrategyError:
    place = source.place_of_key(steps)
    return StrategyError(
        f"{source.file}:{place.line}:{place.column}: {what}", next_step=_NEXT_STEP
    )
