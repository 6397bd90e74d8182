"""Telling another agent something: a delivery on channel `agent` becomes that agent's event.

The event's id derives from the ask's, so that one told twice is a duplicate to its receiver;
only then the sender's log gets `Delivered`. A kill in between loses and doubles nothing.
"""

from functools import partial
from typing import Any
from uuid import UUID, uuid5

import orjson

from handlers.broker_wait import until_available
from handlers.effects.priority_queue import AskQueue, QueuedAsk
from schemas.codec.catalogue import AskMessage
from schemas.messages.arms import Action
from schemas.messages.asks import DeliveryAsked
from schemas.messages.results import Delivered, DeliveryFailed
from schemas.messages.sensing import TEXT_LIMIT
from schemas.values import subjects
from schemas.values.base import rfc3339
from schemas.values.ids import EPOCH_PREFIX
from schemas.values.record import Wire
from streams.errors import LogRefused
from streams.log import WritableLog

COUNTER = "count"
"""The field of the event that counts what its sender tells: it only ever rises."""

_CLOSED = (subjects.PUBLISHED_CONTROL, subjects.PUBLISHED_FEEDBACK)
"""Types that are no events: no agent rules another."""


def is_told(ask: AskMessage) -> bool:
    """Tell whether an ask is to tell another agent something."""
    return (
        isinstance(ask, DeliveryAsked)
        and ask.channel == subjects.AGENT_SOURCE
        and ask.action is not None
        and ask.action.target is not None
    )


async def tell(
    writer: WritableLog, epoch: UUID, held: QueuedAsk, *, within_s: float
) -> Delivered | DeliveryFailed:
    """Append to the receiver's inputs what it is told, unless it is too late."""
    asked = held.ask
    assert isinstance(asked, DeliveryAsked)
    assert asked.action is not None
    failed = partial(DeliveryFailed, ask_id=held.output.id, channel=asked.channel)
    if within_s <= 0 and held.is_repeated:
        return failed(reason="unknown", detail="it may have been told before")
    if within_s <= 0:
        return failed(reason="expired", detail=f"it was worth {asked.ttl_s} s")
    receiver, type_ = asked.action.target or "", asked.action.type
    if not subjects.is_agent(receiver) or not subjects.is_token(type_):
        return failed(reason="refused", detail="no such agent, or no type of event")
    if type_ in _CLOSED:
        return failed(reason="refused", detail=f"{type_} is no event")
    wire = _wire(epoch, held, asked, asked.action, receiver)
    message_id = f"{EPOCH_PREFIX}{epoch}:{wire.headers['ce-id']}"
    try:
        await until_available(partial(writer.append, wire, message_id))
    except LogRefused as error:
        return failed(reason="refused", detail=str(error)[:2_000])
    return Delivered(ask_id=held.output.id, channel=asked.channel)


def event_id(epoch: UUID, ask_id: str) -> str:
    """Return the id of the event that an ask becomes."""
    return str(uuid5(epoch, f"agent/{ask_id}"))


def _wire(
    epoch: UUID, held: QueuedAsk, asked: DeliveryAsked, action: Action, receiver: str
) -> Wire:
    sender, sequence = held.output.agent, held.output.record.sequence
    # Last, so that nobody speaks in another's name.
    own: dict[str, Any] = {"agent": sender, COUNTER: sequence}
    body = {
        "text": asked.text[:TEXT_LIMIT],
        "fields": {**action.params, **own},
        "occurred_at": rfc3339(held.output.at),
    }
    place = subjects.partition_of(receiver)
    detail = f"{subjects.AGENT_SOURCE}.{action.type}"
    return Wire(
        subject=subjects.input_subject(place, receiver, "sensor", detail),
        headers={
            "ce-specversion": "1.0",
            "ce-id": event_id(epoch, held.output.id),
            "ce-type": "echoic.sensed",
            "ce-source": f"/echoic/agents/{sender}",
            "ce-subject": receiver,
            "ce-causeid": held.output.id,
        },
        body=orjson.dumps(body),
    )


class AgentQueue(AskQueue):
    """A queue that serves one ask of a sender at a time, in the order of the log."""

    def _chosen(self) -> QueuedAsk | None:
        serving = {each.output.agent for each in self._serving}
        free = [each for each in self._waiting if each.output.agent not in serving]
        if not free:
            return None
        chosen = min(free, key=_place)
        self._waiting.remove(chosen)
        return chosen

    def _end_of(self, held: QueuedAsk) -> None:
        # What the sender has still to tell lost its permit meanwhile.
        self._waits.release()


def _place(held: QueuedAsk) -> int:
    return held.output.record.sequence
