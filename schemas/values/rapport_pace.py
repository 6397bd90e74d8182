"""The rates at which rapport moves, as `MindStarted` records them."""

from typing import Annotated

from pydantic import Field

from schemas.values.base import Part, Unit
from schemas.values.setting import Setting


class Pace(Part):
    """The rates at which rapport moves."""

    gain: Annotated[Unit, Setting("rapport.gain")] = 0.05
    """The share of what is missing to 1 that a vote of 1 adds to rapport."""
    loss: Annotated[Unit, Setting("rapport.loss")] = 0.10
    """The share of what there is that a vote of -1 takes from rapport."""
    half_life_days: Annotated[float, Setting("rapport.half_life_days")] = Field(
        default=30.0, ge=0.01, le=36_500.0
    )
    """After how many days without a vote half the distance of rapport to neutral is left."""


USUAL = Pace.model_construct()
