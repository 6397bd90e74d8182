"""The settings, read once when the program starts.

Precedence: flag, `ECHOIC_*` and the other variables of `echoic.config.options`,
`./echoic.toml`, `$XDG_CONFIG_HOME/echoic/config.toml`, default. Each value keeps its
origin. Of `./echoic.toml` in a folder that is not trusted some do not count
(`echoic.config.trust`). Those that shape the mind are recorded in the log, and replays
read them there.
"""

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from echoic.config import sources
from echoic.config.option import Option, Value, default_data
from echoic.config.options import OPTIONS, OWN, Content, Silent
from echoic.config.sources import Source
from schemas.values.learning_settings import SEED_LEARNING
from schemas.values.setting import recorded
from schemas.values.settings import MatchLimits, MindSettings


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
    model_price: tuple[float, float] | None
    speech_command: str | None
    speech_voice: str
    speech_interrupt: str
    speech_numbers: str
    webhook_url: str | None
    webhook_secret: str | None = field(repr=False)
    intake_day_mb: int
    intake_waiting_mb: int
    intake_floor_mb: int
    backup_every: str
    backup_keep: int
    worker_processes: str
    worker_partitions: str
    parts: str
    embedder_files: str | None
    packs: tuple[str, ...]
    pack_folder: str
    behaviour: Mapping[str, Any]
    """Values by option name, of all that the log records when an instance starts."""
    origins: Mapping[str, str] = field(repr=False)
    """Origins of the values by option name, in words."""
    ignored: tuple[str, ...] = ()
    """Variables with our prefix that set nothing, in words; maybe of another version."""
    withheld: str | None = None
    """What of the folder's own file does not count, and what to do, in words."""

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
    here, withheld = sources.folders_own(folder or Path.cwd(), environment)
    found = sources.in_order(flags or {}, environment, here)
    settings = _in_force(found, sources.ignored(environment))
    return replace(settings, withheld=withheld)


def defaults() -> Settings:
    """Return the default settings, whatever the environment and files say."""
    return _in_force([])


def _in_force(ordered: Sequence[Source], ignored: tuple[str, ...] = ()) -> Settings:
    values: dict[str, Any] = {}
    origins: dict[str, str] = {}
    for option in OPTIONS:
        # In order of precedence, so the first that has the option wins.
        found = next((source for source in ordered if source.has(option)), None)
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
            "strategy": strategy_of(settings["strategy"], settings.origins["strategy"]),
            "silence": settings["learning.silence_asks"] if is_learnt else 0.0,
            "limits": limits,
            "exploration": exploration_of(settings),
        }
    )


def shown(settings: Settings, option: Option) -> Value:
    """Return an option's value without secrets: no keys, no passwords in addresses."""
    return concealed(option, settings[option.name])


def concealed(option: Option, value: Value) -> Value:
    """Return a value of an option without secrets."""
    if not (option.secret and isinstance(value, str)):
        return value
    scheme, separator, rest = value.partition("://")
    if not separator:
        return "…"
    return f"{scheme}://…@{rest.rpartition('@')[2]}" if "@" in rest else value
