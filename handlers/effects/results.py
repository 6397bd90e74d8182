"""Results go into the log as inputs; an ask that is handed over twice gets one result.

A result's id derives from its ask's. The broker forgets ids after a moment, so an ask
that comes again is first looked up in the log; should two results slip in all the same,
the mind keeps the first.
"""

from functools import partial
from uuid import UUID, uuid5

from handlers.effects.priority_queue import QueuedAsk
from handlers.retry import until_available
from schemas.codec.catalogue import ResultMessage
from streams.log import WritableLog, append_input

_SOURCE = "/echoic/effects"


def result_id(epoch: UUID, ask_id: str) -> str:
    """Return the id of the result of an ask."""
    return str(uuid5(epoch, f"result/{ask_id}"))


async def append(
    writer: WritableLog, epoch: UUID, held: QueuedAsk, result: ResultMessage
) -> int:
    """Append the result of an ask and return its sequence, however long it takes.

    What a model said is not thrown away because the broker is gone for a while.
    """
    output = held.output
    attempt = partial(
        append_input,
        writer,
        epoch,
        result,
        agent=output.agent,
        partition=output.partition,
        id_=result_id(epoch, output.id),
        source=_SOURCE,
    )
    return await until_available(attempt)
