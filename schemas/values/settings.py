"""The settings that shape behaviour, as `MindStarted` records them in full.

Whoever replays a session reads them from the log, never from a file or the environment.
"""

import operator
from typing import Literal

from pydantic import Field, JsonValue

from schemas.values.base import Name, Part, Seconds, Unit

BASE_PROMPT = (
    "You are the companion of one person. Something has just happened. "
    "Say what helps, in one or two short sentences, or nothing if nothing helps."
)

Presentation = Literal["neutral", "hint", "none"]
"""How candidates are put to a model: as what was said before, without scores; as the one
suggestion of what was learnt, with its confidence, to be judged; or not at all."""

Prediction = Literal["same", "separate", "off"]
"""How a model is asked how its answer will turn out: with the answer, in a call of its
own after it, or not at all."""


class StrategySpec(Part):
    """A strategy as data: its name and the parameters that differ from its defaults."""

    name: Name = "heuristic_first"
    parameters: dict[str, JsonValue] = Field(default_factory=dict)


class ExplorationSettings(Part):
    """How often another arm than the strategy's is tried, so that it can be judged."""

    scheme: Literal["uniform", "challenger"]
    """`uniform`: any eligible arm; `challenger`: what others would do, where they differ."""
    rate: Unit
    """The probability that is spread over other arms."""
    challengers: tuple[StrategySpec, ...] = ()
    """The strategies that are to be compared with the one in force."""


class ModelSettings(Part):
    """The language model of System 2."""

    name: Name
    """As litellm knows it, for example `ollama/llama3.2`."""
    temperature: float = Field(default=0.7, ge=0.0, le=2.0)
    max_tokens: int = Field(default=300, ge=1, le=8_000)
    deadline_s: Seconds = 30.0


LEAST_ASKED = 0.05
"""Where silence was learnt a model is still asked with this probability, at least."""
ENDORSEMENT_CAP = 0.65
STALE_DAYS = 30.0
DRIFT_FIRES = 20
DRIFT_LEVEL = 0.999
IGNORED = 0.3


class LearningWeights(Part):
    """How much each source of credit counts."""

    outcome: float = Field(default=1.0, ge=0.0)
    explicit: float = Field(default=0.8, ge=0.0)
    endorsement: float = Field(default=0.5, ge=0.0)
    ignored: float = Field(default=IGNORED, ge=0.0, exclude_if=IGNORED.__eq__)
    """Of advice that was ignored several times in a row, all of them together."""


class OriginFactors(Part):
    """How many times `kappa` the declared confidence of each origin weighs."""

    skill_pack: float = Field(default=1.0, gt=0.0, le=1_000.0)
    learned: float = Field(default=1.0, gt=0.0, le=1_000.0)
    seeded: float = Field(default=1.0, gt=0.0, le=1_000.0)


ALIKE = OriginFactors()
"""Whoever declared it, it weighs the same."""


