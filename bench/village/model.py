"""The fixed model of a day: it says a line to whoever is near, and is silent half the time.

It knows nothing, so that whatever a villager does besides is its own.
"""

import orjson

from schemas.values.ids import draw
from schemas.values.model_settings import ModelSettings

NAME = "fixed"
SETTINGS = ModelSettings(name=NAME)
_LINES = (
    "The berries are good today.",
    "Have you been to the river?",
    "I think it will rain.",
    "We could do with another fire.",
)


def answer(ask_id: str, prompt: str) -> str:
    """Return what it says, in the form that the prompt asks for."""
    drawn = draw("fixed", "model", ask_id, "line")
    is_alone = "Near you: none" in prompt
    words = "" if is_alone or drawn < 0.5 else _LINES[int((drawn - 0.5) * 8)]
    return orjson.dumps(
        {
            "thinking": "It is a day like others.",
            "speaking": words,
            "action": {"type": "talk"} if words else None,
            "goal": None,
            "priorities": None,
        }
    ).decode()
