"""Templates of prompts that are not the program's own."""

from typing import Annotated

from pydantic import AfterValidator, Field
from pydantic_core import PydanticCustomError

ANSWER = "{answer}"
"""Where a template for predictions has the answer."""


def _has_answer(template: str) -> str:
    if template and ANSWER not in template:
        raise PydanticCustomError(
            "no_answer", "a template for predictions needs {place}", {"place": ANSWER}
        )
    return template


SystemPrompt = Annotated[str, Field(max_length=8_000)]
"""What a model is told that it is."""
PredictionTemplate = Annotated[
    str, Field(max_length=2_000), AfterValidator(_has_answer)
]
"""How a model is asked what will come of its answer, which takes the place of
`{answer}`."""
