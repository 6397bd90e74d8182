"""The facts of a recording that confidence follows from.

Each is a fire, an outcome, a vote, a model's agreement, an edit or a change of settings,
with the sequence of its input. What a fact does to a belief is for `refold` alone.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TypeAlias

from immutables import Map

from projections.folds.learning.beliefs import Terms
from projections.folds.learning.vote_targets import Vote
from schemas.messages.feedback import Strand
from schemas.state.evidence import Belief
from schemas.values.learning_settings import LearningSettings


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
    """The outcome of a fire was observed in the world."""

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
    vote: Vote
    earlier: tuple[Strand, ...] = ()
    """The strands in which earlier votes on the fire count."""


@dataclass(frozen=True, slots=True)
class Neglected:
    """Several fires in a row were ignored, the last of them this one."""

    sequence: int
    key: str
    declared: float
    fire_id: str


@dataclass(frozen=True, slots=True)
class Agreed:
    """A model that was not shown the heuristic said the same."""

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
    """A heuristic was taught again; its evidence now counts from the new confidence."""

    sequence: int
    key: str
    declared: float


@dataclass(frozen=True, slots=True)
class Revived:
    """A heuristic that had frozen by its evidence was released to a new trial."""

    sequence: int
    key: str
    declared: float


@dataclass(frozen=True, slots=True)
class Termed:
    """Other constraints or priors came into force; heuristics not listed have none."""

    sequence: int
    terms: Mapping[str, Terms]


@dataclass(frozen=True, slots=True)
class Ruled:
    """Other learning settings came into force; earlier evidence is recounted by them."""

    sequence: int
    learning: LearningSettings


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
    """Constraints and priors of the heuristics that have any, by id."""
    facts: tuple[Fact, ...]
    happened: Mapping[str, float]
    """Each fire's outcome, 0 to 1: as observed in the world, else by people's votes."""
    names: Mapping[str, str]
    """Heuristics' names by id."""
