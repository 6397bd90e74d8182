"""Parts of responses as they come: words of a model's answer before it is whole."""

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

import orjson
from msgspec import Struct
from nats.aio.msg import Msg

from echoic.client.connection import Connection
from schemas.values import subjects


class Part(Struct, frozen=True):
    """What is about to be said, so far."""

    decision_id: str
    event_id: str | None
    text: str
    """Empty if it is taken back."""


@asynccontextmanager
async def heard(
    connection: Connection, agent: str, hear: Callable[[Part], None]
) -> AsyncIterator[None]:
    """Let `hear` have the parts of an agent's responses for the length of the block."""

    async def on_message(message: Msg) -> None:
        fields = orjson.loads(message.data)
        part = Part(fields["decision_id"], fields.get("event_id"), fields["text"])
        hear(part)

    listener = await connection.client.subscribe(
        subjects.parts_of(agent), cb=on_message
    )
    try:
        yield
    finally:
        await listener.unsubscribe()
