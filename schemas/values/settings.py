"""The settings that shape behaviour, as `MindStarted` records them in full.

Whoever replays a session reads them from the log, never from a file or the environment.
"""

from typing import Annotated, Literal

from pydantic import Field, JsonValue

from schemas.values.base import Name, Part, Seconds, Unit
from schemas.values.executive_settings import ExecutiveSettings
from schemas.values.learning_settings import LearningSettings
from schemas.values.model_settings import ModelSettings
from schemas.values.rapport_pace import USUAL, Pace
from schemas.values.setting import Setting

# Of a setting's declaration each part has its line, not each argument.
# fmt: off


class CharacterSettings(Part):
    """How characters ask their models."""

    turns: Annotated[bool, Setting("characters.turns")] = True
    """Whether talkers and executors wait for their turn before they ask a model: the most
    urgent first, and what a model is told is as things are then."""
    backs_off: Annotated[bool, Setting("characters.backs_off")] = True
    """Whether a reflex is held back for a while whose action failed, as its pack's
    `backoff` says."""
    falls_back: Annotated[bool, Setting("characters.falls_back")] = True
    """Whether a character is scripted without a model, and while its model failed, and says
    so: conditions find `scripted = true`."""
    call_gap_s: Annotated[
        float, Setting("characters.call_gap_s")
    ] = Field(default=0.25, ge=0.0, le=60.0)
    """How many seconds lie between two such turns, at least, whichever characters they are
    of; 0: none. In a world with a clock of its own none do."""
    talker_per_minute: Annotated[
        int, Setting("characters.talker_per_minute")
    ] = Field(default=0, ge=0, le=6_000)
    """How many turns a minute talkers have, all characters together; 0: any number."""
    executor_per_minute: Annotated[
        int, Setting("characters.executor_per_minute")
    ] = Field(default=0, ge=0, le=6_000)
    """How many turns a minute executors have, likewise."""


# Of a setting's declaration each part has its line, not each argument.
# fmt: off

_BASE_PROMPT = (
    "You are the companion of one person. Something has just happened. "
    "Say what helps, in one or two short sentences, or nothing if nothing helps."
)

Presentation = Literal["neutral", "hint", "none"]
"""How candidates are presented to a model: as earlier answers, without scores; as one
learnt suggestion, with its confidence, to be judged; or not at all."""

Prediction = Literal["same", "separate", "off"]
"""How a model is asked how its answer will turn out: with the answer, in a call of its
own after it, or not at all."""


class StrategySpec(Part):
    """A strategy as data: its name and the parameters that differ from its defaults."""

    name: Name = "heuristic_first"
    parameters: dict[str, JsonValue] = Field(default_factory=dict)


class ExplorationSettings(Part):
    """How often an arm other than the strategy's is tried, so that it can be evaluated."""

    scheme: Annotated[Literal["uniform", "challenger"], Setting(
        "exploration.scheme",
        "Whether other answers than the strategy's are tried: any, a challenger's,"
        " or none; auto: a challenger's if there is one.",
        start="auto", words=("auto", "none", "uniform", "challenger"),
    )]
    """`uniform`: any eligible arm; `challenger`: the challengers' choices that differ."""
    rate: Annotated[Unit, Setting("exploration.rate")] = 0.1
    """The probability that is spread over other arms."""
    challengers: Annotated[
        tuple[StrategySpec, ...], Setting("exploration.challenger", reach="loads")
    ] = ()
    """The strategies that are to be compared with the one in force."""


class MatchLimits(Part):
    """The cosines from which texts count as alike, measured for each embedder."""

    match: Unit
    """An event matches a condition."""
    duplicate: Unit
    """Two texts say the same."""
    endorse: Unit
    """A model's answer is the heuristic's action in other words."""
    goal: Unit = 0.0
    """An event is about a goal."""


ApplyPolicy = Literal["by_hand", "safe"]
"""Which proposals of a sleep are applied at once: none, or those that remove nothing that
answers by itself today."""