class LearningSettings(Part):
    """How confidence follows from evidence."""

    kappa: float = Field(default=2.0, gt=0.0)
    """The weight of the declared confidence, in observations."""
    kappa_by_origin: OriginFactors = Field(default=ALIKE, exclude_if=ALIKE.__eq__)
    """How many times that it weighs, by where the heuristic is from."""
    gamma: float = Field(default=1.0, gt=0.0, le=1.0)
    """Forgetting toward the prior with each observation; 1 forgets nothing."""
    weights: LearningWeights = LearningWeights()
    endorsement_cap: Unit = Field(
        default=ENDORSEMENT_CAP, exclude_if=ENDORSEMENT_CAP.__eq__
    )
    """Models' agreement lifts a confidence up to here and no further."""
    deprecated_below: Unit = 0.3
    frozen_below: Unit = 0.1
    calibrate_raters: bool = Field(default=False, exclude_if=operator.not_)
    """Whether what somebody says of everything counts for less."""
    undo_s: float = Field(default=0.0, ge=0.0, le=3_600.0, exclude_if=(0.0).__eq__)
    """So long after advice, an event that takes it back counts as its failure; 0: none
    does."""
    ignored_after: int = Field(default=0, ge=0, le=100, exclude_if=(0).__eq__)
    """So many fires of a heuristic in a row that nothing came of count as one weak
    failure; 0: silence never does."""
    repeat_decay: float = Field(default=0.0, ge=0.0, le=100.0, exclude_if=(0.0).__eq__)
    """k: after n approvals of a heuristic the next weighs 1 / (1 + k * n); 0: as much."""
    feedback_weight: float = Field(
        default=1.0, ge=0.25, le=2.0, exclude_if=(1.0).__eq__
    )
    """What multiplies the weight of people's votes, where no pack says otherwise."""
    feedback_half_life_s: float = Field(
        default=0.0, ge=0.0, le=1e9, exclude_if=(0.0).__eq__
    )
    """A vote counts for half as much so long after the decision; 0: for as much."""
    path_heuristic: float = Field(default=1.0, ge=0.0, le=10.0, exclude_if=(1.0).__eq__)
    """What multiplies the weight of votes on what a heuristic said."""
    path_llm: float = Field(default=1.0, ge=0.0, le=10.0, exclude_if=(1.0).__eq__)
    """What multiplies that of votes on a model's words which a heuristic goes by, too."""
    floor: Unit = Field(default=0.0, exclude_if=(0.0).__eq__)
    """No confidence falls under this, where no pack says otherwise; 0: no bound."""
    ceiling: Unit = Field(default=1.0, exclude_if=(1.0).__eq__)
    """No confidence rises over this, where no pack says otherwise; 1: no bound."""
    stale_days: float = Field(
        default=STALE_DAYS, ge=0.0, le=36_500.0, exclude_if=STALE_DAYS.__eq__
    )
    """A heuristic that did not fire for so many days is flagged as stale; 0: none is."""
    first_signal: bool = Field(default=False, exclude_if=operator.not_)
    """Whether the first signal on a fire is final: what else is said of it is evidence
    that counts nothing."""
    drift_fires: int = Field(
        default=DRIFT_FIRES, ge=0, le=128, exclude_if=DRIFT_FIRES.__eq__
    )
    """So many of its latest fires are held against all before them; 0: none are."""
    drift_level: float = Field(
        default=DRIFT_LEVEL, ge=0.5, le=0.999_999, exclude_if=DRIFT_LEVEL.__eq__
    )
    """How much of what was to be expected the predictive interval holds that their
    success must leave to be drift."""


SEED_LEARNING = LearningSettings(
    weights=LearningWeights(outcome=1.0, explicit=1.0, endorsement=1.0),
    first_signal=True,
)
"""The preset `seed`: the first signal on a fire is a whole observation, and final:
(1 + successes) / (2 + fires)."""


class MatchLimits(Part):
    """From which cosine on an embedder's texts count as alike."""

    match: Unit
    """An event matches a condition."""
    duplicate: Unit
    """Two texts say the same."""
    endorse: Unit
    """A model's answer is the heuristic's action in other words."""
    goal: Unit = Field(default=0.0, exclude_if=(0.0).__eq__)
    """An event is about a goal."""


ApplyPolicy = Literal["by_hand", "safe"]
"""Which proposals of a sleep are put in force at once: none, or those that change nothing
that a heuristic answers today."""


class SleepSettings(Part):
    """How an agent looks back on what it did, while nothing happens."""

    events: int = Field(default=0, ge=0, le=256)
    """How many of the latest decisions are remembered for it; 0: none."""
    limit: int = Field(default=16, ge=0, le=64)
    """How many of them one sleep makes again."""
    apply: ApplyPolicy = "by_hand"
    auto: bool = False
    """Whether an agent sleeps by itself."""
    idle_s: Seconds = 1_800.0
    """After so long without an event."""


