"""The settings, read once: a flag wins over a variable, a file, and the default.

Precedence: flag, `ECHOIC_*` and the other variables of `echoic.config.options`,
`./echoic.toml`, `$XDG_CONFIG_HOME/echoic/config.toml`, default. Each value knows where
it came from. What shapes the mind goes into the log, and is read from there afterwards.
"""

import os
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from echoic.config.option import Option, Value, default_data
from echoic.config.options import OPTIONS
from echoic.errors import DEBUG, SettingsError, meant

if TYPE_CHECKING:
    from schemas.values.settings import (
        ApplyPolicy,
        LearningSettings,
        MatchLimits,
        MindSettings,
        OriginFactors,
        Prediction,
        Presentation,
    )

PREFIX = "ECHOIC_"


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """What is in force; the fields are the options' names with `_` for a dot."""

    data: Path
    agent: str
    nats_url: str | None
    database_url: str | None
    trace_endpoint: str | None
    strategy: str
    strategies_modules: tuple[str, ...]
    exploration_scheme: str
    exploration_rate: float
    exploration_challenger: tuple[str, ...]
    threshold: float
    relevance: float
    salience_novelty_half_life: float
    goals: tuple[str, ...]
    goals_choose: int
    seed: str
    model_name: str | None
    model_api_base: str | None
    model_api_key: str | None = field(repr=False)
    model_temperature: float
    model_max_tokens: int
    model_deadline_s: float
    model_ceiling: float
    model_candidates: int
    candidates_present: "Presentation"
    candidates_withhold: float
    prediction: "Prediction"
    base_prompt: str | None
    personality: str
    biases: Mapping[str, float]
    ttl_s: float
    channel: str
    embedder: str
    learning_preset: str
    learning_kappa: float
    learning_kappa_by_origin: dict[str, float]
    learning_gamma: float
    learning_floor: float
    learning_ceiling: float
    learning_feedback_weight: float
    feedback_half_life: float
    feedback_weight_path_heuristic: float
    feedback_weight_path_llm: float
    learning_repeat_decay: float
    learning_stale_days: float
    learning_drift_fires: int
    learning_drift_level: float
    learning_calibrate_raters: str
    learning_undo_s: float
    learning_ignored_after: int
    learning_formation: str
    learning_silence: str
    learning_silence_asks: float
    learning_endorsement: str
    learning_endorsement_cap: float
    sleep_events: int
    sleep_limit: int
    sleep_apply: "ApplyPolicy"
    sleep_auto: str
    sleep_idle_minutes: float
    intake_rate: float
    intake_burst: int
    worker_processes: str
    packs: tuple[str, ...]
    pack_folder: str
    origins: Mapping[str, str] = field(repr=False)
    """Option name to where its value came from, in words."""
    ignored: tuple[str, ...] = ()
    """What was set and means nothing, in words: variables of a newer or older version."""


def load(
    flags: Mapping[str, object] | None = None,
    *,
    environment: Mapping[str, str] | None = None,
    folder: Path | None = None,
) -> Settings:
    """Read the settings; flags that are None were not given.

    Raises:
        SettingsError: one is unknown, or its value is not allowed.
    """
    environment = os.environ if environment is None else environment
    sources = _sources(flags or {}, environment, folder or Path.cwd())
    values: dict[str, Any] = {}
    origins: dict[str, str] = {}
    for option in OPTIONS:
        found = next((source for source in sources if source.has(option)), None)
        values[option.field] = found.value(option) if found else option.default
        origins[option.name] = found.origin(option) if found else "default"
    values["data"] = values["data"] or default_data()
    return Settings(**values, origins=origins, ignored=_ignored(environment))


def defaults() -> Settings:
    """The settings of who sets nothing, whatever the environment and files here say."""
    values: dict[str, Any] = {option.field: option.default for option in OPTIONS}
    values["data"] = default_data()
    origins = dict.fromkeys((option.name for option in OPTIONS), "default")
    return Settings(**values, origins=origins, ignored=())


def mind_settings(settings: Settings, limits: "MatchLimits") -> "MindSettings":
    """The part that shapes behaviour, as the log records it.

    Raises:
        SettingsError: a strategy is unknown, or has not these parameters.
    """
    from echoic.config.strategies import exploration_of, strategy_of
    from schemas.values.settings import (
        BASE_PROMPT,
        EDITION,
        IntakeSettings,
        MindSettings,
        ModelSettings,
        SleepSettings,
    )

    model = settings.model_name and ModelSettings(
        name=settings.model_name,
        temperature=settings.model_temperature,
        max_tokens=settings.model_max_tokens,
        deadline_s=settings.model_deadline_s,
    )
    return MindSettings(
        edition=EDITION,
        strategy=strategy_of(settings.strategy, settings.origins["strategy"]),
        strategy_modules=settings.strategies_modules,
        threshold=settings.threshold,
        relevance=settings.relevance,
        novelty_half_life=settings.salience_novelty_half_life,
        goals=settings.goals,
        goals_choose=settings.goals_choose,
        biases=dict(settings.biases),
        seed=settings.seed,
        model=model or None,
        base_prompt=settings.base_prompt or BASE_PROMPT,
        personality=settings.personality,
        max_candidates=settings.model_candidates,
        present=settings.candidates_present,
        prediction=settings.prediction,
        withhold=settings.candidates_withhold,
        formation=settings.learning_formation == "on",
        endorsement=settings.learning_endorsement == "on",
        silence=(
            settings.learning_silence_asks if settings.learning_silence == "on" else 0.0
        ),
        confidence_ceiling=settings.model_ceiling,
        ttl_s=settings.ttl_s,
        channel=settings.channel,
        learning=_learning(settings),
        limits=limits,
        embedder=settings.embedder,
        exploration=exploration_of(settings),
        sleep=SleepSettings(
            events=settings.sleep_events,
            limit=settings.sleep_limit,
            apply=settings.sleep_apply,
            auto=settings.sleep_auto == "on",
            idle_s=settings.sleep_idle_minutes * 60.0,
        ),
        intake=IntakeSettings(rate=settings.intake_rate, burst=settings.intake_burst)
        if settings.intake_rate
        else None,
    )


