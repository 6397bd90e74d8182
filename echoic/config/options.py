"""Every setting: its name, allowed values, default and meaning.

Those that shape behaviour are declared where they are recorded, with the fields of
`schemas.values.settings`; those of the program around the mind are declared here.
"""

from collections.abc import Mapping
from typing import Literal, get_args, get_origin

from annotated_types import Gt
from pydantic.fields import FieldInfo

from echoic.config import option as forms
from echoic.config.option import Option, Parser
from schemas.values.base import Part
from schemas.values.setting import (
    SWITCH,
    Declared,
    Setting,
    as_given,
    bounds_of,
    settings_of,
)
from schemas.values.settings import MindSettings, StrategySpec

Silent = Literal["auto", "all", "ratio", "none"]
"""Which silent decisions are traced."""

Content = Literal["auto", "on", "off"]
"""Whether traces hold what people wrote and models said."""

OWN: tuple[Option, ...] = (
    Option(
        "data", forms.folder, None,
        "The folder of the instance: log, database, traces.", reach="loads",
    ),
    Option(
        "agent", forms.agent, "companion", "Which companion commands are about.",
        reach="nothing",
    ),
    Option(
        "nats.url", forms.url("nats", "tls"), None,
        "A broker of yours; without it `up` starts one in the data folder. The nodes of a"
        " cluster are divided by commas: tls://user:password@a:4222,b:4222.",
        also=("NATS_URL",), secret=True, reach="sends",
    ),
    Option(
        "nats.ca", forms.file, None,
        "The certificate of the authority that a broker at tls:// is to be trusted by;"
        " without it those that the system trusts.",
        reach="loads",
    ),
    Option(
        "nats.replicas", forms.whole(1, 5), 1,
        "On how many nodes of a cluster each message is kept, of streams that `up` makes:"
        " 3 of three nodes outlive the loss of one.",
    ),
    Option(
        "log.streams", forms.streams, "kept",
        "Over how many streams the log's partitions are divided: 1, 2, 4, 8, 16; `kept`: as"
        " they are. `up` divides a log that differs, which takes a moment.",
    ),
    Option(
        "nats.mqtt", forms.listen, None,
        "Where the embedded broker listens for MQTT 3.1.1, such as 127.0.0.1:1883.",
        reach="listens",
    ),
    Option(
        "nats.websocket", forms.listen, None,
        "Where it listens for NATS over WebSockets, such as 127.0.0.1:8443.",
        reach="listens",
    ),
    Option(
        "nats.origins", forms.texts, (),
        "Whose web pages may connect there, such as https://example.org; else those of any.",
        reach="listens",
    ),
    Option(
        "database.url", forms.url("postgresql", "postgres"), None,
        "A PostgreSQL of yours; without it `up` starts one in the data folder.",
        also=("DATABASE_URL",), secret=True, reach="sends",
    ),
    Option(
        "trace.endpoint", forms.url("http", "https"), None,
        "Where traces go over OTLP, as OTEL_EXPORTER_OTLP_PROTOCOL says; if nothing"
        " listens there, or by default on 4318, into a file.",
        also=("OTEL_EXPORTER_OTLP_ENDPOINT",), secret=True, reach="sends",
    ),
    Option(
        "trace.ui", forms.url("http", "https"), "http://127.0.0.1:16686",
        "Where Jaeger's pages are, for links to traces.",
        reach="sends",
    ),
    Option(
        "trace.content", forms.one_of(*get_args(Content)), "auto",
        "Whether traces hold what people wrote and models said; auto: only if they stay on"
        " this machine, and not of a sealed log.",
        reach="sends",
    ),
    Option(
        "metrics.listen", forms.listen, "127.0.0.1:9464",
        "Where `up` serves metrics to Prometheus; `off`: nowhere. They have no password.",
        reach="listens",
    ),
    Option(
        "metrics.agents", forms.whole(0, 1_000), 0,
        "How many agents may have a series of their own in the metrics.",
    ),
    Option(
        "trace.silent", forms.one_of(*get_args(Silent)), "auto",
        "Which silent decisions are traced: all, a ratio, none; auto: all up to 20 a"
        " second, of the rest a ratio. Others are always traced.",
    ),
    Option(
        "trace.ratio", forms.number(0, 1), 0.05,
        "Which share of silent decisions is traced; drawn by the decision's id.",
    ),
    Option(
        "model.api_base", forms.url("http", "https"), None,
        "Where it is reached, if not at its provider's own address.", secret=True,
        reach="sends",
    ),
    Option(
        "model.api_key", forms.optional_text, None,
        "The key it asks for; without it litellm takes the provider's own variable.",
        secret=True, reach="sends",
    ),
    Option(
        "model.price", forms.prices, None,
        "What a million tokens cost in US dollars, of the prompt and of the answer:"
        " 0.15,0.60; without it litellm's list counts, which does not know every model.",
    ),
    Option(
        "speech.command", forms.optional_text, None,
        "The command that speaks; without it all is written. The words go to its standard"
        " input, or where `{text}` stands; `{voice}`, `{speed}`, `{wpm}`, `{length}` and"
        " `{id}` are filled in: espeak-ng -v {voice} -s {wpm} --stdin.",
        reach="runs",
    ),
    Option(
        "speech.voice", forms.text, "en",
        "The voice where the personality names none, as the command knows it.",
        reach="runs",
    ),
    Option(
        "speech.interrupt", forms.one_of("on", "off"), "on",
        "Whether an alert may cut off what is being said, once a second of it was heard.",
    ),
    Option(
        "speech.numbers", forms.one_of("off", "voice", "en", "de"), "off",
        "Whether numbers and units are spoken as words, by the extra `speech`: in English"
        " (`en`) or German (`de`), or in the one of both that the voice's name begins with"
        " (`voice`); `off`: the command reads them itself.",
    ),
    Option(
        "webhook.url", forms.url("http", "https"), None,
        "Where responses of the channel `webhook` are posted, signed.", secret=True,
        reach="sends",
    ),
    Option(
        "webhook.secret", forms.optional_text, None,
        "What they are signed with, by HMAC-SHA256, as Standard Webhooks has it.",
        secret=True, reach="sends",
    ),
    Option(
        "intake.day_mb", forms.whole(1, 10_000_000), 8_192,
        "How many megabytes a sensor may send in a day (UTC), and never more than its equal"
        " part of the disk's room; then the embedded broker refuses it till the next. Doors"
        " count with it whom no account names: an agent's source, who votes, a token.",
    ),
    Option(
        "intake.waiting_mb", forms.whole(1, 1_000_000), 256,
        "How many megabytes each intake stream may hold, at most a quarter of the disk's"
        " room. Of one that is a quarter full the greatest senders are refused.",
    ),
    Option(
        "intake.floor_mb", forms.whole(1, 10_000_000), 512,
        "How many megabytes of the disk stay free, at most a fifth of it: below, the embedded"
        " broker refuses all sensors, so that the mind goes on; below half, people too.",
    ),
    Option(
        "backup.every", forms.span, "6h",
        "How often an instance with the embedded broker backs its log up by itself, into"
        " `backups/` of its data folder, if anything came: 30m, 6h, 1d, or off.",
    ),
    Option(
        "backup.keep", forms.whole(1, 1_000), 3,
        "How many of these backups are kept; an older one goes once a newer one is whole.",
    ),
    Option(
        "worker.processes", forms.processes, "1",
        "In how many processes the mind runs, 1 to 16, each with its part of the agents;"
        " auto: one for each processor. Each takes its own memory.",
    ),
    Option(
        "worker.partitions", forms.partitions, "all",
        "Which partitions a worker decides for: a range as in `0-7` or `0-3,8`, or all. Of"
        " workers with the same range one is its owner, the others stand by.",
    ),
    Option(
        "parts", forms.one_of("all", "worker", "projector"), "all",
        "What `up` runs: all, the worker without read models, or the projector that fills"
        " them, each over a broker and a database of yours.",
    ),
    Option(
        "embedder_files", forms.optional_folder, None,
        "A folder with copies of the embedder's files, for where its wheel is not to be had;"
        " they are known by their digests.", reach="loads",
    ),
    Option("packs", forms.texts, (), "Folders of packs that `up` loads.", reach="loads"),
    Option(
        "pack_folder", forms.text, "packs",
        "Where `up` looks for packs if none is named: each subfolder with a manifest.",
        reach="loads",
    ),
)  # fmt: skip
"""The settings that shape no decision, and so are not recorded."""

