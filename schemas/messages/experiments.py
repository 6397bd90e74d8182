"""A live experiment: two ways to behave, of which each session or person gets one.

Which one follows from a keyed draw alone, so nothing but the experiment itself
need be remembered, and every decision says which it was made under.
"""

from datetime import datetime
from typing import Literal

from msgspec import Struct
from pydantic import Field

from schemas.values.base import Name, Part, Unit
from schemas.values.settings import StrategySpec

VariantName = Literal["a", "b"]
UnitKind = Literal["session", "person"]

PERSONALITY_LIMIT = 4_000
"""How many characters a variant's personality may have."""

SHARE_OF_A = 0.5
"""The probability with which a unit gets variant `a`."""


class Variant(Part):
    """One way to behave; what it leaves open stays as it is without an experiment."""

    strategy: StrategySpec | None = None
    personality: str | None = Field(default=None, max_length=PERSONALITY_LIMIT)


AS_SET = Variant()
"""What is in force without an experiment."""


class Assignment(Part):
    """Under which variant of an experiment a decision was made."""

    id: Name
    """The experiment's."""
    variant: VariantName
    probability: Unit
    """The probability with which the unit got this variant."""
    unit: Name
    """The session or the person that the variant was drawn for."""
    washout: bool
    """Whether the other variant was in force so lately that it may still show."""


class Experiment(Struct, frozen=True, kw_only=True):
    """A running experiment, and which variant was in force last."""

    id: str
    a: Variant
    b: Variant
    by: UnitKind
    washout_s: float
    title: str
    started_at: datetime
    variant: VariantName | None = None
    """That of the last decision."""
    switched_at: datetime | None = None
    """The agent's time when the variant last became another."""

    def named(self, name: VariantName) -> Variant:
        """Return the variant of a name."""
        return self.a if name == "a" else self.b
