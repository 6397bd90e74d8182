"""Output: give each response the medium, the voice and the speed that are right for it.

Where there is no speech channel, responses go out as text, as they always did.
"""

from msgspec.structs import replace

from handlers.mind.context import TurnContext
from handlers.mind.stages import delivery, personality
from handlers.mind.stages.delivery import Listener
from projections.folds.executive import speech
from projections.folds.executive.signs import Moment
from schemas.messages.asks import DeliveryAsked, StopAsked
from schemas.messages.executive import OutputInterrupted

_THREATENING = "high_threat"


def stop(turn: TurnContext, control: OutputInterrupted) -> None:
    """Ask for the end of the speech that is to stop."""
    for each in speech.meant(turn.state.executive, control):
        turn.emit(StopAsked(ask_id=each.ask_id, decision_id=each.decision_id))


def routed(
    turn: TurnContext,
    asked: DeliveryAsked,
    person: str | None,
    *,
    is_threat: bool = False,
) -> DeliveryAsked:
    """Return a delivery by the medium that is right for `person`, or for everybody.

    `is_threat` tells whether the event that it answers threatens.
    """
    settings = turn.settings.executive
    if settings is None or not settings.speech:
        return asked
    traits = personality.traits_in_force(
        turn.state,
        settings,
        turn.packs,
        turn.now,
        Moment(person=person),
        wanted=turn.variant.template,
    )
    template = traits.template
    is_tense = any(each.name == _THREATENING for each in traits.contexts)
    listener = Listener(
        person,
        is_threat or is_tense or asked.response_type == "alert",
        voice=template.voice if template is not None else None,
        speed=template.speed if template is not None else 1.0,
    )
    way = delivery.route(
        turn.state.executive, asked, listener, settings.as_text, turn.settings.channel
    )
    return replace(
        asked,
        channel=way.channel,
        output=way.output,
        voice=way.voice,
        speed=way.speed,
        fallback_channel=way.fallback_channel,
    )
