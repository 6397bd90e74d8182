"""Dividing the log into further segments: by command, or as a setting has it at a start."""

import asyncio
import shlex
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from echoic.client.connection import credentials_of
from echoic.client.instance_note import sole_instance
from echoic.config.load import Settings
from echoic.errors import EchoicError
from echoic.run.supervision import Notify
from streams.broker.server import embedded_server
from streams.jetstream.connection import connected
from streams.jetstream.hardened_client import BrokerClient
from streams.jetstream.migrate import migrate
from streams.jetstream.segments import listed, roll_over
from streams.segments import Segments

_KEPT = "kept"
"""The setting's value for: as many as the log has."""


def segment(settings: Settings, count: int | None, notify: Notify) -> Segments:
    """Close the open segments and begin `count` new ones; None: as many as there are.

    Raises:
        EchoicError: an instance runs over the data folder.
        StreamsError: the broker does not do it; called again it goes on.
    """
    with _alone(settings):
        return asyncio.run(_segment(settings, count, notify))


@contextmanager
def _alone(settings: Settings) -> Iterator[None]:
    if settings.nats_url is not None:
        yield
        return
    try:
        with sole_instance(settings.data):
            yield
    except EchoicError as error:
        raise EchoicError(
            f"no worker may write while segments are closed: {error.what}",
            next_step=f"echoic down --data {shlex.quote(str(settings.data))}",
        ) from error


async def _segment(settings: Settings, count: int | None, notify: Notify) -> Segments:
    if settings.nats_url is not None:
        async with connected(credentials_of(settings), "echoic segments") as client:
            return await _rolled(client, settings, count, notify)
    async with embedded_server(Path(settings.data) / "nats") as server:
        client = await server.connect("echoic segments")
        try:
            return await _rolled(client, settings, count, notify)
        finally:
            await client.close()


async def _rolled(
    client: BrokerClient, settings: Settings, count: int | None, notify: Notify
) -> Segments:
    await migrate(client, settings.nats_replicas)
    segments = await listed(client)
    if segments.preparing:
        notify("a division that was cut off is finished first")
        segments = await roll_over(client, None, settings.nats_replicas, notify)
    wanted = count or len(segments.open)
    return await roll_over(client, wanted, settings.nats_replicas, notify)


async def fit(client: BrokerClient, settings: Settings, notify: Notify) -> None:
    """Divide the log as the settings have it, and finish what was cut off; at a start."""
    segments = await listed(client)
    if segments.preparing:
        notify("the log is being divided: that was cut off, and goes on")
        segments = await roll_over(
            client, None, settings.nats_replicas, notify, opens=False
        )
    if settings.log_streams == _KEPT:
        return
    wanted = int(settings.log_streams)
    if wanted != len(segments.open):
        notify(
            f"log.streams is {wanted} and the log has {len(segments.open)}: its segments"
            " are closed, and new ones begun"
        )
        await roll_over(client, wanted, settings.nats_replicas, notify, opens=False)
