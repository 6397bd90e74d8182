"""The servers of an instance: a broker and a database, ours or somebody else's.

Its rule: ours run for as long as the instance, and one that ends by itself is started
again; somebody else's are only connected to.
"""

import asyncio
from collections.abc import Callable
from contextlib import AsyncExitStack
from dataclasses import dataclass

from echoic.instance_file import is_alive
from echoic.live import credentials_of
from echoic.settings import Settings
from projections.errors import StoreUnavailable
from projections.postgres import EmbeddedPostgres, embedded_postgres
from streams.accounts import Credentials
from streams.server import EmbeddedServer, embedded_server

Notify = Callable[[str], None]
"""Tells the person who started the instance something, once."""

LOOK_S = 0.5
"""How often our servers are looked at."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Servers:
    """What an instance stands on."""

    credentials: Credentials
    database_url: str | None
    """None: there are no read models."""
    broker: EmbeddedServer | None
    """None: the broker is somebody else's."""
    database: EmbeddedPostgres | None

    async def keep_running(self, notify: Notify) -> None:
        """Start ours again when they end by themselves, for ever.

        Raises:
            ServerFailed: the broker does not start again.
        """
        while True:
            await asyncio.sleep(LOOK_S)
            if self.broker is not None and _has_ended(self.broker):
                notify("the broker has ended by itself: it is started again")
                await self.broker.restart()
            if self.database is not None and _has_ended(self.database):
                notify("the database has ended by itself: it is started again")
                await _restarted(self.database, notify)


async def start_servers(
    stack: AsyncExitStack, settings: Settings, notify: Notify, *, durable: bool
) -> Servers:
    """Start what the settings do not name; it stops with the stack.

    Raises:
        ServerFailed: the broker does not start.
    """
    broker, database = await asyncio.gather(
        _broker(stack, settings), _database(stack, settings, notify, durable=durable)
    )
    return Servers(
        credentials=broker.core if broker else credentials_of(settings.nats_url or ""),
        database_url=database.url if database else settings.database_url,
        broker=broker,
        database=database,
    )


async def _broker(stack: AsyncExitStack, settings: Settings) -> EmbeddedServer | None:
    if settings.nats_url is not None:
        return None
    return await stack.enter_async_context(embedded_server(settings.data / "nats"))


async def _database(
    stack: AsyncExitStack, settings: Settings, notify: Notify, *, durable: bool
) -> EmbeddedPostgres | None:
    if settings.database_url is not None:
        return None
    folder = settings.data / "postgres"
    try:
        return await stack.enter_async_context(
            embedded_postgres(folder, durable=durable)
        )
    except StoreUnavailable as error:
        notify(f"no read models: {error}")
        return None


def _has_ended(server: EmbeddedServer | EmbeddedPostgres) -> bool:
    process_id = server.process_id
    return process_id is not None and not is_alive(process_id)


async def _restarted(database: EmbeddedPostgres, notify: Notify) -> None:
    try:
        await database.restart()
    except StoreUnavailable as error:
        notify(f"the read models stand still: {error}")
