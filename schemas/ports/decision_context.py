"""The interface of strategies: the context of an occasion in, odds over arms out."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from msgspec import Struct, field
from pydantic import JsonValue

from schemas.messages.arms import Action, heuristic_arm
from schemas.messages.decisions import Excluded, Exploration, Factors, Gate, Wording
from schemas.state.evidence import NEVER, Recent
from schemas.values.reasons import Origin, Path, ResponseType, Silence


class Voiced(Struct, frozen=True, kw_only=True):
    """The words of a heuristic's answer, as skills make them."""

    text: str
    skills: tuple[str, ...]
    wording: Wording


class HeuristicCandidate(Struct, frozen=True, kw_only=True):
    """A heuristic whose condition matches the event."""

    heuristic_id: str
    condition_text: str
    suggested_action: str
    """What it would say."""
    confidence: float
    """For the threshold; a model never sees it."""
    alpha: float = 1.0
    """Successes and prior as pseudo-counts; confidence is the mean of Beta(alpha, beta)."""
    beta: float = 1.0
    """Failures and prior as pseudo-counts."""
    declared: float = 0.0
    """The confidence that whoever made it gave it, before any evidence."""
    similarity: float = 1.0
    content_hash: str = ""
    eligible: bool = True
    reason: str | None = None
    """Why it is not eligible."""
    response_type: ResponseType = "suggestion"
    action: Action | None = None
    urgency: float = 0.0
    origin: Origin = "learned"
    """Who made it."""
    recent: Recent | None = NEVER
    """When it last fired and succeeded; None if nobody knows."""
    voiced: Voiced | None = None
    """Its words by skills; None: as `suggested_action`."""

    @property
    def arm(self) -> str:
        """The arm of answering by it."""
        voice = self.voiced.wording.digest if self.voiced is not None else None
        return heuristic_arm(self.heuristic_id, self.content_hash, voice)

    @property
    def words(self) -> str:
        """What is said when it answers."""
        return self.suggested_action if self.voiced is None else self.voiced.text


class DecisionContext(Struct, frozen=True, kw_only=True):
    """The input of a strategy."""

    event_id: str
    event_text: str
    event_source: str
    salience: Mapping[str, float] = field(default_factory=dict)
    candidates: tuple[HeuristicCandidate, ...] = ()
    """Best match first."""
    immediate: bool = True
    goals: tuple[str, ...] = ()
    personality_biases: Mapping[str, float] = field(default_factory=dict)
    urgency: float = 0.0
    llm_arm: str | None = None
    """The arm of asking the model; None if there is no model."""
    now: datetime | None = None
    """The agent's time."""
    silences: tuple[HeuristicCandidate, ...] = ()
    """Matching heuristics whose action is to say nothing, most confident first; never shown
    to a model."""
    silence_asks: float = 0.0
    """The probability of asking a model even where silence was learnt."""
    trials: float = 0.0
    """The probability with which one that was trusted once answers where nothing else does."""


class Scored(Struct, frozen=True):
    """What a strategy ranks a candidate by."""

    arm: str
    score: float
    factors: Factors | None = None


@dataclass(frozen=True, slots=True)
class Question:
    """A strategy's own prompt for the model."""

    system: str
    prompt: str


class Odds(Struct, frozen=True, kw_only=True):
    """The output of a strategy: a probability for each arm, in a fixed order."""

    arms: tuple[tuple[str, float], ...]
    greedy: str
    """The arm that the strategy prefers, before any exploration."""
    silence: Silence
    """Why nothing is said, should the arm be silence."""
    gates: tuple[Gate, ...] = ()
    exploration: Exploration = "none"
    """By which scheme exploration changed the odds."""
    excluded: Excluded | None = None
    """The exploration that was held back, and why."""
    scores: tuple[Scored, ...] = ()
    """What candidates were ranked by; empty if that is their similarity."""
    question: Question | None = None
    """What the model is asked, should it be asked; None: by Echoic's own prompt."""

    quiet: str | None = None
    """The arm of the heuristic that asks for silence, if one does."""

    @classmethod
    def certain(cls, arm: str, silence: Silence, *gates: Gate) -> "Odds":
        """Return all the probability on one arm."""
        return cls(arms=((arm, 1.0),), greedy=arm, silence=silence, gates=gates)


class Strategy(Protocol):
    """A policy over arms: a pure function of the context, with its parameters bound.

    It may neither do I/O nor draw: a replay calls it again and must get the same odds.
    """

    @property
    def name(self) -> str:
        """What settings call it."""

    @property
    def version(self) -> int:
        """Raised when the same context would give other odds."""

    @property
    def config(self) -> dict[str, JsonValue]:
        """Its settings in full, for the record."""

    def decide(self, context: DecisionContext) -> Odds:
        """Return the odds over the arms at this occasion."""


@dataclass(frozen=True, slots=True)
class ReadAnswer:
    """A model's answer, parsed."""

    text: str
    """Empty if it chose to say nothing."""
    predicted_success: float
    prediction_confidence: float


class DecisionResult(Struct, frozen=True, kw_only=True):
    """A decision as its receiver sees it, once it is final."""

    path: Path
    response_text: str = ""
    response_id: str = ""
    matched_heuristic_id: str | None = None
    predicted_success: float = 0.0
    prediction_confidence: float = 0.0
    prompt_text: str = ""
    metadata: Mapping[str, JsonValue] = field(default_factory=dict)
