"""Closed segments in an archive: kept, reclaimed, and put back."""

from collections.abc import AsyncIterator
from pathlib import Path
from uuid import UUID

import pytest

from echoic.client.archive.segments import keep_segments, put_back, reclaim
from echoic.client.archive.shelf import Altered, Shelf
from echoic.client.missed import lost_packs
from echoic.errors import EchoicError, NotFoundError
from schemas.messages.controls import PackLoaded
from schemas.values.record import Record
from schemas.values.subjects import PARTITIONS, partition_of
from streams.errors import LogReclaimed, LogRefused
from streams.jetstream.checkpoints import Checkpoint, JetStreamCheckpoints, Label
from streams.jetstream.hardened_client import BrokerClient
from streams.jetstream.migrate import check, live_of, migrate
from streams.jetstream.read import JetStreamReader
from streams.jetstream.segments import listed, mark, roll_over
from streams.log import append_input, scan
from streams.topology import LOG
from tests.patience import PATIENCE_S
from tests.servers import Broker, fresh_broker

pytestmark = pytest.mark.services


def quiet(_: int) -> None:
    """No progress."""


@pytest.fixture
async def broker() -> AsyncIterator[Broker]:
    """A log of a closed segment with two messages of ada's, and an open one."""
    async with fresh_broker() as running:
        for number in range(2):
            subject = "ev.3.in.ada.sensor.user.message"
            await running.client.request(subject, b"%d" % number, PATIENCE_S)
        await roll_over(running.client, 1)
        yield running


@pytest.fixture
def shelf(tmp_path: Path) -> Shelf:
    """An empty archive."""
    return Shelf(tmp_path / "kept")


async def records(client: BrokerClient, epoch: UUID) -> list[Record]:
    """All messages of the log."""
    reader = JetStreamReader(client, epoch)
    return [each async for each in scan(reader, "ev.3.>", 0, None)]


async def states(broker: Broker) -> list[str]:
    """The state of each segment."""
    return [each.state for each in (await listed(broker.client)).segments]


async def checkpointed(broker: Broker, sequence: int) -> None:
    """A checkpoint of every partition."""
    kept = JetStreamCheckpoints(broker.client)
    for partition in range(PARTITIONS):
        label = Label(
            partition=partition,
            sequence=sequence,
            time_ns=0,
            message_id="x",
            last_output=0,
            epoch=broker.reader.epoch,
            code="x",
        )
        await kept.save(Checkpoint(label=label, state=b"x"))


async def test_a_segment_is_given_up_and_comes_back(
    broker: Broker, shelf: Shelf
) -> None:
    """Archived, deleted once nothing needs it, and put back as it was."""
    epoch, client = broker.reader.epoch, broker.client
    before = await records(client, epoch)
    (label,) = await keep_segments(client, shelf, quiet)
    nothing = await keep_segments(client, shelf, quiet)
    archived = await states(broker)
    with pytest.raises(EchoicError, match="partition 3 has no checkpoint behind 2"):
        await reclaim(client, shelf)
    assert await live_of(client, LOG.name) is not None
    await checkpointed(broker, 2)
    gone = await reclaim(client, shelf)
    deleted = await states(broker)
    with pytest.raises(LogReclaimed, match="--put-back LOG"):
        await records(client, epoch)
    same_epoch = await migrate(client)
    await put_back(client, shelf, LOG.name, 1, quiet)
    await check(client)

    assert (label.id, label.first, label.last, label.messages) == ("LOG", 1, 2, 2)
    assert (nothing, gone) == ([], [LOG.name])
    assert (archived, deleted) == (["archived", "open"], ["deleted", "open"])
    assert same_epoch == epoch
    assert await records(client, epoch) == before
    assert await states(broker) == ["archived", "open"]


async def test_packs_are_looked_for_in_what_is_left(
    broker: Broker, shelf: Shelf
) -> None:
    """Nobody who looks for lost ones needs what an archive alone has."""
    await keep_segments(broker.client, shelf, quiet)
    await checkpointed(broker, 2)
    await reclaim(broker.client, shelf)
    reader = JetStreamReader(broker.client, broker.reader.epoch)
    assert await lost_packs(reader) == ()

    whole = await broker.writer.put_blob(b"whole")
    for number, digest in enumerate((whole, "0" * 64)):
        loaded = PackLoaded(name=f"p{number}", pack_version="1", digest=digest)
        await append_input(
            broker.writer, reader.epoch, loaded, agent="ada",
            partition=partition_of("ada"), id_=f"{number}", source="/tests",
        )  # fmt: skip

    assert await lost_packs(reader) == ("p1 1",)


async def test_what_the_archive_does_not_have_is_not_given_up(
    broker: Broker, shelf: Shelf, tmp_path: Path
) -> None:
    """Another archive, or one in which a byte is another: the stream stays."""
    (label,) = await keep_segments(broker.client, shelf, quiet)
    await checkpointed(broker, 2)
    with pytest.raises(NotFoundError, match="does not have the segment LOG"):
        await reclaim(broker.client, Shelf(tmp_path / "other"))
    stored = tmp_path / "kept" / label.key
    body = bytearray(stored.read_bytes())
    body[700] ^= 1
    stored.write_bytes(body)
    with pytest.raises(Altered, match="not what was stored"):
        await reclaim(broker.client, shelf)

    assert await live_of(broker.client, LOG.name) is not None
    assert await states(broker) == ["archived", "open"]


async def test_an_ask_without_a_result_keeps_its_segment(shelf: Shelf) -> None:
    """It is still to be handed out."""
    async with fresh_broker() as broker:
        await broker.client.request("ev.3.out.ada.ask.model_asked", b"{}", PATIENCE_S)
        await roll_over(broker.client, 1)
        await keep_segments(broker.client, shelf, quiet)
        await checkpointed(broker, 2)
        with pytest.raises(EchoicError, match="1 asks without a result"):
            await reclaim(broker.client, shelf)


async def test_it_goes_on_after_a_crash(broker: Broker, shelf: Shelf) -> None:
    """Killed before the mark, or between the mark and the deletion: the next run ends it."""
    await keep_segments(broker.client, shelf, quiet)
    await mark(broker.client, LOG.name, "closed", "archived")
    (again,) = await keep_segments(broker.client, shelf, quiet)
    await mark(broker.client, LOG.name, "deleted", "archived")
    gone = await reclaim(broker.client, shelf)
    twice = await reclaim(broker.client, shelf)
    with pytest.raises(LogRefused, match="no segment that was deleted"):
        await put_back(broker.client, shelf, "LOG_1", 1, quiet)

    assert again.id == LOG.name
    assert (gone, twice) == ([LOG.name], [])
    assert await live_of(broker.client, LOG.name) is None
