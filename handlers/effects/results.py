"""Appending results to the log as inputs; an ask that is delivered twice gets one result.

A result's id derives from its ask's. The broker drops repeated ids within its duplicate
window only, so an ask that comes again is first looked up in the ledger; should two results
get in all the same, the mind keeps the first.
"""

from functools import partial
from uuid import UUID, uuid5

from handlers.broker_wait import until_available
from handlers.effects.priority_queue import QueuedAsk
from schemas.codec.catalogue import EffectResult
from schemas.messages.results import DeliveryBegun
from streams.log import WritableLog, append_input

_SOURCE = "/echoic/effects"


def result_id(epoch: UUID, ask_id: str) -> str:
    """Return the id of the result of an ask."""
    return str(uuid5(epoch, f"result/{ask_id}"))


def begun_id(epoch: UUID, ask_id: str) -> str:
    """Return the id of the message that the delivery of an ask has begun."""
    return str(uuid5(epoch, f"begun/{ask_id}"))


async def append(
    writer: WritableLog,
    epoch: UUID,
    held: QueuedAsk,
    result: EffectResult | DeliveryBegun,
) -> int:
    """Append the result of an ask and return its sequence; retry until the broker takes it.

    An answer that was paid for is not thrown away because the broker is gone for a while.
    """
    output = held.output
    id_of = begun_id if isinstance(result, DeliveryBegun) else result_id
    attempt = partial(
        append_input,
        writer,
        epoch,
        result,
        agent=output.agent,
        partition=output.partition,
        id_=id_of(epoch, output.id),
        source=_SOURCE,
    )
    return await until_available(attempt)
