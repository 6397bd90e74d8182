"""Response type: what sort of answer fits the event, the character, and the context.

Of what a model is asked for; a heuristic's own type was chosen by who wrote it. A threat
makes an alert, a funny event a quip if the character has humor, helpfulness a suggestion,
and work an observation (ADR-0014 §5.2.3).
"""

from collections.abc import Mapping

from schemas.messages.sensing import Dimension
from schemas.values.personality import Trait
from schemas.values.reasons import ResponseType

_FUNNY = 0.6
"""The humor that an event must have for a quip."""

_HUMOROUS, _HELPFUL = 0.6, 0.6
"""The trait that a quip, and the one that a suggestion, asks for."""

_WORK = "work"


def response_type(
    dimensions: Mapping[Dimension, float],
    traits: Mapping[Trait, float],
    context: str | None,
) -> ResponseType:
    """Return the type of an answer to an event that is no threat."""
    is_funny = dimensions.get("humor", 0.0) >= _FUNNY
    if is_funny and traits["humor"] >= _HUMOROUS and context != _WORK:
        return "quip"
    if context == _WORK and traits["helpfulness"] < _HELPFUL:
        return "observation"
    return "suggestion"
