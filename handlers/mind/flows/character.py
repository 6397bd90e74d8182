"""The companion's character at an occasion: the traits in force, and how they show."""

from collections.abc import Mapping

from handlers.mind.context import TurnContext
from handlers.mind.stages import personality, voice
from handlers.mind.stages.personality import Moment, Traits
from handlers.mind.stages.voice import Tone
from schemas.messages.sensing import Dimension, Sensed


def traits_of(
    turn: TurnContext, event: Sensed, dimensions: Mapping[Dimension, float]
) -> Traits | None:
    """Return the traits in force for an event of this salience; None without the executive.

    Called once the variant of an experiment is adopted, whose template goes first.
    """
    settings = turn.settings.executive
    if settings is None:
        return None
    moment = Moment(
        id=turn.input.id,
        dimensions=dimensions,
        sentiment=event.sentiment,
        person=event.person,
    )
    wanted = turn.variant.template
    return personality.traits_in_force(
        turn.state, settings, turn.packs, turn.now, moment, wanted=wanted
    )


def tone_of(traits: Traits | None) -> Tone | None:
    """Return what a model is told of the character; None if nobody chose one."""
    if traits is None or not traits.is_chosen:
        return None
    valence = traits.mood.valence if traits.mood is not None else 0.0
    return voice.tone(traits.template, traits.values, valence, traits.rapport)
