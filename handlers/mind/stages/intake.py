"""Intake: may this input be taken in at all? What may not is answered with the reason."""

from schemas.codec.catalogue import InputMessage, LearningMessage, NoteMessage
from schemas.codec.envelope import Input, NotBuilt, Unreadable
from schemas.messages.controls import Control
from schemas.messages.feedback import FeedbackGiven
from schemas.messages.learning import FeedbackRefused
from schemas.messages.notes import ControlRefused, Handled, Quarantined
from schemas.messages.sensing import Sensed
from schemas.state.agent import AgentState
from schemas.values.subjects import SHARED_AGENT
from schemas.values.unicode_text import quoted


def refusal(state: AgentState, taken: Input) -> LearningMessage | NoteMessage | None:
    """What refuses the input, or None if it may be taken in."""
    message = taken.message
    match message:
        case Unreadable():
            return quarantined(taken, message)
        case NotBuilt():
            return ControlRefused(
                control=message.control,
                reason="not_built",
                detail=f"{quoted(message.control)} is named in the design and not built yet",
            )
        case Sensed():
            return _repeated(state, taken, message)
        case _ if taken.agent == SHARED_AGENT:
            return _for_nobody(message)
        case _:
            return None


def quarantined(taken: Input, unreadable: Unreadable) -> Quarantined:
    """The note that keeps an input apart, with the reason."""
    return Quarantined(
        reason=unreadable.reason,
        detail=unreadable.detail,
        subject=taken.record.subject,
    )


def too_many(taken: Input) -> Quarantined:
    """The note on an input that is more than its source may send."""
    detail = "its source sends more than intake.rate and intake.burst allow"
    return quarantined(taken, Unreadable("rate", detail))


def _for_nobody(message: InputMessage) -> LearningMessage | NoteMessage | None:
    """The answer to what names no agent: only some controls concern everybody."""
    match message:
        case Control():
            return None
        case FeedbackGiven():
            return FeedbackRefused(reason="invalid", detail="no agent is named")
        case _:
            return Handled(reason="unknown", detail="no agent is named")


def _repeated(state: AgentState, taken: Input, event: Sensed) -> Handled | None:
    memory = state.sources.get(event.source)
    first = memory.seen.get(taken.id) if memory else None
    if first is None:
        return None
    return Handled(reason="duplicate", detail=f"decided as {first}")