def _learning(settings: Settings) -> "LearningSettings":
    """How confidence follows from evidence."""
    from schemas.values.settings import SEED_LEARNING, LearningSettings

    preset = SEED_LEARNING if settings.learning_preset == "seed" else LearningSettings()
    return LearningSettings(
        kappa=settings.learning_kappa,
        kappa_by_origin=_by_origin(settings),
        gamma=settings.learning_gamma,
        floor=settings.learning_floor,
        ceiling=settings.learning_ceiling,
        feedback_weight=settings.learning_feedback_weight,
        feedback_half_life_s=settings.feedback_half_life,
        path_heuristic=settings.feedback_weight_path_heuristic,
        path_llm=settings.feedback_weight_path_llm,
        repeat_decay=settings.learning_repeat_decay,
        stale_days=settings.learning_stale_days,
        drift_fires=settings.learning_drift_fires,
        drift_level=settings.learning_drift_level,
        endorsement_cap=settings.learning_endorsement_cap,
        weights=preset.weights,
        calibrate_raters=settings.learning_calibrate_raters == "on",
        undo_s=settings.learning_undo_s,
        ignored_after=settings.learning_ignored_after,
        first_signal=preset.first_signal,
    )


def _by_origin(settings: Settings) -> "OriginFactors":
    """How many times kappa each origin weighs; in the seed's counts all are alike."""
    from schemas.values.settings import ALIKE, OriginFactors

    if settings.learning_preset == "seed":
        return ALIKE
    return OriginFactors.model_validate(settings.learning_kappa_by_origin)


def shown(settings: Settings, option: Option) -> Value:
    """An option's value as it may be shown: no keys, addresses without their password."""
    value: Value = getattr(settings, option.field)
    if not (option.secret and isinstance(value, str)):
        return value
    scheme, separator, rest = value.partition("://")
    if not separator:
        return "…"
    return f"{scheme}://…@{rest.rpartition('@')[2]}" if "@" in rest else value


@dataclass(frozen=True, slots=True)
class _Source:
    """One place where values come from, by option name."""

    values: Mapping[str, object]
    places: Mapping[str, str]
    """Option name to the words for where its value stands."""

    def has(self, option: Option) -> bool:
        return option.name in self.values

    def origin(self, option: Option) -> str:
        return self.places[option.name]

    def value(self, option: Option) -> Value:
        raw = self.values[option.name]
        try:
            return option.parse(raw)
        except ValueError as allowed:
            place = self.origin(option)
            raise SettingsError(
                f"{place}: {option.name} = {raw!r} is not allowed: give {allowed}",
                next_step=f"correct the {place}; docs/settings.md lists what there is",
            ) from None


def _sources(
    flags: Mapping[str, object], environment: Mapping[str, str], folder: Path
) -> list[_Source]:
    """Every source, the strongest first."""
    given = {name: value for name, value in flags.items() if value is not None}
    home = environment.get("XDG_CONFIG_HOME") or str(Path.home() / ".config")
    return [
        _Source(given, {name: _flag(name) for name in given}),
        _variables(environment),
        _file(folder / "echoic.toml"),
        _file(Path(home) / "echoic" / "config.toml"),
    ]


def _flag(name: str) -> str:
    return "flag --" + name.replace(".", "-").replace("_", "-")


def _variables(environment: Mapping[str, str]) -> _Source:
    values: dict[str, object] = {}
    places: dict[str, str] = {}
    for option in OPTIONS:
        # An empty variable counts as none given, as in a shell.
        for name in option.variables:
            if environment.get(name):
                values[option.name] = environment[name]
                places[option.name] = f"variable {name}"
                break
    return _Source(values, places)


def _ignored(environment: Mapping[str, str]) -> tuple[str, ...]:
    """Variables of our prefix that set nothing, each with the one it may stand for."""
    known = {variable for option in OPTIONS for variable in option.variables}
    return tuple(
        _no_such("environment", name, known)
        for name in sorted(environment)
        if name.startswith(PREFIX) and name not in known and name != DEBUG
    )


def _file(path: Path) -> _Source:
    try:
        with path.open("rb") as file:
            tables = tomllib.load(file)
    except FileNotFoundError:
        return _Source({}, {})
    except (OSError, ValueError, RecursionError) as error:
        raise SettingsError(
            f"{path} cannot be read: {error}", next_step=f"correct or remove {path}"
        ) from error
    values = dict(_flat(tables))
    known = {option.name for option in OPTIONS}
    for name in values:
        if name not in known:
            raise SettingsError(
                _no_such(str(path), name, known),
                next_step="docs/settings.md lists what there is",
            )
    return _Source(values, dict.fromkeys(values, f"file {path}"))


def _flat(table: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, object]]:
    """Tables as dotted names; `biases` is itself a value."""
    for key, value in table.items():
        name = prefix + key
        if isinstance(value, dict) and name != "biases":
            yield from _flat(value, name + ".")
        else:
            yield name, value


def _no_such(place: str, name: str, known: set[str]) -> str:
    return f"{place}: there is no setting {name!r}{meant(name, known)}"
