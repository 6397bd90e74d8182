"""The event of a request: read, checked, and fit for a sensor's subject."""

from collections.abc import Mapping
from typing import Any

from echoic.client import admission, publish
from echoic.doors.requests import EventToDecide, EventToSense, InvalidRequestError, read
from echoic.doors.services import Reply, invalid, refusal
from schemas.messages.sensing import Sensed
from schemas.values import subjects


class UnfitError(Exception):
    """Carries the reply to a request whose event cannot be published."""

    def __init__(self, reply: Reply) -> None:
        super().__init__()
        self.reply = reply


def event_of(
    agent: str, form: type[EventToDecide] | type[EventToSense], body: Mapping[str, Any]
) -> tuple[str, Sensed]:
    """Return the id and the event of a request.

    Raises:
        UnfitError: a field is wrong, no subject can bear the event, or it is too large.
    """
    try:
        asked = read(form, body)
    except InvalidRequestError as error:
        raise UnfitError(invalid(error)) from error
    event = _event(asked)
    if (unfit := _unfit(agent, event)) is not None:
        raise UnfitError(refusal("bad_subject", unfit))
    if (fault := admission.too_large(event)) is not None:
        raise UnfitError(refusal("too_large", fault))
    return asked.event_id or publish.new_event_id(), event


def _event(asked: EventToDecide | EventToSense) -> Sensed:
    """Return the event of a request: its id belongs to the message, not to the event."""
    return Sensed(**{name: getattr(asked, name) for name in Sensed.__struct_fields__})


def _unfit(agent: str, event: Sensed) -> str | None:
    """Return why an event cannot be published on a sensor's subject; None if it can."""
    if not subjects.is_agent(agent):
        return f"{agent!r} cannot name an agent"
    for token in (event.source, event.type):
        if not subjects.is_token(token):
            return f"{token!r} is no token of a subject: 1 to 64 of A-Z a-z 0-9 _ -"
    # Subjects of these types carry votes and controls of sensors, with another body.
    if event.type in (subjects.PUBLISHED_FEEDBACK, subjects.PUBLISHED_CONTROL):
        return (
            f"an event's type cannot be {event.type!r}: call svc.<agent>.{event.type}"
        )
    return None
