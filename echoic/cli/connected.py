"""Commands that work on a running instance: connect, do it, disconnect."""

import asyncio
from collections.abc import Awaitable, Callable
from datetime import datetime
from pathlib import Path
from typing import TypeVar

from echoic.cli.options import settings_of
from echoic.cli.progress import Progress
from echoic.client import known_agents, state
from echoic.client.connection import Connection, connect
from echoic.embedders import embedder
from handlers.aids import Bringer, PackLibrary
from streams.jetstream.checkpoints import JetStreamCheckpoints

T = TypeVar("T")


def on_instance(
    data: Path | None, agent: str | None, work: Callable[[Connection], Awaitable[T]]
) -> T:
    """Do something with a connection to the instance, and return what came of it."""

    async def run() -> T:
        async with connect(settings_of(data, agent)) as connection:
            return await work(connection)

    return asyncio.run(run())


def bringer_of(connection: Connection) -> Bringer:
    """Brings the aids that a fold of the log needs."""
    made = embedder(connection.settings.embedder)
    return Bringer(made, PackLibrary(connection.log, made))


async def known_at(
    connection: Connection, sequence: int | None = None, at: datetime | None = None
) -> state.Remembered:
    """What the mind knew of the agent up to an input or a moment, folded with progress.

    Without either it is what the mind knows by the end of the log.

    Raises:
        NotFoundError: there is no such agent, or there was none by then.
    """
    await known_agents.check(connection)
    settings, progress = connection.settings, Progress("inputs folded")
    known = await state.state_at(
        connection.log,
        settings.agent,
        embedder(settings.embedder),
        sequence=sequence,
        at=at,
        checkpoints=JetStreamCheckpoints(connection.client),
        progress=progress,
    )
    progress.done()
    return known