class SleepSettings(Part):
    """How an agent looks back on what it did, while nothing happens."""

    events: Annotated[int, Setting("sleep.events")] = Field(default=64, ge=0, le=256)
    """How many of the latest decisions are remembered, which a sleep may make again; 0:
    none."""
    limit: Annotated[int, Setting("sleep.limit")] = Field(default=16, ge=0, le=64)
    """How many of them one sleep makes again."""
    apply: Annotated[ApplyPolicy, Setting("sleep.apply")] = "by_hand"
    """Which of its proposals are applied at once: none, or those that remove nothing that
    answers by itself today."""
    auto: Annotated[bool, Setting("sleep.auto")] = False
    """Whether an agent sleeps by itself when nothing happens."""
    idle_s: Annotated[Seconds, Setting("sleep.idle_minutes", scale=60.0)] = 1_800.0
    """After so long without an event."""


class IntakeSettings(Part):
    """The rate limit of each source of an agent; the excess is quarantined unread."""

    rate: Annotated[float, Setting(
        "intake.rate",
        "How many messages a second each source of an agent may send in the long"
        " run; the excess is put into quarantine unread; 0: any number. Raise it to"
        " play recordings or to measure.", bounds=(0, 1_000_000),
    )] = Field(default=200.0, gt=0.0, le=1e6)
    """Messages a second, in the long run."""
    burst: Annotated[int, Setting("intake.burst")] = Field(default=2_000, ge=1, le=1_000_000)
    """How many of them may come at once."""


