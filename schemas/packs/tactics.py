"""Tactics: what a world's things cost, by which a queue works without a model."""

from math import ceil
from typing import Annotated, Self

from pydantic import Field, field_validator, model_validator
from pydantic_core import PydanticCustomError

from schemas.packs import conditions
from schemas.values.base import Name, Part, Token

_Amount = Annotated[int, Field(ge=1, le=1_000_000)]
_Costs = Annotated[dict[Token, _Amount], Field(max_length=32)]
"""How much of what something takes."""


class Building(Part):
    """Something that can be built."""

    costs: _Costs = Field(default_factory=dict)
    limit: Annotated[int, Field(ge=0, le=10_000)] | None = None
    """So many may stand at once; None: any number."""
    per_head: Annotated[float, Field(gt=0.0, le=100.0)] | None = None
    """So many for each who lives there, rounded up, and `limit` at most: of half a one
    for each, five for nine villagers."""

    def most(self, heads: int | None) -> int | None:
        """Return how many may stand where so many live; None: any number."""
        if self.per_head is None or heads is None:
            return self.limit
        fit = ceil(self.per_head * heads)
        return fit if self.limit is None else min(fit, self.limit)


class _Recipe(Part):
    """Something that is made of others."""

    takes: _Costs = Field(min_length=1)
    makes: _Amount = 1
    """How many of it come of that."""


class Tactics(Part):
    """How a character works off its queue and its planned builds, without a model."""

    stock: tuple[Name, ...] = ("inventory", "stockpile")
    """The fields of the body that tell what there is: amounts by name."""
    near: Name = "near"
    """The field that tells what is near: a list of `{item, id, distance}`."""
    built: Name = "buildings"
    """The field that tells how many of each building stand, by name."""
    heads: Name = "villagers"
    """The field that tells how many live there."""
    amount: Name = "amount"
    """The field of a report that tells how much was gathered or made; else all of it was."""
    full: str = ""
    """When nothing more can be carried, as a condition; empty: never."""
    load: _Amount = 20
    """How much is gathered before it is put down."""
    gather: Token = "gather"
    craft: Token = "craft"
    build: Token = "build"
    deposit: Token | None = "deposit_items"
    """What putting down is called; None: what is gathered is kept."""
    remember: Token | None = None
    """What keeping something in mind is called, which the character does by itself, without
    its world; None: the world is asked for whatever is planned."""
    during: tuple[Token, ...] = ("idle", "rest", "wander", "talk", "follow", "explore")
    """What work takes the place of; it waits for all else."""
    resources: tuple[Token, ...] = Field(default=(), max_length=256)
    """What can be gathered; empty: whatever is asked for."""
    buildings: dict[Token, Building] = Field(default_factory=dict, max_length=256)
    recipes: dict[Token, _Recipe] = Field(default_factory=dict, max_length=256)
    give_up: Annotated[int, Field(ge=1, le=100)] = 3
    """After so many failures in a row a planned build is given up."""

    @field_validator("full")
    @classmethod
    def _can_be_read(cls, full: str) -> str:
        if full:
            conditions.parse(full)
        return full

    @model_validator(mode="after")
    def _are_different(self) -> Self:
        names = [self.gather, self.craft, self.build, self.deposit]
        if self.remember is not None:
            names.append(self.remember)
        if len(set(names)) < len(names):
            raise PydanticCustomError("duplicate", "two kinds of work have one name")
        return self
