"""The servers of an instance: a broker and a database, ours or somebody else's.

Embedded servers run for as long as the instance and are restarted when they end by
themselves; external ones are only connected to.
"""

import asyncio
from collections.abc import Coroutine
from contextlib import AsyncExitStack
from dataclasses import dataclass
from typing import Any

from echoic.client.connection import credentials_of
from echoic.config.load import Settings
from echoic.run.supervision import LOOK_S, Notify, supervise
from projections.errors import StoreUnavailable
from projections.postgres.server import EmbeddedPostgres, embedded_postgres
from streams.broker.mqtt_door import mqtt_door
from streams.broker.server import EmbeddedServer, embedded_server
from streams.embedded import free_port
from streams.jetstream.accounts import Credentials, Listeners


class ServerMoved(Exception):
    """A server was restarted on another port, so every client has to connect anew."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Servers:
    """The servers of an instance."""

    credentials: Credentials
    database_url: str | None
    """None: there are no read models."""
    broker: EmbeddedServer | None
    """None: the broker is somebody else's."""
    database: EmbeddedPostgres | None

    def keeping(self, notify: Notify) -> dict[str, Coroutine[Any, Any, None]]:
        """Return, by name, the work that supervises the embedded servers.

        The one called `addresses` raises ServerMoved.
        """
        ours = [each for each in (self.broker, self.database) if each is not None]
        works = {child.name: supervise(child, notify) for child in ours}
        return works | {"addresses": self._watch_addresses()}

    async def _watch_addresses(self) -> None:
        while True:
            await asyncio.sleep(LOOK_S)
            if self.broker is not None and self.broker.core != self.credentials:
                # Every connection, child process and pool was given the old address; a new
                # instance is simpler than telling them all.
                raise ServerMoved(f"the broker listens at {self.broker.core.url} now")
            if self.database is not None and self.database.url != self.database_url:
                raise ServerMoved("the database listens at another port now")


async def start_servers(
    stack: AsyncExitStack, settings: Settings, notify: Notify, *, durable: bool
) -> Servers:
    """Start each server that the settings do not name; it stops with the stack.

    Raises:
        ServerFailed: the broker does not start.
    """
    broker, database = await asyncio.gather(
        _broker(stack, settings), _database(stack, settings, notify, durable=durable)
    )
    return Servers(
        credentials=broker.core if broker else credentials_of(settings),
        database_url=database.url if database else settings.database_url,
        broker=broker,
        database=database,
    )


async def _broker(stack: AsyncExitStack, settings: Settings) -> EmbeddedServer | None:
    if settings.nats_url is not None:
        return None
    # Devices reach the broker's own listener through a door, which maps what it cannot carry.
    door = settings.nats_mqtt
    behind = None if door is None else f"127.0.0.1:{free_port()}"
    listeners = Listeners(behind, settings.nats_websocket, settings.nats_origins)
    broker = await stack.enter_async_context(
        embedded_server(settings.data / "nats", listeners=listeners)
    )
    if door is not None and behind is not None:
        await stack.enter_async_context(mqtt_door(door, behind))
    return broker


async def _database(
    stack: AsyncExitStack, settings: Settings, notify: Notify, *, durable: bool
) -> EmbeddedPostgres | None:
    if settings.database_url is not None or settings.parts == "worker":
        return None
    folder = settings.data / "postgres"
    try:
        return await stack.enter_async_context(
            embedded_postgres(folder, durable=durable)
        )
    # The mind does not need the read models: report it, and run without.
    except StoreUnavailable as error:
        notify(f"no read models: {error}")
        return None
