"""What the mind decided: the arm it took, and everything that led there.

`Decided` is made at the occasion. If its answer is not final then, one `Completed` or
`Dropped` follows.
"""

from typing import Annotated, ClassVar, Literal

from pydantic import Field

from schemas.messages.controls import Action
from schemas.messages.experiments import Assignment
from schemas.messages.sensing import Dimension
from schemas.values.base import Moment, Name, StructMessage, StructPart, Unit, written
from schemas.values.reasons import Drop, Kind, Path, ResponseType, Silence, Timing

Arm = Annotated[str, Field(min_length=1, max_length=600)]
"""What an outcome is credited to; it holds names of up to 200 characters and hashes."""

Exploration = Literal["none", "uniform", "challenger"]
"""By which scheme other arms than the strategy's were possible."""

Exclusion = Literal["critical_urgency", "threat", "muted", "budget_exhausted"]
"""Why nothing else was tried where it would have been."""

SILENT = "silent"
"""The arm of saying nothing."""

RACE = "race:"
"""What the arms of races begin with."""


def heuristic_arm(heuristic_id: str, content_hash: str) -> str:
    """Return the arm of answering by a heuristic: another content is another arm."""
    return f"heuristic:{heuristic_id}@{content_hash}"


def llm_arm(model: str, template_hash: str, sampling_hash: str) -> str:
    """Return the arm of asking a model in one way; neither event nor candidates are part of
    it.
    """
    return f"llm:{model}@{template_hash}@{sampling_hash}"


def template_of(llm: str) -> str:
    """Return the template hash that an arm of asking a model was made with."""
    return llm.rsplit("@", 2)[1]


def race_arm(llm: str, heuristic: str, deadline_ms: int) -> str:
    """Return the arm of asking the model, with a heuristic that answers if it takes too
    long.
    """
    return f"{RACE}{llm}+{heuristic}@{deadline_ms}"


def race_deadline_ms(arm: str, llm: str, heuristic: str) -> int | None:
    """Return the deadline in the arm of a race between these two; None if it is none."""
    deadline = arm.removeprefix(race_arm(llm, heuristic, 0)[:-1])
    return int(deadline) if deadline.isdecimal() else None


class Gate(StructPart, frozen=True, kw_only=True):
    """One test on the way to an answer."""

    name: Name
    passed: bool
    value: float | None = None
    threshold: float | None = None
    margin: float | None = None
    """Value minus threshold: how far it was from turning out otherwise."""
    note: str | None = None


class Salience(StructPart, frozen=True, kw_only=True):
    """Why the event mattered."""

    dimensions: dict[Dimension, Unit]
    score: Unit
    """S, the weighted mean of the dimensions."""
    sensitivity: Unit
    """s, how little habituated the mind is to such events."""
    effective: Unit
    """S times s."""


class Factors(StructPart, frozen=True, kw_only=True):
    """What the full score multiplies similarity and confidence by; 1 changes nothing."""

    recency: float
    """Over 1 if it succeeded of late."""
    origin: float
    """By where it is from."""
    habituation: float
    """Under 1 if it was said too often of late."""


class Candidate(StructPart, frozen=True, kw_only=True):
    """One arm that the strategy weighed."""

    arm: Arm
    probability: Unit
    eligible: bool = written(True)
    reason: str | None = None
    """Why it is not eligible."""
    similarity: float | None = None
    confidence: Unit | None = None
    alpha: float | None = None
    """A heuristic's pseudo-counts: successes with the prior."""
    beta: float | None = None
    """Failures with the prior."""
    score: float | None = None
    """What it was ranked by: the similarity, unless the strategy says otherwise."""
    factors: Factors | None = None
    """What the score is made of besides, if it is the full one."""
    withheld: bool | None = None
    """Whether a draw kept it from the model, so that it could not copy it; None: nobody
    drew."""
    silence: bool | None = None
    """Whether it says nothing: the arm by which it answers is that of silence."""


class Excluded(StructPart, frozen=True, kw_only=True):
    """Exploration that was held back."""

    reason: Exclusion
    mass: Unit
    """The probability that would have gone to other arms than the strategy's."""


class RelevantGoal(StructPart, frozen=True, kw_only=True):
    """A goal that was chosen because the event is about it."""

    text: str
    similarity: float


