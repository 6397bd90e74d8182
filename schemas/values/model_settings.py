"""The settings of a call of the language model, as `MindStarted` records them."""

from typing import Annotated

from pydantic import Field

from schemas.values.base import Name, Part, Seconds
from schemas.values.setting import Setting

# Of a setting's declaration each part has its line, not each argument.
# fmt: off


class ModelSettings(Part):
    """The language model of System 2."""

    name: Annotated[Name, Setting(
        "model.name",
        "The language model as litellm names it, such as ollama/llama3.2; without"
        " it only heuristics answer.", start=None, form="optional_text",
    )]
    """As litellm knows it, for example `ollama/llama3.2`."""
    temperature: Annotated[float, Setting(
        "model.temperature", "Its sampling temperature.",
    )] = Field(default=0.7, ge=0.0, le=2.0)
    max_tokens: Annotated[int, Setting(
        "model.max_tokens", "The longest answer.",
    )] = Field(default=300, ge=1, le=8_000)
    deadline_s: Annotated[Seconds, Setting(
        "model.deadline_s", "How long its answer is waited for.",
    )] = 30.0
