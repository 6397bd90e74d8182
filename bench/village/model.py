"""The fixed model of a day: now and then it opens a talk, and seldom it answers.

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


_OPENS, _ANSWERS = 0.1, 0.03
"""How likely it says something in a silence, and to what it heard."""


def answer(ask_id: str, prompt: str) -> str:
    """Return what it says, in the form that the prompt asks for."""
    drawn = draw("fixed", "model", ask_id, "line")
    # Each line is heard by up to five: were answers as likely as openings, a talk would
    # never end.
    likely = _OPENS if "Said to you: \n" in f"{prompt}\n" else _ANSWERS
    if "Near you: none" in prompt:
        likely = 0.0
    words = _LINES[int(drawn / likely * len(_LINES))] if drawn < likely else ""
    return orjson.dumps(
        {
            "thinking": "It is a day like others.",
            "speaking": words,
            "action": {"type": "talk"} if words else None,
            "goal": None,
            "priorities": None,
        }
    ).decode()
