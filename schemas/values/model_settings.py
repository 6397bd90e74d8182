"""The settings of a call of the language model, as `MindStarted` records them."""

from typing import Annotated

from pydantic import Field

from schemas.values.base import Name, Part, Seconds
from schemas.values.setting import Setting


class ModelSettings(Part):
    """The language model of System 2."""

    name: Annotated[
        Name, Setting("model.name", start=None, form="optional_text", reach="sends")
    ]
    """The language model as litellm names it, such as `ollama/llama3.2`; without it only
    heuristics answer."""
    temperature: Annotated[float, Setting("model.temperature")] = Field(
        default=0.7, ge=0.0, le=2.0
    )
    """Its sampling temperature."""
    max_tokens: Annotated[int, Setting("model.max_tokens")] = Field(
        default=300, ge=1, le=8_000
    )
    """The longest answer, in tokens; a model that reasons has at least 2,000, for what it
    thinks counts."""
    deadline_s: Annotated[Seconds, Setting("model.deadline_s")] = 30.0
    """How long its answer is waited for."""
