"""The fixed model of a day: it answers a person's words, and is silent on all else.

It knows nothing, so that whatever else is said is the mind's own.
"""

from typing import Any

import orjson

from schemas.values.model_settings import ModelSettings

NAME = "fixed"
SETTINGS = ModelSettings(name=NAME)
_WORDS = "I know no more of that than you do."


def answer(*, is_persons: bool) -> str:
    """Return what it says, in the form that the prompt asks for."""
    fields: dict[str, Any] = {
        "response": _WORDS if is_persons else "",
        "predicted_success": 0.5,
        "prediction_confidence": 0.5,
    }
    return orjson.dumps(fields).decode()