_ORDER = (
    "data", "agent", "nats.url", "nats.ca", "nats.replicas", "log.streams",
    "nats.mqtt", "nats.websocket", "nats.origins", "database.url",
    "trace.endpoint", "trace.ui", "trace.content", "trace.silent", "trace.ratio",
    "metrics.listen",
    "metrics.agents", "strategy",
    "strategies.modules", "exploration.scheme", "exploration.rate",
    "exploration.challenger", "threshold", "relevance", "salience.novelty_half_life",
    "goals", "goals.choose", "seed", "model.name", "model.api_base", "model.api_key",
    "model.price",
    "model.temperature", "model.max_tokens", "model.deadline_s", "model.ceiling",
    "model.candidates", "candidates.present", "candidates.withhold",
    "learning.formation", "learning.silence", "learning.silence_asks", "learning.trials",
    "learning.endorsement", "learning.endorsement_cap", "prediction", "base_prompt",
    "personality", "personality.template", "mood.half_life_minutes", "biases", "ttl_s",
    "channel", "embedder", "embedder_files", "timezone", "quiet_hours", "quiet_cuts",
    "cooldown_s", "activity.typing_minutes", "activity.busy_minutes",
    "heuristic_cooldown_s", "rate_per_hour", "quip_interval_s", "output.text",
    "output.stream", "languages", "wake_words", "skills.consistent", "salience.modulates",
    "relevance.goal", "relevance.focus", "relevance.novelty", "relevance.said_already",
    "relevance.again_minutes",
    "relevance.proactive", "relevance.helpfulness",
    "budget.calls_per_minute", "budget.tokens_per_day", "budget.cost_per_day",
    "memory.prompt_tokens", "memory.recall", "memory.recent_events", "memory.aliases",
    "memory.infers",
    "proactive.check_in",
    "proactive.interval_minutes", "proactive.probability", "proactive.per_hour",
    "proactive.unanswered", "proactive.backoff", "proactive.rest_hours",
    "proactive.observation",
    "proactive.observation_events", "proactive.observation_novelty",
    "proactive.observation_minutes", "proactive.mood_comment",
    "learning.calibrate_raters", "learning.undo_s", "learning.ignored_after",
    "learning.preset", "learning.kappa", "learning.kappa_by_origin", "learning.gamma",
    "learning.floor", "learning.ceiling", "learning.feedback_weight",
    "rapport.gain", "rapport.loss", "rapport.half_life_days", "feedback.half_life",
    "feedback.shares",
    "feedback.weight.path.heuristic",
    "feedback.weight.path.llm", "learning.repeat_decay", "learning.stale_days",
    "learning.drift_fires", "learning.drift_level", "sleep.events", "sleep.limit",
    "sleep.apply", "sleep.auto", "sleep.idle_minutes", "intake.rate", "intake.burst",
    "intake.day_mb", "intake.waiting_mb", "intake.floor_mb",
    "backup.every", "backup.keep",
    "privacy.seal", "worker.processes", "worker.partitions", "parts", "packs", "pack_folder",
)  # fmt: skip
"""The order in which settings are shown, grouped by topic; others follow these."""

