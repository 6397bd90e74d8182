"""A backup of streams that are written to, and a log made of it again."""

import asyncio
import random
from collections import Counter
from collections.abc import AsyncIterator, Iterable, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest
from nats.aio.client import Client

from bench.beside import beside
from schemas.values.record import Record
from schemas.values.subjects import partition_of
from streams.backup_file import BackupReader, Manifest, reading, writing
from streams.errors import BackupDamaged, LogRefused, TopologyDrift
from streams.jetstream.backup import back_up, restore
from streams.jetstream.connection import call, connected
from streams.jetstream.consumers import DELIVERY_ASKS, MODEL_ASKS, prepare_consumers
from streams.jetstream.hardened_client import BrokerClient
from streams.jetstream.migrate import check, close_intake, migrate, open_intake, sealing
from streams.jetstream.read import JetStreamReader
from streams.jetstream.segments import roll_over
from streams.jetstream.snapshots import put_back
from streams.log import scan
from streams.topology import IN, LOG
from tests.patience import PATIENCE_S
from tests.servers import Broker, fresh_broker, fresh_server
from tests.streams.jetstream.passed_over import BOXED, PUBLISHED, passing_over, publish
from tests.streams.jetstream.test_segments import Crash, crashing
from tests.streams.sensors import OWN, arrived, sensor

pytestmark = pytest.mark.services

FLOW = 60
"""Events that are surely in the log before the backup."""


def quiet(_: int) -> None:
    """No progress."""


async def backed_up(client: BrokerClient, path: Path) -> Manifest:
    """A backup of a broker."""
    with writing(path) as writer:
        return await back_up(client, writer, "test", quiet)


@asynccontextmanager
async def restored(path: Path) -> AsyncIterator[BrokerClient]:
    """A connection to another server, with the streams of a backup."""
    async with fresh_server() as server:
        client = await server.connect("tests")
        try:
            with reading(path) as file:
                file.check(quiet)
                await restore(client, file, 1, quiet)
            yield client
        finally:
            await client.close()


async def records(client: BrokerClient, epoch: UUID) -> list[Record]:
    """All messages of a log."""
    return [
        each async for each in scan(JetStreamReader(client, epoch), "ev.>", 0, None)
    ]


async def having(client: BrokerClient, epoch: UUID, *wanted: str) -> list[Record]:
    """All messages of a log, once it has all of these."""
    missing = set(wanted)
    async with asyncio.timeout(PATIENCE_S):
        async for page in JetStreamReader(client, epoch).follow("ev.>", 0, 100):
            missing.difference_update(bodies(page))
            if not missing:
                return await records(client, epoch)
    raise AssertionError


def bodies(found: Sequence[Record]) -> list[str]:
    """What the messages say."""
    return [each.body.decode() for each in found]


async def keep_sending(client: Client, subject: str, acknowledged: list[str]) -> None:
    """Publish one event after the other, until cancelled; note the acknowledged ones."""
    name = subject.partition(".")[2]
    for number in range(100_000):
        text = f"{name} {number}"
        await client.request(subject, text.encode(), PATIENCE_S)
        acknowledged.append(text)


async def flow(broker: Broker, taken: Client, sent: list[str], path: Path) -> list[str]:
    """Back up while both ways into the log are written to; what was acknowledged before."""
    ways = ((taken, OWN), (broker.client, "in.ada.user.message"))
    async with beside(*(keep_sending(*way, sent) for way in ways)):
        await arrived(broker, FLOW)
        before = list(sent)
        await backed_up(broker.client, path)
    return before


async def test_what_flows_meanwhile_is_there_once(tmp_path: Path) -> None:
    """The log is a prefix of the original; then the boxes' rest follows, none twice."""
    sent: list[str] = []
    path = tmp_path / "a.backup"
    async with fresh_broker() as broker, sensor(broker) as taken:
        before = await flow(broker, taken, sent, path)
        original = await records(broker.client, broker.reader.epoch)
    async with restored(path) as client:
        epoch = await migrate(client)
        first = await records(client, epoch)
        await open_intake(client)
        await having(client, epoch, *before)
        await client.request("in.ada.user.message", b"afterwards", PATIENCE_S)
        found = await having(client, epoch, "afterwards")
        await check(client)

    assert epoch == broker.reader.epoch
    assert len(first) >= FLOW
    # Subject, headers, body, sequence and time.
    assert first == original[: len(first)]
    assert [each for each, count in Counter(bodies(found)).items() if count > 1] == []
    assert set(before) <= set(bodies(found)) <= {*sent, "afterwards", *inexact(sent)}


