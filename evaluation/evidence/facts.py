"""Facts: what a recording holds that confidence follows from, in order.

Fires shown, outcomes, votes, models that agreed, edits that carry a belief over, and
settings that came into force. What each of them does to a belief is said by the fold of
beliefs alone.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TypeAlias

from immutables import Map

from projections.folds.learning.terms import Terms
from schemas.messages.feedback import Aspect, Strand
from schemas.state.evidence import Belief
from schemas.values.settings import LearningSettings


@dataclass(frozen=True, slots=True)
class ShownFact:
    """A heuristic's action was shown."""

    sequence: int
    key: str
    """Heuristic and content, as `belief_key` writes it."""
    declared: float
    fire_id: str


@dataclass(frozen=True, slots=True)
class Seen:
    """The world showed how a fire ended."""

    sequence: int
    key: str
    declared: float
    fire_id: str
    success: bool
    is_second: bool = False
    """Whether people's votes on the fire are settled."""


@dataclass(frozen=True, slots=True)
class Judged:
    """Somebody judged a fire, or the heuristic itself."""

    sequence: int
    key: str
    declared: float
    fire_id: str
    actor: str
    value: float
    """-1 to 1."""
    aspect: Aspect = "overall"
    base: float = 0.0
    """What the actor used to say until then."""
    earlier: tuple[Strand, ...] = ()
    """Where earlier votes on the fire count."""
    is_told: bool = False
    """Whether the world had shown how the fire went."""
    age_s: float | None = None
    """How long after the decision, if that is known."""
    is_models: bool = False
    """Whether a model's words were judged."""


@dataclass(frozen=True, slots=True)
class Neglected:
    """Several fires in a row were ignored, the last of them this one."""

    sequence: int
    key: str
    declared: float
    fire_id: str


@dataclass(frozen=True, slots=True)
class Agreed:
    """A model said the same by itself, in answer to a decision."""

    sequence: int
    key: str
    declared: float
    decision_id: str
    similarity: float


@dataclass(frozen=True, slots=True)
class Carried:
    """An edit took the belief on the old content over to the new one."""

    sequence: int
    key: str
    to: str


@dataclass(frozen=True, slots=True)
class Redeclared:
    """A heuristic was taught again, and what was learnt of it counts from there."""

    sequence: int
    key: str
    declared: float


@dataclass(frozen=True, slots=True)
class Revived:
    """A heuristic that had frozen of itself was given a new trial."""

    sequence: int
    key: str
    declared: float


@dataclass(frozen=True, slots=True)
class Termed:
    """Other constraints or priors came into force, for these heuristics by id alone."""

    sequence: int
    terms: Mapping[str, Terms]


@dataclass(frozen=True, slots=True)
class Ruled:
    """Other learning settings came into force."""

    sequence: int
    learning: LearningSettings
    is_recounted: bool
    """Whether what was believed is counted anew, as when a proposal is applied."""


Fact: TypeAlias = (
    Agreed
    | ShownFact
    | Seen
    | Judged
    | Neglected
    | Carried
    | Redeclared
    | Revived
    | Termed
    | Ruled
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence:
    """The facts of one stretch of an agent's life, and what was believed before it."""

    agent: str
    session: str
    """The id of its session; empty for several, or none."""
    began_ns: int
    """The broker's time of its first input."""
    believed: Map[str, Belief]
    learning: LearningSettings
    """The recorded settings in force at its start."""
    terms: Mapping[str, Terms] = field(default_factory=dict)
    """What of its judgement is not as these say, by heuristic id."""
    facts: tuple[Fact, ...]
    happened: Mapping[str, float]
    """How each fire came out, 0 to 1: by the world, else by the people's votes."""
    names: Mapping[str, str]
    """Heuristics' names by id."""
