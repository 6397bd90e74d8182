"""Live experiments: two variants of behaviour, of which each session or person gets one.

A keyed draw decides which, so no assignment has to be stored; every decision records the
variant it was made under.
"""

from datetime import datetime
from typing import Annotated, Literal

from msgspec import Meta, Struct

from schemas.values.base import MessagePart, Name, Unit
from schemas.values.settings import StrategySpec

VariantName = Literal["a", "b"]
UnitKind = Literal["session", "person"]

_PERSONALITY_LIMIT = 4_000
"""How many characters a variant's personality may have."""

SHARE_OF_A = 0.5
"""The probability with which a unit gets variant `a`."""


class Variant(MessagePart, frozen=True, kw_only=True):
    """One variant of behaviour; what is None stays as it is without an experiment."""

    strategy: StrategySpec | None = None
    personality: Annotated[str, Meta(max_length=_PERSONALITY_LIMIT)] | None = None
    """What a model is told of its character."""
    template: Name | None = None
    """A personality template, or `none`."""

    @property
    def has_other_voice(self) -> bool:
        """Whether it names a voice of its own."""
        return self.personality is not None or self.template is not None


AS_SET = Variant()
"""What is in force without an experiment."""


class Assignment(MessagePart, frozen=True, kw_only=True):
    """The variant of an experiment that a decision was made under."""

    id: Name
    """The experiment's."""
    variant: VariantName
    probability: Unit
    """The probability with which the unit got this variant."""
    unit: Name
    """The session or the person that the variant was drawn for."""
    washout: bool
    """Whether the other variant was in force so recently that it may still have effects."""


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
