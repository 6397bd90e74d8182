"""Constraints: how far evidence may move a heuristic's confidence, set by its author.

A heuristic's own override its pack's, and those override the settings. Confidence is
bounded only where a bound is set, and then never closer to certainty than 0.05.
"""

from typing import Annotated, Self

from pydantic import Field, model_validator
from pydantic_core import PydanticCustomError

from schemas.values.base import Part

OUTER_BOUNDS = (0.05, 0.95)
"""No bounded confidence leaves these."""

_Bound = Annotated[float, Field(ge=OUTER_BOUNDS[0], le=OUTER_BOUNDS[1])]


class Constraints(Part):
    """What is left open here follows the pack, else the settings."""

    locked: bool | None = None
    """Whether no evidence at all moves the confidence."""
    floor: _Bound | None = None
    """The confidence never falls under this."""
    ceiling: _Bound | None = None
    """The confidence never rises over this."""
    feedback_weight: float | None = Field(default=None, ge=0.25, le=2.0)
    """What multiplies the weight of people's votes."""

    @model_validator(mode="after")
    def _bounds_are_in_order(self) -> Self:
        floor, ceiling = self.floor, self.ceiling
        if floor is not None and ceiling is not None and floor > ceiling:
            raise PydanticCustomError("bounds", "the floor is over the ceiling")
        return self


UNCONSTRAINED = Constraints.model_construct()


def within(own: Constraints, wider: Constraints) -> Constraints:
    """Return a heuristic's constraints, completed by those of its pack.

    If a bound of one contradicts a bound of the other, the heuristic's own holds.
    """
    if wider == UNCONSTRAINED:
        return own
    said = {**wider.model_dump(exclude_none=True), **own.model_dump(exclude_none=True)}
    if said.get("floor", 0.0) > said.get("ceiling", 1.0):
        # The heuristic's own bounds agree with each other, so the one
        # it leaves open is the pack's.
        said.pop("floor" if own.floor is None else "ceiling")
    return Constraints.model_validate(said)
