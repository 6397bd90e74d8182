"""A real broker that passes over messages which an intake stream has acknowledged."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from schemas.values.record import Record
from schemas.values.subjects import partition_of
from streams.jetstream.connection import insist
from streams.jetstream.hardened_client import BrokerClient
from streams.jetstream.migrate import close_intake, set_sources
from streams.jetstream.origins import EVERYWHERE
from streams.jetstream.read import JetStreamReader
from streams.jetstream.registry import load
from streams.log import scan
from streams.segment_streams import sources_of
from streams.topology import BOXES, IN
from tests.patience import PATIENCE_S

BOX = BOXES[partition_of("ada")].name
BOXED = f"ip.{partition_of('ada')}.ada.cam.seen"
PUBLISHED = "in.ada.cam.seen"
ODD = f"ip.{partition_of('ada')}.ada.cam.*"
"""A subject with a sign of filters in it."""


async def sequence(client: BrokerClient, stream: str) -> int:
    """The last sequence of a stream."""
    info = await insist(client, f"$JS.API.STREAM.INFO.{stream}", {})
    last: int = info["state"]["last_seq"]
    return last


@asynccontextmanager
async def passing_over(client: BrokerClient) -> AsyncIterator[None]:
    """Have the log pass over all that ends up in the intake of `ada` in the block."""
    segments, _ = await load(client)
    segment = segments.open_of(partition_of("ada"))
    await close_intake(client)
    yield
    begin = await sequence(client, IN.name) + 1
    # A consumer that was put behind, and a source that begins behind: both as it happened.
    subject = f"$JS.API.CONSUMER.RESET.{BOX}.{segment.stream}"
    await insist(client, subject, {"seq": await sequence(client, BOX) + 1})
    sources: list[dict[str, Any]] = [
        each | {"opt_start_seq": begin} if each["name"] == IN.name else each
        for each in sources_of(segment, segments)
    ]
    await set_sources(client, segment.stream, sources)


def damage(folder: Path, stream: str, before: bytes, after: bytes) -> None:
    """Change what the files of a stopped server's stream hold, as a bad disk does."""
    (block,) = folder.glob(f"jetstream/jetstream/*/streams/{stream}/msgs/*.blk")
    data = block.read_bytes()
    assert before in data
    block.write_bytes(data.replace(before, after, 1))


async def publish(client: BrokerClient, subject: str, *bodies: str) -> None:
    """Publish bodies, each acknowledged: those in capitals with an id of their own."""
    for body in bodies:
        headers = {"ce-id": body} if body.isupper() else None
        await client.request(subject, body.encode(), PATIENCE_S, headers=headers)


async def logged_inputs(client: BrokerClient, reader: JetStreamReader) -> list[Record]:
    """What of the intake streams the log has."""
    fresh = JetStreamReader(client, reader.epoch)
    found = [each for filter_ in EVERYWHERE async for each in scan(fresh, filter_)]
    return sorted(found, key=lambda each: each.sequence)
