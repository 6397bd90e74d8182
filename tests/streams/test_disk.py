"""The broker's blocks, read without a server: against what a real one wrote."""

import asyncio
from pathlib import Path
from random import Random
from uuid import uuid4

import pytest

from streams.broker.server import EmbeddedServer, embedded_server
from streams.disk import guarding
from streams.disk import survey as surveying
from streams.disk.blocks import read_block
from streams.disk.configurations import finish
from streams.disk.highway import checksums
from streams.disk.mending import mend
from streams.disk.s2 import decompress, masked
from streams.errors import LogDamaged
from tests.servers import opened

MESSAGES = 16_000
"""Two blocks: the first is closed and compressed, the second open."""


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    """The files of a log that a server wrote and left."""
    folder = tmp_path_factory.mktemp("nats")
    asyncio.run(fill(folder))
    messages = surveying.messages_of(folder)
    assert messages is not None
    files = [each for each in messages.iterdir() if each.is_file()]
    return {each.name: each.read_bytes() for each in files}


async def fill(folder: Path) -> None:
    """Let a server store many messages."""
    random = Random(7)
    async with embedded_server(folder) as server, opened(server) as broker:
        for start in range(0, MESSAGES, 500):
            subject = f"ev.3.in.a{start}.x.y"
            headers = {"Nats-Batch-Id": uuid4().hex}
            for place in range(1, 501):
                headers |= {"Nats-Batch-Sequence": str(place)}
                body = random.randbytes(100).hex().encode() * 3
                if place < 500:
                    await broker.client.publish(subject, body, headers=dict(headers))
            headers |= {"Nats-Batch-Commit": "1"}
            await broker.client.request(subject, b"{}", 10, headers=headers)


async def placed(store: dict[str, bytes], server: Path) -> Path:
    """The files in a server's folder, in place of its own; where they lie."""
    async with embedded_server(server) as running, opened(running):
        pass
    folder = surveying.messages_of(server)
    assert folder is not None
    for file in folder.iterdir():
        if file.is_file():
            file.unlink()
    for name, data in store.items():
        (folder / name).write_bytes(data)
    return folder


def test_hashes_are_those_of_the_reference() -> None:
    """HighwayHash-64 and CRC-32C of what their authors publish as test vectors."""
    key = bytes(range(32))
    texts = [bytes(range(length)) for length in (0, 1)]
    found = [int.from_bytes(each, "little") for each in checksums(key, texts)]

    assert found == [0x907A56DE22C26E53, 0x7EAB43AAC7CDDD78]
    assert masked(b"123456789") == _mask(0xE3069283)


def _mask(crc: int) -> int:
    return ((crc >> 15 | crc << 17) + 0xA282EAD8) & 0xFFFFFFFF


@pytest.mark.services
def test_every_record_of_a_server_is_read(store: dict[str, bytes]) -> None:
    """Compressed or not, each record's checksum holds, and the files are whole."""
    closed, open_ = (
        read_block(store[f"{index}.blk"], "LOG", index, b"ev.") for index in (1, 2)
    )

    assert store["1.blk"].startswith(b"cmp")
    assert closed.is_whole
    assert open_.is_whole
    found = [each.sequence for each in (*closed.records, *open_.records)]
    assert found == list(range(1, MESSAGES + 1))


@pytest.mark.services
@pytest.mark.parametrize("index", [1, 2])
@pytest.mark.parametrize("seed", range(4))
def test_any_flipped_bytes_are_seen(
    store: dict[str, bytes], index: int, seed: int
) -> None:
    """Whatever is hit, the file is not whole, and what is given out is as it was."""
    whole = {
        each.raw
        for each in read_block(store[f"{index}.blk"], "LOG", index, b"ev.").records
    }
    random = Random(seed)
    data = bytearray(store[f"{index}.blk"])
    at = random.randrange(len(data) - 8)
    for place in range(at, at + 8):
        data[place] ^= random.randrange(1, 256)

    found = read_block(bytes(data), "LOG", index, b"ev.")

    assert not found.is_whole
    assert {each.raw for each in found.records} <= whole
    assert index == 1 or len(whole) - len(found.records) <= 2


