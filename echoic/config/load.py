"""The settings, read once when the program starts.

Precedence: flag, `ECHOIC_*` and the other variables of `echoic.config.options`,
`./echoic.toml`, `$XDG_CONFIG_HOME/echoic/config.toml`, default. Each value keeps its
origin. Those that shape the mind are recorded in the log, and replays read them there.
"""

import os
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from echoic.config.option import Option, Value, default_data
from echoic.config.options import OPTIONS, OWN, Content, Silent
from echoic.errors import DEBUG, SettingsError, meant
from schemas.values.learning_settings import SEED_LEARNING
from schemas.values.setting import recorded
from schemas.values.settings import EDITION, MatchLimits, MindSettings

PREFIX = "ECHOIC_"

IN_FILE = "_FILE"
"""After the variable of a secret: the file that holds it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """The settings in force: those that shape the mind by name, the rest in fields.

    A field is named like its option, with `_` for a dot.
    """

    data: Path
    agent: str
    nats_url: str | None
    nats_ca: str | None
    nats_replicas: int
    log_streams: str
    nats_mqtt: str | None
    nats_websocket: str | None
    nats_origins: tuple[str, ...]
    database_url: str | None
    trace_endpoint: str | None
    trace_ui: str
    metrics_listen: str | None
    metrics_agents: int
    trace_silent: Silent
    trace_ratio: float
    trace_content: Content
    model_api_base: str | None
    model_api_key: str | None = field(repr=False)
    speech_command: str | None
    speech_voice: str
    speech_interrupt: str
    webhook_url: str | None
    webhook_secret: str | None = field(repr=False)
    worker_processes: str
    worker_leases: str
    parts: str
    packs: tuple[str, ...]
    pack_folder: str
    behaviour: Mapping[str, Any]
    """Values by option name, of all that the log records when an instance starts."""
    origins: Mapping[str, str] = field(repr=False)
    """Origins of the values by option name, in words."""
    ignored: tuple[str, ...] = ()
    """Variables with our prefix that set nothing, in words; maybe of another version."""

    def __getitem__(self, name: str) -> Any:
        """Return the value of an option by its name."""
        if name in self.behaviour:
            return self.behaviour[name]
        return getattr(self, name.replace(".", "_"))


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
    return _in_force(sources, _ignored(environment))


def defaults() -> Settings:
    """Return the default settings, whatever the environment and files say."""
    return _in_force([])


def _in_force(sources: "Sequence[_Source]", ignored: tuple[str, ...] = ()) -> Settings:
    values: dict[str, Any] = {}
    origins: dict[str, str] = {}
    for option in OPTIONS:
        # Sources are in order of precedence, so the first that has the option wins.
        found = next((source for source in sources if source.has(option)), None)
        values[option.name] = found.value(option) if found else option.default
        origins[option.name] = found.origin(option) if found else "default"
    own = {option.field: values.pop(option.name) for option in OWN}
    # Only now, as this default depends on the environment.
    own["data"] = own["data"] or default_data()
    return Settings(**own, behaviour=values, origins=origins, ignored=ignored)


def mind_settings(settings: Settings, limits: MatchLimits) -> MindSettings:
    """Return the settings that shape behaviour, as the log records them.

    Raises:
        SettingsError: a strategy is unknown, or has not these parameters.
    """
    # Imported here, as few commands make a strategy.
    from echoic.config.strategies import exploration_of, strategy_of
    from echoic.packs import personalities, phrases, skills

    fields = recorded(MindSettings, settings.behaviour)
    # None is how the log records that there is no model.
    if settings["model.name"] is None:
        fields["model"] = None
    if not settings["intake.rate"]:
        fields["intake"] = None
    if settings["learning.preset"] == "seed":
        preset = SEED_LEARNING
        fields["learning"] |= {
            "weights": preset.weights,
            "first_signal": preset.first_signal,
            "kappa_by_origin": preset.kappa_by_origin,
        }
    # In full: a replay has no files, and a later program may ship other ones.
    # The command is this machine's; that responses may be spoken is recorded.
    fields["executive"] |= {"speech": settings.speech_command is not None}
    fields["executive"] |= {
        "templates": personalities.shipped(),
        "phrases": phrases.shipped(settings["languages"]),
        "skills": skills.shipped(),
    }
    is_learnt = settings["learning.silence"] == "on"
    return MindSettings.model_validate(
        fields
        | {
            "edition": EDITION,
            "strategy": strategy_of(settings["strategy"], settings.origins["strategy"]),
            "silence": settings["learning.silence_asks"] if is_learnt else 0.0,
            "limits": limits,
            "exploration": exploration_of(settings),
        }
    )


def shown(settings: Settings, option: Option) -> Value:
    """Return an option's value without secrets: no keys, no passwords in addresses."""
    value: Value = settings[option.name]
    if not (option.secret and isinstance(value, str)):
        return value
    scheme, separator, rest = value.partition("://")
    if not separator:
        return "…"
    return f"{scheme}://…@{rest.rpartition('@')[2]}" if "@" in rest else value


@dataclass(frozen=True, slots=True)
class _Source:
    """One source of values, by option name."""

    values: Mapping[str, object]
    places: Mapping[str, str]
    """Where each value stands, in words, by option name."""

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
                # The ValueError only carries what is allowed.
            ) from None


def _sources(
    flags: Mapping[str, object], environment: Mapping[str, str], folder: Path
) -> list[_Source]:
    """Return every source, in order of precedence."""
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
            # Containers and systemd hand secrets over in files, which `ps` does not show.
            if option.secret and (path := environment.get(name + IN_FILE)):
                values[option.name] = _secret(Path(path), name + IN_FILE)
                places[option.name] = f"file {path}"
                break
    return _Source(values, places)


def _ignored(environment: Mapping[str, str]) -> tuple[str, ...]:
    """Return a message for each variable with our prefix that sets nothing."""
    known = {variable for option in OPTIONS for variable in option.variables}
    known |= {
        variable + IN_FILE
        for option in OPTIONS
        if option.secret
        for variable in option.variables
    }
    # Reported, not refused: the environment may serve several versions; a file is ours
    # alone.
    return tuple(
        _no_such("environment", name, known)
        for name in sorted(environment)
        if name.startswith(PREFIX) and name not in known and name != DEBUG
    )


def _secret(path: Path, variable: str) -> str:
    try:
        return path.read_text(encoding="utf-8").strip()
    except (OSError, ValueError) as error:
        raise SettingsError(
            f"{variable} names {str(path)!r}, which cannot be read: {error}",
            next_step=f"correct or unset {variable}",
        ) from error


def _file(path: Path) -> _Source:
    try:
        with path.open("rb") as file:
            tables = tomllib.load(file)
    except FileNotFoundError:
        return _Source({}, {})
    # RecursionError: tomllib descends once for each level of nested arrays.
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
    """Yield tables as dotted names with their values; `biases` is itself a value."""
    for key, value in table.items():
        name = prefix + key
        if isinstance(value, dict) and name != "biases":
            yield from _flat(value, name + ".")
        else:
            yield name, value


def _no_such(place: str, name: str, known: set[str]) -> str:
    return f"{place}: there is no setting {name!r}{meant(name, known)}"
