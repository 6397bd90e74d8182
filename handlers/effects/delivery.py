"""Performing `DeliveryAsked`: publish a response, unless it is too late.

Delivery is at-least-once with the same id: receivers drop repeats.
"""

from functools import partial
from typing import Any, Protocol

import nats.errors
import orjson

from handlers.broker import Flushing, settle
from schemas.messages.asks import DeliveryAsked
from schemas.messages.results import Delivered, DeliveryFailed
from schemas.values import ids, subjects
from schemas.values.base import rfc3339


class Outlet(Flushing, Protocol):
    """The part of a broker connection that publishes responses."""

    async def publish(
        self,
        subject: str,
        payload: bytes = b"",
        reply: str = "",
        headers: dict[str, Any] | None = None,
    ) -> None:
        """Publish a core NATS message; without a subscriber it is lost."""


async def deliver(
    outlet: Outlet, ask_id: str, agent: str, asked: DeliveryAsked, *, within_s: float
) -> Delivered | DeliveryFailed:
    """Publish a response on its channel, if it is still in time and the broker takes it.

    `within_s` is how many seconds are left; at 0 or less nothing is sent.
    """
    failed = partial(DeliveryFailed, ask_id=ask_id, channel=asked.channel)
    if within_s <= 0:
        detail = f"it was worth saying for {asked.ttl_s} s"
        return failed(reason="expired", detail=detail)
    subject = subjects.delivery_subject(agent, asked.channel)
    try:
        await outlet.publish(subject, spoken(asked), headers=_headers(ask_id, asked))
    # Only this one is final. Others are raised: the ask goes back to the broker.
    except nats.errors.MaxPayloadError as error:
        return failed(reason="refused", detail=str(error))
    # A publish only fills the client's buffer; `Delivered` claims that the server has it.
    await settle(outlet)
    return Delivered(ask_id=ask_id, channel=asked.channel)


def _headers(ask_id: str, asked: DeliveryAsked) -> dict[str, str]:
    """Return headers with the ask's id, by which repeats are known, and the trace
    context.
    """
    return {
        "ce-specversion": "1.0",
        "ce-id": ask_id,
        "traceparent": ids.traceparent(asked.event_id, ids.ask_span_id(ask_id)),
    }


def spoken(asked: DeliveryAsked) -> bytes:
    """Encode what is published: a JSON object."""
    return orjson.dumps(
        {
            "decision_id": asked.decision_id,
            "event_id": asked.event_id,
            "text": asked.text,
            "type": asked.response_type,
            "urgency": asked.urgency,
            "path": asked.path,
            "action": asked.action.as_fields(whole=True) if asked.action else None,
            "expires_at": rfc3339(asked.expires_at),
            # For who has no clock of the agent's, which may be that of its events.
            "ttl_s": asked.ttl_s,
        }
    )
