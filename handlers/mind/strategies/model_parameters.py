"""Asking: the parameters that every strategy has which may ask the model.

What a strategy leaves open is the settings' to say, and no part of its configuration.
"""

from functools import cached_property
from typing import ClassVar

from pydantic import Field, JsonValue

from schemas.packs.templates import PredictionTemplate, SystemPrompt
from schemas.values.base import Part, Unit
from schemas.values.settings import Prediction, Presentation


class Asking(Part):
    """How the model is asked; None is as the settings say."""

    name: ClassVar[str]

    max_candidates: int | None = Field(default=None, ge=0, le=5)
    """How many candidates it is shown."""
    llm_confidence_ceiling: Unit | None = None
    """Its own confidence counts up to here."""
    present: Presentation | None = None
    """How candidates are put to it."""
    prediction: Prediction | None = None
    """How it is asked how its answer will turn out."""
    system_prompt: SystemPrompt | None = None
    """What it is told that it is; `@FILE` takes it from a file."""
    prediction_prompt_template: PredictionTemplate | None = None
    """How it is asked for a separate prediction, its answer in place of `{answer}`."""

    @cached_property
    def config(self) -> dict[str, JsonValue]:
        """What is set, for the record."""
        return {"strategy": self.name, **self.model_dump(exclude_none=True)}