class IntakeSettings(Part):
    """How often each source of an agent may speak; the excess is answered unread."""

    rate: float = Field(gt=0.0, le=1e6)
    """Messages a second, in the long run."""
    burst: int = Field(ge=1, le=1_000_000)
    """So many at once."""


WAKEFUL = SleepSettings()
"""Of an agent that remembers nothing for a sleep."""

FIRST_EDITION = 1
EDITION = 2
"""The edition of the rules that new instances record; docs/adr/0011 lists the editions."""


class MindSettings(Part):
    """Everything that shapes behaviour and is no message of its own."""

    edition: int = Field(default=FIRST_EDITION, ge=1, exclude_if=FIRST_EDITION.__eq__)
    """Which edition of the rules decides; logs of before it was recorded are of the
    first."""
    strategy: StrategySpec = StrategySpec()
    strategy_modules: tuple[Name, ...] = Field(default=(), exclude_if=operator.not_)
    """The modules that strategies of one's own may be of, as the operator lists them."""
    threshold: Unit = 0.7
    """The confidence from which a heuristic answers by itself."""
    relevance: Unit = 0.5
    """The effective salience from which an event is worth an answer."""
    novelty_half_life: float = Field(
        default=0.0, ge=0.0, le=1_000_000.0, exclude_if=(0.0).__eq__
    )
    """In which time a likeness to earlier events halves, in units of the domain's tau;
    0: never."""
    goals: tuple[str, ...] = ()
    goals_choose: int = Field(default=0, ge=0, le=32, exclude_if=(0).__eq__)
    """How many goals count for an event, those that it is most about; 0: all of them."""
    biases: dict[str, float] = Field(default_factory=dict)
    """Personality as adjustments, for example of `confidence_threshold`."""
    seed: str = "echoic"
    """The key of every draw."""
    model: ModelSettings | None = None
    """None: System 2 is off."""
    base_prompt: str = BASE_PROMPT
    personality: str = ""
    max_candidates: int = Field(default=3, ge=0, le=5)
    """How many candidates a model is shown."""
    present: Presentation = Field(default="neutral", exclude_if="neutral".__eq__)
    """How candidates are put to it."""
    prediction: Prediction = Field(default="same", exclude_if="same".__eq__)
    """How it is asked how its answer will turn out."""
    withhold: Unit = Field(default=0.0, exclude_if=(0.0).__eq__)
    """With which probability a candidate that is not trusted is kept from the model."""
    formation: bool = Field(default=False, exclude_if=operator.not_)
    """Whether a model's answer that is liked may become a heuristic."""
    endorsement: bool = Field(default=False, exclude_if=operator.not_)
    """Whether heuristics earn by what a model says that was not shown them."""
    silence: Unit = Field(default=0.0, exclude_if=(0.0).__eq__)
    """With which probability a model is asked all the same where silence was learnt; 0:
    silence is not learnt."""
    confidence_ceiling: Unit = 0.8
    """A model's own confidence counts up to here."""
    ttl_s: Seconds = 30.0
    channel: Name = "say"
    learning: LearningSettings = LearningSettings()
    limits: MatchLimits
    embedder: Name
    """Which embedder made the vectors that decide."""
    exploration: ExplorationSettings | None = None
    """None: only what the strategy says."""
    intake: IntakeSettings | None = None
    """None: a sensor may speak as often as it likes."""
    sleep: SleepSettings = Field(default=WAKEFUL, exclude_if=WAKEFUL.__eq__)


UNSTARTED = MindSettings(
    limits=MatchLimits(match=1.0, duplicate=1.0, endorse=1.0), embedder="none"
)
"""What holds before the first `MindStarted`: nothing matches but the same text."""


class CodeDigests(Part):
    """What ran; a difference is reported by verify and is no failure by itself."""

    version: str
    embedder: str
    strategies: dict[str, str] = Field(default_factory=dict, exclude_if=operator.not_)
    """The sources of the modules that strategies may be of, by their names."""


SessionClock = Literal["broker", "event"]