@pytest.mark.services
async def test_a_server_takes_what_was_mended(
    store: dict[str, bytes], tmp_path: Path
) -> None:
    """With a block gone, one torn and the end cut, all else is there; the end is kept."""
    folder = await placed(store, tmp_path)
    closed = bytearray(store["1.blk"])
    closed[len(closed) // 2] ^= 1
    (folder / "1.blk").write_bytes(bytes(closed))
    (folder / "2.blk").write_bytes(store["2.blk"][: len(store["2.blk"]) // 2])
    before = surveying.survey(folder)
    assert set(before.damaged) == {"1.blk", "2.blk"}
    assert before.last == MESSAGES

    mend(before)

    async with (
        embedded_server(tmp_path, guarded=False) as server,
        opened(server) as broker,
    ):
        stream = (await broker.client.jetstream().stream_info("LOG")).state
        assert (stream.messages, stream.last_seq) == (before.records, MESSAGES)
        sequence, found = 0, []
        while page := await broker.reader.page("ev.>", sequence, 1000):
            found += [each.sequence for each in page]
            sequence = found[-1]
        answered = await broker.client.jetstream().publish("ev.3.in.new.x.y", b"{}")
        assert answered.seq == MESSAGES + 1
    assert not [each for each in found if each in before.lost]
    assert len(found) == before.records
    after = surveying.survey(folder)
    assert not after.damaged
    assert after.lost.stretches == before.lost.stretches


@pytest.mark.services
@pytest.mark.parametrize("index", [1, 2])
async def test_no_server_destroys_what_is_damaged(
    store: dict[str, bytes], tmp_path: Path, index: int
) -> None:
    """After a crash the start is refused, each time, and the files are as they were."""
    folder = await placed(store, tmp_path)
    (folder / surveying.INDEX).unlink()
    damaged = bytearray(store[f"{index}.blk"])
    damaged[len(damaged) // 2] ^= 1
    (folder / f"{index}.blk").write_bytes(bytes(damaged))
    before = {each.name: each.read_bytes() for each in folder.glob("*.blk")}

    for _ in range(2):
        with pytest.raises(LogDamaged, match="log verify"):
            await EmbeddedServer(tmp_path).start()
        assert {each.name: each.read_bytes() for each in folder.glob("*.blk")} == before

    (folder / f"{index}.blk").write_bytes(store[f"{index}.blk"])
    async with embedded_server(tmp_path) as server, opened(server) as broker:
        assert await broker.reader.last_sequence("ev.>") == MESSAGES
    assert not (tmp_path / guarding.KEPT).exists()


@pytest.mark.services
async def test_a_start_that_was_cut_off_puts_back_what_it_found(
    store: dict[str, bytes], tmp_path: Path
) -> None:
    """Killed between the cut and the look, the next start begins with the files kept."""
    folder = await placed(store, tmp_path)
    (folder / surveying.INDEX).unlink()
    assert guarding.keep(tmp_path) is not None
    (folder / "1.blk").unlink()
    (folder / "2.blk").write_bytes(b"")

    async with embedded_server(tmp_path) as server, opened(server) as broker:
        assert await broker.reader.last_sequence("ev.>") == MESSAGES


@pytest.mark.services
async def test_a_write_that_was_only_begun_is_no_damage(
    store: dict[str, bytes], tmp_path: Path
) -> None:
    """A crash may leave a part of a record, which nobody acknowledged: it is dropped."""
    folder = await placed(store, tmp_path)
    (folder / surveying.INDEX).unlink()
    (folder / "2.blk").write_bytes(store["2.blk"] + store["2.blk"][:50])

    assert surveying.survey(folder).damaged == ()
    async with embedded_server(tmp_path) as server, opened(server) as broker:
        assert await broker.reader.last_sequence("ev.>") == MESSAGES


def test_what_is_no_s2_is_not_sound() -> None:
    """Nonsense comes out as not sound, and raises nothing."""
    random = Random(1)
    for size in (0, 1, 9, 500):
        text, is_sound = decompress(random.randbytes(size))
        assert isinstance(text, bytes)
        assert not is_sound


async def test_a_configuration_that_was_cut_off_is_finished(tmp_path: Path) -> None:
    """Of a stream or a consumer: nothing is passed over, and the log is the same log."""
    async with embedded_server(tmp_path) as server, opened(server) as broker:
        epoch = broker.reader.epoch
        await server.add_sensor("ada", "cam")
    sums = found(tmp_path, "**/meta.sum")
    before = {each: each.read_bytes() for each in sums}
    assert finish(tmp_path) == []
    assert any("obs" in each.parts for each in sums)

    for number, each in enumerate(sums):
        if number % 2:
            each.unlink()
        else:
            each.write_bytes(b"ad33a9cbca027167")
    assert sorted(finish(tmp_path)) == sums
    assert {each: each.read_bytes() for each in sums} == before

    for each in sums:
        each.write_bytes(b"ad33a9cbca027167")
    async with embedded_server(tmp_path) as server, opened(server) as broker:
        assert broker.reader.epoch == epoch


async def test_a_configuration_that_cannot_be_read_is_refused(tmp_path: Path) -> None:
    """No other log is begun in place of the one that is there."""
    async with embedded_server(tmp_path) as server, opened(server):
        pass
    (file,) = found(tmp_path, "jetstream/jetstream/*/streams/LOG/meta.inf")
    whole = file.read_bytes()
    file.write_bytes(whole[:100])

    with pytest.raises(LogDamaged, match="is not what nats-server wrote of LOG"):
        await EmbeddedServer(tmp_path).start()
    file.write_bytes(whole)
    async with embedded_server(tmp_path) as server, opened(server):
        pass


def found(folder: Path, pattern: str) -> list[Path]:
    """The files below a folder."""
    return sorted(folder.glob(pattern))
