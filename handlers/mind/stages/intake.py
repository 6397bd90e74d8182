"""Intake: may this input be accepted at all? A refused one is answered with the reason.

What is too much to be remembered, shown to a model or written again is refused as well. A
number or a control character may be longer in the JSON that is written than in the one
that was sent, so what is written counts.
"""

import orjson

from projections.folds import repeats
from projections.folds.executive import grants
from schemas.codec.catalogue import InputMessage, LearningMessage, NoteMessage
from schemas.codec.envelope import Input, Unreadable
from schemas.messages.controls import Control, GoalsSet, MindStarted, PersonForgotten
from schemas.messages.feedback import FeedbackGiven
from schemas.messages.learning import FeedbackRefused
from schemas.messages.notes import ControlRefused, Handled, Quarantined
from schemas.messages.sensing import Sensed
from schemas.state.agent import AgentState
from schemas.values import bounds, subjects
from schemas.values.settings import MindSettings
from schemas.values.subjects import SHARED_AGENT
from schemas.values.unicode_text import quoted

_GOAL_LENGTH = 500
"""How many characters a goal may have."""


def refusal(
    state: AgentState, input_: Input, settings: MindSettings
) -> LearningMessage | NoteMessage | None:
    """Return the refusal of an input; None if it may be accepted."""
    message = input_.message
    match message:
        # First, since nearly all inputs are events.
        case Sensed():
            return _repeated(state, input_)
        case PersonForgotten() if (no := _unforgettable(input_, settings)) is not None:
            return no
        case Unreadable():
            return quarantined(input_, message)
        case _ if input_.agent == SHARED_AGENT:
            return _for_nobody(message)
        case Control():
            refused = _control_again(state, input_, message)
            return refused or _not_granted(state, input_, message)
        case FeedbackGiven():
            return _vote_again(state, input_)
        case _:
            return None


def _unforgettable(input_: Input, settings: MindSettings) -> ControlRefused | None:
    """Return why nobody is forgotten by this input; None if somebody is."""
    token = PersonForgotten.token
    if subjects.sensor_of(input_.record.subject) is not None:
        # A sensor may ask for much, but not for this.
        detail = "a sensor may not have anybody forgotten: use `echoic forget`"
        return ControlRefused(control=token, reason="not_granted", detail=detail)
    if not settings.sealed:
        detail = "this log keeps texts in clear, not under keys (privacy.seal)"
        return ControlRefused(control=token, reason="unfit", detail=detail)
    return None


def quarantined(input_: Input, unreadable: Unreadable) -> Quarantined:
    """Return the note that quarantines an input, with the reason."""
    return Quarantined(
        reason=unreadable.reason,
        detail=unreadable.detail,
        subject=input_.record.subject,
    )


def too_many(input_: Input) -> Quarantined:
    """Return the note on an input that exceeds its source's rate."""
    detail = "its source sends more than intake.rate and intake.burst allow"
    return quarantined(input_, Unreadable("rate", detail))


def _not_granted(
    state: AgentState, input_: Input, control: Control
) -> ControlRefused | None:
    problem = grants.refused(state.executive, input_, control)
    if problem is None:
        return None
    return ControlRefused(control=control.token, reason="not_granted", detail=problem)


def _for_nobody(message: InputMessage) -> LearningMessage | NoteMessage | None:
    """Return the refusal of an input that names no agent; controls are checked
    elsewhere.
    """
    match message:
        case Control():
            return None
        case FeedbackGiven():
            return FeedbackRefused(reason="invalid", detail="no agent is named")
        case _:
            return Handled(reason="unknown", detail="no agent is named")


def _repeated(state: AgentState, input_: Input) -> Handled | None:
    first = repeats.first_answer(state, input_)
    if first is None:
        return None
    return Handled(reason="duplicate", detail=f"decided as {first}")


def _control_again(
    state: AgentState, input_: Input, control: Control
) -> ControlRefused | None:
    first = repeats.first_answer(state, input_)
    if first is None:
        return None
    detail = f"{quoted(input_.id)} was applied as {first}"
    return ControlRefused(control=control.token, reason="duplicate", detail=detail)


def _vote_again(state: AgentState, input_: Input) -> FeedbackRefused | None:
    first = repeats.first_answer(state, input_)
    if first is None:
        return None
    detail = f"{quoted(input_.id)} counted as {first}"
    return FeedbackRefused(reason="duplicate", detail=detail)


def too_much(input_: Input) -> ControlRefused | Quarantined | None:
    """Return the refusal of an input that exceeds a bound; None if none does."""
    message = input_.message
    if isinstance(message, Sensed):
        fault, where = bounds.fields_fault(message.fields), input_.record.subject
        if fault is None:
            return None
        return Quarantined(reason="too_large", detail=fault, subject=where)
    # `MindStarted` is our own and holds all settings: refused, no mind could start.
    if not isinstance(message, Control) or isinstance(message, MindStarted):
        return None
    fault = _of_control(message)
    if fault is None:
        return None
    return ControlRefused(control=message.token, reason="invalid", detail=fault)


def _of_control(message: Control) -> str | None:
    if isinstance(message, GoalsSet):
        longest = max(map(len, message.goals), default=0)
        if longest > _GOAL_LENGTH:
            return f"a goal of {longest} characters, the limit is {_GOAL_LENGTH}"
    written = message.to_bytes()
    return bounds.fault(written, orjson.loads(written))
