"""Proposals in the state: what each would change, and its status."""

from typing import Literal, TypeAlias

from immutables import Map
from msgspec import Struct

from schemas.messages.learning import CharacterChange, Inferred, SettingChange
from schemas.messages.repertoire import RepertoireChange
from schemas.values.learning_settings import LearningSettings
from schemas.values.settings import StrategySpec
from schemas.values.vectors import Vector


class Overrides(Struct, frozen=True, kw_only=True):
    """The settings of an agent that proposals can override; None: not overridden."""

    strategy: StrategySpec | None
    tuned: LearningSettings | None


_ProposalStatus: TypeAlias = Literal["submitted", "applied", "reverted"]


class Proposal(Struct, frozen=True, kw_only=True):
    """Settings or heuristics that somebody proposed to change, and what became of that."""

    id: str
    changes: tuple[SettingChange, ...]
    evidence: str
    figures: Map[str, float]
    by: str
    status: _ProposalStatus = "submitted"
    place: int = 0
    """The sequence of the input that applied it last."""
    before: Overrides | None = None
    """What was in force before it was applied, to be restored."""
    after: Overrides | None = None
    """What it put in force."""
    repertoire: RepertoireChange | None = None
    """What of the heuristics it would change, if it is about these."""
    vectors: tuple[Vector, Vector] = (b"", b"")
    """The embeddings of the condition and text of a heuristic that would be added, or of a
    goal."""
    inferred: Inferred | None = None
    """What would count as known, or as a goal, if it is about that."""
    character: CharacterChange | None = None
    """What of a character would change, if it is about that."""