def inexact(sent: list[str]) -> set[str]:
    """What may have been stored though nobody heard that it was."""
    names = {each.rpartition(" ")[0] for each in sent}
    return {
        f"{name} {sum(each.startswith(name + ' ') for each in sent)}" for name in names
    }


async def test_a_box_alone_is_not_taken_twice(tmp_path: Path) -> None:
    """Everything is in the log at the backup: afterwards only what is new comes in."""
    path = tmp_path / "a.backup"
    async with fresh_broker() as broker, sensor(broker) as taken:
        for number in range(3):
            await taken.request(OWN, b"%d" % number, PATIENCE_S)
        await arrived(broker, 3)
        await backed_up(broker.client, path)
    async with restored(path) as client:
        epoch = await migrate(client)
        await open_intake(client)
        box = f"ip.{partition_of('ada')}.{OWN.partition('.')[2]}"
        await client.request(box, b"new", PATIENCE_S)
        found = await having(client, epoch, "new")

    assert bodies(found) == ["0", "1", "2", "new"]


async def test_what_the_log_missed_is_in_a_restored_one(tmp_path: Path) -> None:
    """It lies in an intake stream before what the log has, which is purged there."""
    path = tmp_path / "a.backup"
    async with fresh_broker() as broker:
        async with passing_over(broker.client):
            await publish(broker.client, BOXED, "one")
            await publish(broker.client, PUBLISHED, "TWO")
        await publish(broker.client, BOXED, "three")
        await publish(broker.client, PUBLISHED, "four")
        await arrived(broker, 2)
        await backed_up(broker.client, path)
    async with restored(path) as client:
        epoch = await migrate(client)
        await open_intake(client)
        await publish(client, BOXED, "five")
        found = await having(client, epoch, "one", "TWO", "five")

    assert sorted(bodies(found)) == ["TWO", "five", "four", "one", "three"]


async def test_consumers_go_on_where_every_ask_was_done(tmp_path: Path) -> None:
    """What was acknowledged is not delivered again; what was not, is."""
    path = tmp_path / "a.backup"
    async with fresh_broker() as broker:
        await prepare_consumers(broker.client)
        for number in range(5):
            subject = "ev.3.out.ada.ask.model_asked"
            await broker.client.request(subject, b"%d" % number, PATIENCE_S)
        jetstream = broker.client.jetstream()
        asked = await jetstream.pull_subscribe_bind(MODEL_ASKS.durable, LOG.name)
        for message in (await asked.fetch(3, timeout=PATIENCE_S))[:2]:
            await message.ack_sync()
        manifest = await backed_up(broker.client, path)
    async with restored(path) as client:
        jetstream = client.jetstream()
        asked = await jetstream.pull_subscribe_bind(MODEL_ASKS.durable, LOG.name)
        again = [each.data for each in await asked.fetch(5, timeout=PATIENCE_S)]
        info = await jetstream.consumer_info(LOG.name, DELIVERY_ASKS.durable)

    assert manifest.floors[f"{LOG.name}.{MODEL_ASKS.durable}"] == 2
    assert again == [b"2", b"3", b"4"]
    assert info.num_pending == 0


async def test_every_damage_is_found_before_anything_is_made(tmp_path: Path) -> None:
    """A file that is cut anywhere, or has one other byte in its parts, is refused."""
    path = tmp_path / "a.backup"
    async with fresh_broker() as broker:
        for number in range(200):
            body = random.Random(number).randbytes(400)
            await broker.client.request("in.ada.user.message", body, PATIENCE_S)
        await backed_up(broker.client, path)
    whole = path.read_bytes()
    harmed = tmp_path / "b.backup"
    for length in [0, 1, 511, 512, *range(1000, len(whole) - 10_240, 7_919)]:
        harmed.write_bytes(whole[:length])
        with pytest.raises(BackupDamaged):
            checked(harmed)
    for place in places_of_parts(path):
        harmed.write_bytes(
            whole[:place] + bytes([whole[place] ^ 1]) + whole[place + 1 :]
        )
        with pytest.raises(BackupDamaged):
            checked(harmed)
    assert checked(path).epoch == str(broker.reader.epoch)


def checked(path: Path) -> Manifest:
    """The manifest of a backup whose digests are right."""
    with reading(path) as file:
        file.check(quiet)
        return file.manifest


