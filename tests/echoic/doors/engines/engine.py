"""A game engine to test with: a WebSocket client, and the bridge that it connects to."""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from typing import Any

from websockets.asyncio.client import ClientConnection, connect

from echoic.doors.engines.server import Bridge, bridge
from handlers.effects.delivery import deliver
from schemas.messages.arms import Action
from schemas.messages.asks import DeliveryAsked
from schemas.messages.results import Delivered
from schemas.values.record import Record
from tests.patience import PATIENCE_S
from tests.servers import Broker

TOKEN = "the token"
_SETTLED_S = 0.3


@asynccontextmanager
async def bridged(
    broker: Broker, *agents: str, **options: Any
) -> AsyncIterator[Bridge]:
    """A bridge for characters, with the rights of a sensor each."""
    names = agents or ("aria",)
    access = {name: await broker.server.add_sensor(name, "engine") for name in names}
    listen = ("127.0.0.1", 0)
    async with bridge(access, "engine", TOKEN, listen=listen, **options) as running:
        # One in a hundred times the broker loses what is published at once on an import that
        # was just subscribed to, although it has acknowledged the subscription.
        await asyncio.sleep(_SETTLED_S)
        yield running


class Engine:
    """A connected engine."""

    def __init__(self, socket: ClientConnection) -> None:
        self.socket = socket

    async def send(self, message: object) -> None:
        """Send a message; text as it is."""
        if not isinstance(message, str | bytes):
            message = json.dumps(message, ensure_ascii=False)
        await self.socket.send(message)

    async def hear(self) -> dict[str, Any]:
        """Return the next message."""
        async with asyncio.timeout(PATIENCE_S):
            message: dict[str, Any] = json.loads(await self.socket.recv())
        return message

    async def ask(self, message: object) -> dict[str, Any]:
        """Send a message, and return what comes next."""
        await self.send(message)
        return await self.hear()


@asynccontextmanager
async def engine(
    running: Bridge, agent: str = "aria", token: str = TOKEN, **options: Any
) -> AsyncIterator[Engine]:
    """An engine as the body of a character."""
    address = f"ws://127.0.0.1:{running.port}/v1/{agent}"
    headers = {"Authorization": f"Bearer {token}"}
    async with connect(address, additional_headers=headers, **options) as socket:
        yield Engine(socket)


def event(id_: str, **fields: Any) -> dict[str, Any]:
    """An event as an engine sends it."""
    return {"message": "event", "id": id_, "type": "body", "text": "body", **fields}


async def asks(
    broker: Broker,
    id_: str,
    *,
    agent: str = "aria",
    ttl_s: float = 600.0,
    text: str = "seek_food",
    action: bool = True,
) -> None:
    """Have a character act or speak, as the effects do after a decision."""
    asked = DeliveryAsked(
        decision_id=f"d-{id_}",
        priority=0.5,
        # A session of recorded events has a clock of its own.
        expires_at=datetime(2020, 1, 1, tzinfo=UTC),
        ttl_s=ttl_s,
        event_id="e",
        channel="act" if action else "talk",
        text=text,
        response_type="observation",
        urgency=0.4,
        path="reflex",
        action=Action(type=text, target="bush") if action else None,
        output="action" if action else None,
    )
    result = await deliver(broker.client, id_, agent, asked, within_s=ttl_s)
    assert isinstance(result, Delivered)


async def logged(broker: Broker, count: int, agent: str = "aria") -> list[Record]:
    """The first so many events of an agent's engine in the log."""
    found: list[Record] = []
    async with asyncio.timeout(PATIENCE_S):
        async for records in broker.reader.follow(f"ev.*.in.{agent}.sensor.>", 0, 100):
            found += records
            if len(found) >= count:
                return found
    raise AssertionError("a log has no end")