_FORMS: Mapping[str, Parser] = {
    "biases": forms.biases,
    "optional_text": forms.optional_text,
    "origin_factors": forms.origin_factors,
    "template": forms.template,
    "languages": forms.languages,
    "models": forms.models,
    "quiet_hours": forms.quiet_hours,
    "timezone": forms.timezone,
    "token": forms.token,
}
_TYPES: Mapping[object, Parser] = {
    str: forms.text,
    StrategySpec: forms.text,
    tuple: forms.texts,
}


def options_of(part: type[Part]) -> tuple[Option, ...]:
    """Return the options of the settings that are declared with a recorded part."""
    return tuple(map(_option, settings_of(part)))


def _option(declared: Declared) -> Option:
    setting, field = declared.setting, declared.field
    default = setting.start
    if default is ...:
        default = as_given(setting, field.get_default(call_default_factory=True))
    parse = _parser(setting, field)
    return Option(
        setting.name,
        parse,
        default,
        None,
        setting.also,
        declared=declared,
        reach=setting.reach,
    )


def _parser(setting: Setting, field: FieldInfo) -> Parser:
    """Return the parser that the setting names, else that of its type and bounds."""
    kind = field.annotation
    # `tuple[str, ...]` is looked up as `tuple`.
    origin = get_origin(kind) or kind
    if setting.form:
        return _FORMS[setting.form]
    if setting.words or origin is Literal:
        return forms.one_of(*(setting.words or get_args(kind)))
    if kind is bool:
        return forms.one_of(*reversed(SWITCH))
    if kind not in (int, float):
        return _TYPES[origin]
    if setting.bounds is None and any(isinstance(each, Gt) for each in field.metadata):
        return forms.positive
    low, high = setting.bounds or bounds_of(field)
    return forms.whole(int(low), int(high)) if kind is int else forms.number(low, high)


def _place(option: Option) -> int:
    return _ORDER.index(option.name) if option.name in _ORDER else len(_ORDER)


OPTIONS: tuple[Option, ...] = tuple(
    sorted((*OWN, *options_of(MindSettings)), key=_place)
)
"""Every setting there is, in the order in which it is shown."""
