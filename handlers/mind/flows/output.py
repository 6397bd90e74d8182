"""Output: give each response the medium, the voice and the speed that are right for it.

Where there is no speech channel, responses go out as text, as they always did; where a
pack declares who lives there, some go to a channel of one of them.
"""

from collections.abc import Sequence

from msgspec import Struct
from msgspec.structs import replace

from handlers.mind.context import TurnContext
from handlers.mind.flows import audience
from handlers.mind.stages import delivery, personality
from handlers.mind.stages.delivery import Listener
from handlers.mind.stages.timing import Ready
from projections.folds.executive import speech
from projections.folds.executive.signs import Moment
from schemas.codec.catalogue import ControlMessage
from schemas.messages.asks import DeliveryAsked, ModelAsked, StopAsked
from schemas.messages.executive import Muted, OutputInterrupted
from schemas.messages.sensing import Sensed
from schemas.state.agent import Pending
from schemas.state.executive import SpokenResponse
from schemas.values.executive_settings import ExecutiveSettings
from schemas.values.reasons import Output, ResponseType

_THREATENING = "high_threat"


def stop(turn: TurnContext, control: ControlMessage) -> None:
    """Ask for the end of the speech that a control ends, which was applied or inferred."""
    executive = turn.state.executive
    ended: Sequence[SpokenResponse] = ()
    if isinstance(control, OutputInterrupted):
        ended = speech.meant(executive, control)
    elif isinstance(control, Muted) and turn.settings.executive.quiet_cuts:
        ended = speech.hushed(executive, control)
    for each in ended:
        turn.emit(StopAsked(ask_id=each.ask_id, decision_id=each.decision_id))


def streamed(turn: TurnContext, asked: ModelAsked, event: Sensed) -> ModelAsked:
    """Return an ask to a model, whose words go out as they come if that is in place.

    It is for a person's own words, answered in text, by a model that nobody races with.
    """
    settings = turn.settings.executive
    # Words that go with an action are not out before it is known to be allowed.
    if not settings.stream or not event.is_persons or asked.acts:
        return asked
    to = Addressee(event.person, is_addressed=True)
    if asked.rival is not None or _is_spoken(turn, settings, asked, to):
        return asked
    return replace(asked, stream=True)


def take_back(turn: TurnContext, pending: Pending) -> None:
    """Ask that what is out already of an answer that ended otherwise is taken back."""
    if pending.stream:
        turn.emit(
            StopAsked(
                ask_id=pending.ask_id,
                decision_id=pending.decision_id,
                channel=pending.channel,
            )
        )


class Addressee(Struct, frozen=True):
    """For whom a response is, and from whom it is hidden."""

    person: str | None
    """None: everybody."""
    hidden_from: tuple[str, ...] = ()
    is_addressed: bool = False
    """Whether it answers that person's own words."""
    is_threat: bool = False
    """Whether the event that it answers threatens."""


def send(turn: TurnContext, asked: DeliveryAsked, to: Addressee) -> Output | None:
    """Ask for a delivery; return the medium of its words.

    What a model does goes to who takes actions, and what it says of that to who hears it.
    """
    action = asked.action
    if asked.path == "llm" and action is not None:
        turn.emit(replace(asked, output="action"))
        if asked.text == action.type:
            return "action"
        asked = replace(asked, action=None)
    routed_ = routed(turn, asked, to)
    turn.emit(routed_)
    return routed_.output


def routed(turn: TurnContext, asked: DeliveryAsked, to: Addressee) -> DeliveryAsked:
    """Return a delivery by the channel and medium that are right for those it is for."""
    settings = turn.settings.executive
    way = audience.way_of(turn, _answer(turn, asked, to))
    if way.channel is not None:
        medium: Output | None = "text" if settings.speech else asked.output
        return replace(asked, channel=way.channel, output=medium)
    return _by_medium(turn, settings, asked, to) if settings.speech else asked


def _answer(turn: TurnContext, asked: DeliveryAsked, to: Addressee) -> Ready:
    kind: ResponseType = "alert" if to.is_threat else asked.response_type
    return Ready(
        kind,
        asked.urgency,
        0.0,
        to.person,
        to.is_addressed,
        hidden_from=to.hidden_from,
        is_aloud=asked.channel == turn.settings.channel,
    )


def _by_medium(
    turn: TurnContext, settings: ExecutiveSettings, asked: DeliveryAsked, to: Addressee
) -> DeliveryAsked:
    listener = _listener(turn, settings, asked, to)
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


def _is_spoken(
    turn: TurnContext, settings: ExecutiveSettings, asked: ModelAsked, to: Addressee
) -> bool:
    if not settings.speech:
        return False
    listener = _listener(turn, settings, asked, to)
    return not delivery.is_written(
        turn.state.executive, asked, listener, settings.as_text, turn.settings.channel
    )


def _listener(
    turn: TurnContext,
    settings: ExecutiveSettings,
    asked: DeliveryAsked | ModelAsked,
    to: Addressee,
) -> Listener:
    traits = personality.traits_in_force(
        turn.state,
        settings,
        turn.packs,
        turn.now,
        Moment(person=to.person),
        wanted=turn.variant.template,
    )
    template = traits.template
    is_tense = any(each.name == _THREATENING for each in traits.contexts)
    return Listener(
        to.person,
        to.is_threat or is_tense or asked.response_type == "alert",
        voice=template.voice if template is not None else None,
        speed=template.speed if template is not None else 1.0,
    )
