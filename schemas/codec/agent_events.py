"""What an agent tells another: the event that a delivery on channel `agent` becomes.

Sent by an effect, and found again in a log: whoever reads both sides can tell whether an
event stems from an ask.
"""

from typing import Any
from uuid import UUID, uuid5

import orjson

from schemas.codec.envelope import Output
from schemas.messages.asks import DeliveryAsked
from schemas.messages.sensing import TEXT_LIMIT
from schemas.values import subjects
from schemas.values.base import rfc3339
from schemas.values.record import Wire

SENDER = "agent"
"""The field of the event that names who tells it."""
COUNTER = "count"
"""The field that counts what its sender tells: the ask's sequence, which only ever rises."""


def event_id(epoch: UUID, ask_id: str) -> str:
    """Return the id of the event that an ask becomes."""
    return str(uuid5(epoch, f"agent/{ask_id}"))


def agent_event(epoch: UUID, asked: Output) -> Wire:
    """Return the event that an ask with a target becomes, in its receiver's log.

    The ask is as the log holds it, with its sequence there.

    Raises:
        SubjectError: the target is no agent, or the action's type no type of event.
    """
    ask = asked.message
    assert isinstance(ask, DeliveryAsked)
    assert ask.action is not None
    assert ask.action.target is not None
    receiver, sender = ask.action.target, asked.agent
    # Last, so that nobody speaks in another's name.
    own: dict[str, Any] = {SENDER: sender, COUNTER: asked.record.sequence}
    body = {
        "text": ask.text[:TEXT_LIMIT],
        "fields": {**ask.action.params, **own},
        "occurred_at": rfc3339(asked.at),
    }
    place = subjects.partition_of(receiver)
    detail = f"{subjects.AGENT_SOURCE}.{ask.action.type}"
    return Wire(
        subject=subjects.input_subject(place, receiver, "sensor", detail),
        headers={
            "ce-specversion": "1.0",
            "ce-id": event_id(epoch, asked.id),
            "ce-type": "echoic.sensed",
            "ce-source": f"/echoic/agents/{sender}",
            "ce-subject": receiver,
            "ce-causeid": asked.id,
        },
        body=orjson.dumps(body),
    )
