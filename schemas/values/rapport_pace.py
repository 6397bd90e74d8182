"""The rates at which rapport moves, as `MindStarted` records them."""

from typing import Annotated

from pydantic import Field

from schemas.values.base import Part
from schemas.values.setting import Setting


class Pace(Part):
    """The rates at which rapport moves; the defaults are those of a log that has none."""

    gain: Annotated[float, Setting("rapport.gain")] = Field(
        default=0.05, ge=0.0, le=1.0
    )
    """The share of what is missing to 1 that a vote of 1 adds to rapport."""
    loss: Annotated[float, Setting("rapport.loss")] = Field(
        default=0.10, ge=0.0, le=1.0
    )
    """The share of what there is that a vote of -1 takes from rapport."""
    half_life_days: Annotated[float, Setting("rapport.half_life_days")] = Field(
        default=30.0, ge=0.01, le=36_500.0
    )
    """After how many days without a vote half the distance of rapport to neutral is left."""


USUAL = Pace.model_construct()
