"""The comparison as a document: what the terminal, the page and `--json` all show.

Version 1. Every number names its kind, and none stands here that the recording does not
support: what a gate refused is null, and `withheld` beside it says so.
"""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Literal

from evaluation.compare.charts import (
    CalibrationPart,
    CurvePart,
    Kind,
    Timeline,
    TradeoffPoint,
    WeightsPart,
)
from evaluation.compare.sayings import Saying
from evaluation.ope.results import Estimate
from evaluation.ope.settings import EstimationSettings
from evaluation.ope.verdicts import Reason
from replay.recording.session_outcomes import SessionSummary

Status = Literal["regressed", "improved", "unobserved", "unsupported"]
Whose = Literal["baseline", "challenger"]
ArmClass = Literal["silent", "heuristic", "llm", "race"]


@dataclass(frozen=True, slots=True, kw_only=True)
class StrategyPart:
    """A strategy as it was compared."""

    label: str
    name: str
    version: int
    config: Mapping[str, object]
    """Its name and parameters."""
    config_hash: str
    personality: str | None = None
    template: str | None = None
    """The personality template, if it is another one."""

    @property
    def has_other_voice(self) -> bool:
        """Whether it says things in another voice than was recorded."""
        return self.personality is not None or self.template is not None


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionPart:
    """One recorded session."""

    id: str
    agent: str
    title: str
    origin: str
    """`file` or `log`."""
    decisions: int
    asked: int
    """Decisions in which the strategy was asked; the others ended at a gate before it."""
    started_at: str
    ended_at: str
    digest: str


