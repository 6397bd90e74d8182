"""Cadence: how often a layer's model is asked, by what the character is like and needs."""

from collections.abc import Mapping
from datetime import datetime, timedelta

from schemas.packs.characters import Talker
from schemas.values.exact_math import round6

EXTRAVERSION = 0.5
"""Of whoever the world does not tell how sociable they are."""


def talker_interval(talker: Talker, fields: Mapping[str, object]) -> tuple[float, str]:
    """Return after how many seconds the talker is asked again, and by which rule."""
    if fields.get(talker.conversation) is True:
        return talker.conversation_s, "in conversation"
    social = _number(fields, talker.social)
    if social is not None and social < talker.lonely_below:
        return talker.lonely_s, "lonely"
    sociable = extraversion(talker, fields)
    if sociable > talker.high_extraversion:
        return talker.extrovert_s, "extrovert"
    if sociable < talker.low_extraversion:
        return talker.introvert_s, "introvert"
    return talker.moderate_s, "moderate"


def extraversion(talker: Talker, fields: Mapping[str, object]) -> float:
    """Return how sociable the character is."""
    told = _number(fields, talker.extraversion)
    return EXTRAVERSION if told is None else told


def talker_priority(talker: Talker, rule: str) -> float:
    """Return how urgent a question is: in conversation, for company, else."""
    if rule == "in conversation":
        return talker.conversation_priority
    return 5.0 if rule in ("lonely", "extrovert") else 3.0


def is_due(called: datetime | None, interval_s: float, now: datetime) -> bool:
    """Tell whether so many seconds have passed; who was never asked is due."""
    return called is None or now >= called + timedelta(seconds=interval_s)


def _number(fields: Mapping[str, object], name: str) -> float | None:
    value = fields.get(name)
    # A bool is an int in Python.
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return round6(float(value))