class Draw(StructPart, frozen=True, kw_only=True):
    """The keyed draw that chose among the arms."""

    purpose: Name
    value: Unit


class Decision(StructMessage, frozen=True, kw_only=True):
    """A decision or what became of it."""

    kind: ClassVar[Kind] = "decision"


class Decided(Decision, frozen=True, kw_only=True):
    """The mind took one arm at an occasion."""

    token: ClassVar[str] = "decided"

    event_id: Name
    """The occasion: the event decided on."""
    source: Name
    type: Name
    domain: Name
    path: Path
    arm: Arm
    """The arm chosen."""
    probability: Unit
    """The probability with which it was taken, exploration included."""
    greedy_arm: Arm
    """The arm the strategy holds best."""
    silence: Silence | None = None
    """Why nothing is said; none when something is, or may be later."""
    final: bool
    """False: a `Completed` or `Dropped` follows."""
    text: str | None = None
    response_type: ResponseType | None = None
    action: Action | None = None
    urgency: Unit = written(0.0)
    timing: Timing = written("immediate")
    expires_at: Moment | None = None
    """After then an answer is stale."""
    matched_heuristic_id: str | None = None
    """The heuristic that answered; on path `llm` its best candidate, which earns nothing."""
    predicted_success: Unit = written(0.0)
    prediction_confidence: Unit = written(0.0)
    strategy: Name
    strategy_version: int
    config_hash: Name
    exploration: Exploration = written("none")
    """How the strategy's odds were mixed with others before the draw."""
    exploration_excluded: Excluded | None = None
    """What would have been mixed in, were this no occasion to try things."""
    draw: Draw | None = None
    candidates: tuple[Candidate, ...] = written(())
    gates: tuple[Gate, ...] = written(())
    salience: Salience
    session_id: str | None = None
    prompt_digest: str | None = None
    embedding: str | None = None
    """The event's vector (base64), if not every machine would compute the same."""
    flags: tuple[str, ...] = written(())
    experiment: Assignment | None = None
    """Which variant of a running experiment was in force."""
    goals: tuple[RelevantGoal, ...] | None = None
    """The goals that the event is about, if only such counted; nearest first."""
    chain: str
    """The agent's chain hash up to and with its previous group."""

    @property
    def is_tried(self) -> bool:
        """Whether exploration took another arm than the strategy holds best."""
        return self.exploration != "none" and self.arm != self.greedy_arm


class Completed(Decision, frozen=True, kw_only=True):
    """The answer to a decision that was not final is there."""

    token: ClassVar[str] = "completed"

    decision_id: Name
    ask_id: Name
    path: Literal["llm", "fallback", "heuristic"]
    """`heuristic`: it stood by, and the model did not answer by the deadline."""
    text: str
    response_type: ResponseType
    action: Action | None = None
    model: str
    """The model that was asked."""
    predicted_success: Unit
    prediction_confidence: Unit
    matched_heuristic_id: str | None = None
    also_answers: tuple[Name, ...] = written(())
    """Further decisions that this answers, when several were batched."""
    winner: Arm | None = None
    """In a race of the model with a heuristic: the arm whose words these are."""
    agrees_with: tuple[Name, ...] | None = None
    """Heuristics shown to the model whose words these are; it may have copied them, so
    they earn nothing by it."""
    agreement: tuple[float, ...] | None = None
    """How alike each of them is; not recorded in the first edition."""


class Dropped(Decision, frozen=True, kw_only=True):
    """A decision that was not final ends with nothing said."""

    token: ClassVar[str] = "dropped"

    decision_id: Name
    ask_id: Name | None = None
    reason: Drop
    detail: Annotated[str, Field(max_length=2_000)] = written("")


class HeuristicFired(StructMessage, frozen=True, kw_only=True):
    """A heuristic took part in a decision."""

    kind: ClassVar[Kind] = "fire"
    token: ClassVar[str] = "heuristic_fired"

    decision_id: Name
    event_id: Name
    heuristic_id: Name
    content_hash: Name
    mode: Literal["shown", "suggested", "kept"]
    """`shown`: the person saw its action; `suggested`: only the model did; `kept`: it kept
    the companion from speaking."""
    similarity: float
    confidence: Unit