class MindSettings(Part):
    """Everything that shapes behaviour and is no message of its own."""

    # A default is what a new instance runs with. What it meant that a recording lacks a field
    # stands in `schemas.codec.upcasts`.
    strategy: Annotated[StrategySpec, Setting(
        "strategy",
        "How the mind chooses among its answers: name:key=value,…, module:function"
        " or a YAML file; `echoic strategy list` shows what there is.",
        start="heuristic_first", also=("EXECUTIVE_DECISION_STRATEGY",), reach="loads",
    )] = StrategySpec.model_construct()
    strategy_modules: Annotated[
        tuple[Name, ...], Setting("strategies.modules", reach="runs")
    ] = ()
    """Modules of the operator's that strategies may be of, as module:function; no other is
    ever imported, whoever names it."""
    threshold: Annotated[
        Unit, Setting("threshold", also=("EXECUTIVE_HEURISTIC_THRESHOLD",))
    ] = 0.7
    """The confidence from which a heuristic answers by itself."""
    relevance: Annotated[Unit, Setting("relevance")] = 0.5
    """The effective salience from which an event is worth an answer."""
    novelty_half_life: Annotated[
        float, Setting("salience.novelty_half_life")
    ] = Field(default=20.0, ge=0.0, le=1_000_000.0)
    """The half-life of an event's likeness to earlier ones, in units of the domain's tau
    (game 60 s, work 180, home 300, else 120); 0: infinite."""
    goals: Annotated[tuple[str, ...], Setting(
        "goals", also=("EXECUTIVE_GOALS",), reach="nothing"
    )] = ()
    """What the companion is to help with."""
    goals_choose: Annotated[int, Setting("goals.choose")] = Field(default=0, ge=0, le=32)
    """How many goals count for an event, those that it is most about; 0: all. In a file the
    name is quoted: "goals.choose" = 2."""
    biases: Annotated[dict[str, float], Setting("biases", form="biases")] = Field(
        default_factory=dict
    )
    """Personality as adjustments of thresholds, for example of `confidence_threshold`."""
    seed: Annotated[str, Setting("seed", reach="nothing")] = "echoic"
    """The key of every draw."""
    model: ModelSettings | None = None
    """None: System 2 is off."""
    base_prompt: Annotated[
        str,
        Setting("base_prompt", start=None, form="optional_text", reach="nothing"),
    ] = _BASE_PROMPT
    """How a model is told what it is."""
    personality: Annotated[str, Setting("personality", reach="nothing")] = ""
    """How it is told what character it has."""
    max_candidates: Annotated[int, Setting("model.candidates")] = Field(default=3, ge=0, le=5)
    """How many known answers a model is shown."""
    present: Annotated[Presentation, Setting("candidates.present")] = "neutral"
    """How a model is shown what was learnt: `neutral`, as what was said before, without
    scores; `hint`, as one suggestion with its confidence; or not at all."""
    prediction: Annotated[Prediction, Setting("prediction")] = "same"
    """How a model tells what will come of its answer: in the `same` call, in a `separate`
    one, or not at all."""
    withhold: Annotated[Unit, Setting("candidates.withhold")] = 0.5
    """With which probability an answer that is known, and not trusted yet, is kept from a
    model: only what it then says by itself speaks for that answer."""
    formation: Annotated[bool, Setting("learning.formation")] = True
    """Whether a model's answer that is liked is made a heuristic."""
    endorsement: Annotated[bool, Setting("learning.endorsement")] = True
    """Whether a model speaks for the heuristics that say what it said by itself."""
    silence: Annotated[Unit, Setting(
        "learning.silence",
        "Whether that nothing should have been said, as you say it, teaches when to"
        " keep silent (`echoic feedback last down --aspect condition`).",
        start="on", words=("on", "off"),
    ), Setting(
        "learning.silence_asks",
        "With which probability a model is asked all the same where silence is"
        " trusted, so that it can still be found wrong.", bounds=(0.05, 1),
    )] = 0.1
    """The probability of asking a model even where silence was learnt; 0: silence is not
    learnt."""
    trials: Annotated[Unit, Setting(
        "learning.trials",
        "With which probability a heuristic that was trusted answers all the same where"
        " nothing else does, so that a few failures do not silence it for good; 0: never.",
        bounds=(0, 0.5),
    )] = 0.1
    confidence_ceiling: Annotated[Unit, Setting("model.ceiling")] = 0.8
    """A model's own confidence counts up to here."""
    ttl_s: Annotated[Seconds, Setting("ttl_s")] = 30.0
    """After so many seconds an answer is stale."""
    channel: Annotated[Name, Setting("channel", form="token", reach="nothing")] = "say"
    """Where answers go: out.<agent>.<channel>."""
    learning: LearningSettings = LearningSettings.model_construct()
    rapport: Pace = USUAL
    limits: MatchLimits
    embedder: Annotated[Name, Setting("embedder", reach="loads")] = "wordllama"
    """What makes the vectors of texts that decide."""
    exploration: ExplorationSettings | None = None
    """None: only what the strategy says."""
    intake: IntakeSettings | None = None
    """None: a sensor may speak as often as it likes."""
    sleep: SleepSettings = SleepSettings.model_construct()
    executive: ExecutiveSettings = ExecutiveSettings.model_construct()
    sealed: Annotated[bool, Setting(
        "privacy.seal",
        "Whether the log keeps personal texts sealed under a key for each person, so that"
        " `echoic forget` can destroy it; for a new data folder only: a log is sealed from"
        " its first message, or never.",
    )] = False
    """Whether the log is sealed, so that a person can be forgotten."""
    characters: CharacterSettings = CharacterSettings.model_construct()


UNSTARTED = MindSettings.model_construct(
    limits=MatchLimits.model_construct(match=1.0, duplicate=1.0, endorse=1.0), embedder="none"
)
"""The settings before the first `MindStarted`: only equal texts match."""


class CodeDigests(Part):
    """Digests of the code that ran; verify reports a difference, which is no failure."""

    version: str
    embedder: str
    strategies: dict[str, str] = Field(default_factory=dict)
    """The sources of the modules that strategies may be of, by their names."""
    tzdata: str = ""
    """The version of the wheel that time zones come from."""


SessionClock = Literal["broker", "event"]
