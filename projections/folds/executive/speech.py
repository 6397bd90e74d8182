"""What is being spoken, what is still to be, and what was cut off before its end."""

from collections.abc import Sequence
from datetime import datetime

from msgspec.structs import replace

from schemas.messages.asks import DeliveryAsked
from schemas.messages.executive import Muted, OutputInterrupted
from schemas.messages.results import DeliveryBegun, DeliveryInterrupted, Result
from schemas.state import limits
from schemas.state.agent import AgentState, within
from schemas.state.executive import Executive, SpokenResponse, Unsaid

_CHANNEL = "speech"


def asked(
    state: AgentState, ask_id: str, message: DeliveryAsked, at: datetime
) -> AgentState:
    """Return the state after a delivery was asked for, if it is to be spoken."""
    if message.output != "speech":
        return state
    one = SpokenResponse(
        ask_id=ask_id,
        decision_id=message.decision_id,
        asked_at=at,
        is_alert=message.response_type == "alert",
    )
    kept = (*state.executive.speech.asked, one)[-limits.SPEECHES :]
    return within(state, "executive", "speech", asked=kept)


def heard(state: AgentState, result: Result, at: datetime) -> AgentState:
    """Return the state after speech began or ended; as it was if it is of none."""
    executive = state.executive
    one = next(
        (each for each in executive.speech.asked if each.ask_id == result.ask_id), None
    )
    if one is None:
        return state
    if isinstance(result, DeliveryBegun):
        begun = replace(one, begun_at=at)
        kept = tuple(begun if each is one else each for each in executive.speech.asked)
        return replace(state, executive=within(executive, "speech", asked=kept))
    left = tuple(each for each in executive.speech.asked if each is not one)
    executive = within(executive, "speech", asked=left)
    if isinstance(result, DeliveryInterrupted):
        cut = Unsaid(
            decision_id=one.decision_id,
            at=at,
            reason=result.reason,
            after_ms=result.after_ms,
        )
        unsaid = (*executive.speech.unsaid, cut)[-limits.UNSAID :]
        executive = within(executive, "speech", unsaid=unsaid)
    return replace(state, executive=executive)


def meant(executive: Executive, control: OutputInterrupted) -> Sequence[SpokenResponse]:
    """Return the speech that is to stop: what is being said, or the response named."""
    if control.channel not in (None, _CHANNEL):
        return ()
    if control.decision_id is None:
        return [each for each in executive.speech.asked if each.begun_at is not None]
    return [
        each
        for each in executive.speech.asked
        if each.decision_id == control.decision_id
    ]


def hushed(executive: Executive, control: Muted) -> Sequence[SpokenResponse]:
    """Return the speech that a restraint ends, begun or not: under quiet alerts go on."""
    if control.off:
        return ()
    is_mute = control.mode == "mute"
    return [each for each in executive.speech.asked if is_mute or not each.is_alert]


def described(executive: Executive, control: OutputInterrupted) -> str:
    """Return in words what an interruption changes."""
    stopped = [each.decision_id for each in meant(executive, control)]
    return "stopped: " + ", ".join(stopped) if stopped else "nothing is being said"