@dataclass(frozen=True, slots=True, kw_only=True)
class OutcomePart:
    """How outcomes were counted, and how many are known."""

    prefer: str
    window_s: float | None
    silence: float
    unseen: float | None
    known: int
    unknown: int
    censored: int
    by_source: dict[str, int]
    feedback_rate: float
    """Which share of the answers said was voted on."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DivergencePart:
    """The first output at which self-replay differs from the recording."""

    session: str
    sequence: int
    index: int | None
    what: str
    recorded: str | None
    replayed: str | None
    path: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class SelfReplayPart:
    """The recorded strategy against its own recording."""

    identical: int
    total: int
    is_identical: bool
    divergence: DivergencePart | None = None
    odds_differ: int = 0
    """Decisions whose recorded odds are not those of the recorded strategy."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Fact:
    """One row: a number for each side, and what kind of number it is."""

    name: str
    label: str
    kind: Kind
    baseline: float | None
    challenger: float | None
    delta: float | None = None
    unit: str = ""
    low: float | None = None
    high: float | None = None
    """The range of the challenger's number, if a part of it is imputed."""
    note: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Headline:
    """A row on success: observed, estimated or predicted."""

    name: str
    label: str
    kind: Kind
    baseline: float | None
    challenger: float | None
    delta: float | None
    ci: tuple[float, float] | None = None
    extra: dict[str, float | None] = field(default_factory=dict)
    note: str | None = None
    withheld: bool = False
    """Whether a gate holds it back."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Choice:
    """What one side does at a decision."""

    arm: str
    arm_class: ArmClass
    text: str | None
    name: str | None = None
    """What the heuristic is called."""
    content_unknown: bool = False
    """Whether it says something that the recording does not hold."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GatePart:
    """A gate that one side's strategy passed or not."""

    whose: Whose
    gate: str
    passed: bool
    value: float | None
    threshold: float | None
    margin: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Logged:
    """The arm that was taken, and its propensity."""

    arm: str
    probability: float
    challenger_probability: float
    """The propensity of the challenger's arm; 0: it could not be observed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Flip:
    """A decision at which the challenger would take another arm."""

    decision: str
    session: str
    sequence: int
    at: str
    source: str
    type: str
    text: str
    baseline: Choice
    challenger: Choice
    logged: Logged
    outcome: float | None
    outcome_from: str | None
    status: Status
    explanation: tuple[GatePart, ...]
    share: float = 1.0
    """The probability that the two take different arms, by which this flip is counted: 1
    for strategies that never draw."""
    outcome_of: Whose | None = None
    """Whose arm was taken, so whose outcome it is; None if neither's."""
    compare_url: str | None = None
    """Where Jaeger shows the decision as recorded beside the challenger's, if traced."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MatrixCell:
    """How many decisions one side's class of arm and the other's meet in.

    Of those that reached a strategy, by the odds that each side has there: what exploration
    took instead counts for neither.
    """

    baseline: ArmClass
    challenger: ArmClass
    count: float
    flips: float = 0.0
    """In how many of them the arms differ."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Sensitivity:
    """The same estimate under one other assumption."""

    what: str
    difference: float | None
    ci: tuple[float, float] | None
    verdict: str
    withheld: bool = False
    """Whether a gate holds the difference back."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Breakdown:
    """One sort of event by itself; no verdict is given on a part."""

    by: str
    value: str
    decisions: int
    flips: float
    flip_observations: float
    difference: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Holm:
    """The p-value of a difference, alone and adjusted for several challengers."""

    p: float
    adjusted: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Drift:
    """How often the challenger's own past leads it elsewhere than the logged state does."""

    decisions: int
    """Those that reached a strategy in both."""
    differ: int
    baseline: float | None = None
    """The share of decisions where the baseline's own past leads it elsewhere, without the
    exploration that was recorded; None if there was none."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CassettePart:
    """Which share of the challenger's requests the recording could answer."""

    mode: str
    hits: int
    misses: int
    hit_rate: float | None
    """None where nothing was asked."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Stretch:
    """The inputs of an agent that were read, by sequence."""

    agent: str
    first: int
    last: int


@dataclass(frozen=True, slots=True, kw_only=True)
class PackPart:
    """A pack that was in force."""

    name: str
    version: str
    digest: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Provenance:
    """Where every number comes from."""

    command: str
    code: str
    """The version of the program."""
    epochs: tuple[str, ...]
    ranges: tuple[Stretch, ...]
    seeds: tuple[str, ...]
    embedders: tuple[str, ...]
    packs: tuple[PackPart, ...]
    estimator: EstimationSettings


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """One challenger against the baseline."""

    challenger: StrategyPart
    verdict: str
    short_term_only: bool
    estimand: str
    reasons: tuple[Reason, ...]
    next: tuple[str, ...]
    facts: tuple[Fact, ...]
    headline: tuple[Headline, ...]
    estimate: Estimate
    """With None for every value that a gate holds back."""
    holm: Holm | None
    sensitivity: tuple[Sensitivity, ...]
    would_change: tuple[str, ...]
    matrix: tuple[MatrixCell, ...]
    flips_total: float
    """The sum of all flips' shares: how many decisions are expected to differ."""
    flips: tuple[Flip, ...]
    drift: Drift
    tradeoff: tuple[TradeoffPoint, ...]
    calibration: CalibrationPart | None
    curves: tuple[CurvePart, ...]
    timeline: tuple[Timeline, ...]
    breakdown: tuple[Breakdown, ...]
    weights: WeightsPart
    cassette: CassettePart
    whom: str = ""
    """For whom the verdict is, in words; `estimate.difference.whom` names them."""
    flip_decisions: int = 0
    """In how many decisions the two may differ; the list holds the worst of them."""
    flip_counts: dict[str, float] = field(default_factory=dict)
    """The sums of the shares by status."""
    sayings: tuple[Saying, ...] = ()
    """What another voice says otherwise, in the order of the recordings."""
    sayings_total: int = 0
    """How many there are; the list holds the first of them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Document:
    """A whole comparison, of one baseline with one or more challengers."""

    v: int = 1
    kind: str = "comparison"
    echoic: str
    verdict: str
    """Of the first challenger."""
    command: str
    watermark: str | None
    baseline: StrategyPart
    sessions: tuple[SessionPart, ...]
    frozen: str
    """A digest of the set of recordings, whatever order they were named in."""
    outcome: OutcomePart
    session_outcomes: tuple[SessionSummary, ...] = ()
    whole_sessions: tuple[str, ...] = ()
    """What stands beside each verdict of these; empty where no pack declares any."""
    self_replay: SelfReplayPart
    comparisons: tuple[Comparison, ...]
    provenance: Provenance

    def as_json(self) -> dict[str, object]:
        """Return the document for JSON; `verdict` stands before all else."""
        fields = asdict(self)
        return {"v": fields.pop("v"), "verdict": fields.pop("verdict"), **fields}
