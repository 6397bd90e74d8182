"""Prompt templates that a pack supplies in place of the program's own."""

from typing import Annotated

from pydantic import AfterValidator, Field
from pydantic_core import PydanticCustomError

ANSWER = "{answer}"
"""The placeholder for the model's answer in a prediction template."""


def _has_answer(template: str) -> str:
    if template and ANSWER not in template:
        raise PydanticCustomError(
            "no_answer", "a template for predictions needs {place}", {"place": ANSWER}
        )
    return template


SystemPrompt = Annotated[str, Field(max_length=8_000)]
"""The system prompt of a model call."""
PredictionTemplate = Annotated[
    str, Field(max_length=2_000), AfterValidator(_has_answer)
]
"""The prompt that asks a model what will come of its answer, which replaces `{answer}`."""