def places_of_parts(path: Path) -> list[int]:
    """A byte in the middle of each part, the manifest's included."""
    with reading(path) as file:
        assert isinstance(file, BackupReader)
        return [
            each.offset_data + each.size // 2
            for each in file._members.values()
            if each.size
        ]


def test_nothing_is_replaced_and_nothing_half_is_left(tmp_path: Path) -> None:
    """A file that is there stays; where a backup fails, there is no file at all."""
    path = tmp_path / "a.backup"
    path.write_bytes(b"mine")

    async def fail() -> None:
        async with fresh_server() as server, connected(server.core) as client:
            with pytest.raises(TopologyDrift):
                await backed_up(client, tmp_path / "b.backup")

    with pytest.raises(FileExistsError), writing(path):
        pytest.fail("began")
    asyncio.run(fail())

    assert path.read_bytes() == b"mine"
    assert [each.name for each in path.parent.iterdir()] == [path.name]


async def test_a_restoration_that_is_broken_off_is_not_started(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The next start says so, and a second restoration refuses what is there."""
    path = tmp_path / "a.backup"
    async with fresh_broker() as broker:
        await backed_up(broker.client, path)

    async def dying(
        client: BrokerClient,
        config: dict[str, Any],
        state: dict[str, Any],
        chunks: Iterable[bytes],
    ) -> dict[str, Any]:
        if config["name"] == IN.name:
            raise ConnectionError("killed")
        return await put_back(client, config, state, chunks)

    monkeypatch.setattr("streams.jetstream.backup.put_back", dying)
    async with fresh_server() as server, connected(server.core) as client:
        with reading(path) as file:
            with pytest.raises(ConnectionError):
                await restore(client, file, 1, quiet)
            monkeypatch.undo()
            with pytest.raises(TopologyDrift, match="broken off"):
                await migrate(client)
            with pytest.raises(LogRefused, match="already"):
                await restore(client, file, 1, quiet)
        info = await call(client, f"$JS.API.STREAM.INFO.{LOG.name}", {})

    assert not info["config"].get("sources")


async def test_of_a_sealed_log_nothing_is_kept_in_clear(tmp_path: Path) -> None:
    """Neither the keys nor what waits to be sealed; it stays a sealed one."""
    path = tmp_path / "a.backup"
    async with fresh_server() as server, connected(server.core) as client:
        epoch = await migrate(client, is_sealed=True)
        await client.request("in.ada.user.message", b"a secret", PATIENCE_S)
        manifest = await backed_up(client, path)
    async with restored(path) as client:
        same = await migrate(client)
        is_sealed = await sealing(client)

    assert {each.name for each in manifest.streams} == {
        "LOG", "OBJ_BLOBS", "OBJ_CHECKPOINTS",
    }  # fmt: skip
    assert (same, is_sealed) == (epoch, True)


async def test_a_segmented_log_is_one_again(tmp_path: Path) -> None:
    """Closed and open segments, what the boxes hold beyond them, and where asks stand."""
    path = tmp_path / "a.backup"
    async with fresh_broker() as broker, sensor(broker) as taken:
        for number in range(3):
            await taken.request(OWN, b"%d" % number, PATIENCE_S)
            await broker.client.request(
                "in.ada.user.message", b"u%d" % number, PATIENCE_S
            )
        await arrived(broker, 6)
        await prepare_consumers(broker.client)
        await roll_over(broker.client, 1)
        await taken.request(OWN, b"later", PATIENCE_S)
        await having(broker.client, broker.reader.epoch, "later")
        before = await records(broker.client, broker.reader.epoch)
        await close_intake(broker.client)
        await taken.request(OWN, b"waits", PATIENCE_S)
        await backed_up(broker.client, path)
        with pytest.raises(Crash):
            await roll_over(broker.client, 2, tell=crashing("planned"))
        with pytest.raises(LogRefused, match="being segmented"):
            await backed_up(broker.client, tmp_path / "b.backup")
    async with restored(path) as client:
        epoch = await migrate(client)
        await open_intake(client)
        await client.request("in.ada.user.message", b"new", PATIENCE_S)
        found = await having(client, epoch, "waits", "new")
        await check(client)

    assert found[: len(before)] == before
    assert sorted(bodies(found[len(before) :])) == ["new", "waits"]
    assert not (tmp_path / "b.backup").exists()
