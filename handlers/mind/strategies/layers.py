"""`layers`: which models a character asks, so that the ways of being one are compared."""

from typing import ClassVar

from pydantic import Field

from handlers.mind.strategies.heuristic_first import HeuristicFirst
from schemas.packs.autonomous import Tier
from schemas.packs.characters import Mode


class Layers(HeuristicFirst):
    """`layers`: a character acts by its layers; `mode` or `tier` say how it asks models.

    An agent without layers decides as by heuristic_first.
    """

    name: ClassVar[str] = "layers"
    version: ClassVar[int] = 1

    mode: Mode | None = Field(default=None, exclude_if=lambda mode: mode is None)
    """Which models it asks: `split`, `single` or `scripted`; none: as its pack says."""
    tier: Tier | None = Field(default=None, exclude_if=lambda tier: tier is None)
    """How an autonomous one decides, 0 to 3; none: as its pack says."""
