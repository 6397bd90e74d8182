"""The read models for commands, once they have caught up with the log: read-your-writes.

Without PostgreSQL a command still works from the log, or says what is missing.
"""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

from echoic.client.connection import Connection
from echoic.client.watch import last_answered
from projections.errors import ProjectionError, StoreUnusable
from schemas.values.lazily import Lazily
from schemas.values.subjects import partition_of

if TYPE_CHECKING:
    from projections.store import glance as glancing
    from projections.store.glance import Glance
    from projections.store.places import Version
else:
    # Where there is no database, nothing that speaks SQL is loaded.
    glancing = Lazily("projections.store.glance")

PATIENCE_S = 5.0
"""Seconds that the read models may take to catch up with the log."""

FIRST_START_S = 20.0
"""Seconds that the projector's process may take to make the tables of a new database."""

_POLL_S = 0.05


@asynccontextmanager
async def up_to_date(connection: Connection) -> "AsyncIterator[Glance | None]":
    """Yield the read models once they hold all of the agent's log, else None."""
    url = connection.database_url
    if url is None:
        yield None
        return
    with glancing.Glance(url) as store:
        yield store if await _comes_up(connection, store) else None


async def serving_version(store: "Glance") -> "Version":
    """Return the version that the views show, once the projector has made the tables.

    Raises:
        StoreUnusable: there are none after `FIRST_START_S`.
    """
    loop = asyncio.get_running_loop()
    deadline = loop.time() + FIRST_START_S
    while True:
        try:
            # The store's driver blocks.
            return await asyncio.to_thread(store.serving)
        except StoreUnusable:
            # `echoic up` returns when inputs are answered, which needs no tables.
            if loop.time() > deadline:
                raise
        await asyncio.sleep(_POLL_S)


async def _comes_up(connection: Connection, store: "Glance") -> bool:
    partition = partition_of(connection.settings.agent)
    wanted = await last_answered(connection.log, partition)
    deadline = asyncio.get_running_loop().time() + PATIENCE_S
    while asyncio.get_running_loop().time() < deadline:
        try:
            # The store's driver blocks.
            stands = await asyncio.to_thread(_position, store, partition)
        except StoreUnusable:
            # An instance that has just started makes the tables first.
            stands = -1
        # Other faults of the read models do not pass in seconds; the log answers instead.
        except ProjectionError:
            return False
        if stands >= wanted:
            return True
        await asyncio.sleep(_POLL_S)
    return False


def _position(store: "Glance", partition: int) -> int:
    stands = store.positions(store.serving().number).get(partition)
    return stands.sequence if stands else 0
