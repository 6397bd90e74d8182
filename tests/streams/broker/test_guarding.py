"""A log that is damaged is noticed before a server destroys it, and stays as it was found."""

import asyncio
from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import dataclass
from pathlib import Path
from random import Random
from uuid import uuid4

import pytest

from streams.backup_file import writing
from streams.broker import guarding
from streams.broker.configurations import finish, highway
from streams.broker.guarding import INDEX
from streams.broker.server import EmbeddedServer, embedded_server
from streams.errors import LogDamaged, LogRefused
from streams.jetstream.backup import back_up
from tests.patience import PATIENCE_S
from tests.servers import opened

MESSAGES = 16_000
"""Two blocks: the first is closed and compressed, the second open."""


@dataclass(frozen=True)
class Store:
    """A server's folder, and the files of the log that it wrote and left."""

    server: Path
    files: dict[str, bytes]

    @property
    def messages(self) -> Path:
        """Where the blocks of the log lie."""
        (folder,) = self.server.glob("jetstream/jetstream/*/streams/LOG/msgs")
        return folder

    def now(self) -> dict[str, bytes]:
        """The files that there are."""
        return {each.name: each.read_bytes() for each in self.messages.glob("*.*")}


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> Store:
    """The folder of a server that stopped."""
    folder = tmp_path_factory.mktemp("nats")
    asyncio.run(fill(folder))
    return Store(folder, Store(folder, {}).now())


@pytest.fixture
def store(written: Store) -> Store:
    """It, as it was left."""
    for file in written.messages.glob("*.*"):
        file.unlink()
    for name, data in written.files.items():
        (written.messages / name).write_bytes(data)
    return written


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
            await broker.client.request(subject, b"{}", PATIENCE_S, headers=headers)


def flipped(file: Path, at: int | None = None) -> None:
    """Change eight bytes, in the middle or from an offset on."""
    data = bytearray(file.read_bytes())
    begin = len(data) // 2 if at is None else at
    for place in range(begin, begin + 8):
        data[place] ^= 0x55
    file.write_bytes(data)


def cut(file: Path) -> None:
    """Take the last third away."""
    file.write_bytes(file.read_bytes()[: file.stat().st_size * 2 // 3])


DAMAGE: dict[str, Callable[[Path], None]] = {
    "a closed block": lambda folder: flipped(folder / "1.blk"),
    "the open block": lambda folder: flipped(folder / "2.blk"),
    "a length": lambda folder: flipped(folder / "2.blk", 0),
    "the last record": lambda folder: flipped(
        folder / "2.blk", (folder / "2.blk").stat().st_size - 40
    ),
    "a cut end": lambda folder: cut(folder / "2.blk"),
    "a lost block": lambda folder: (folder / "1.blk").unlink(),
}


@pytest.mark.services
@pytest.mark.parametrize(
    ("damage", "is_clean"),
    # Without an index a cut end looks like a write that was only begun.
    [
        *((each, True) for each in DAMAGE),
        ("a closed block", False),
        ("a length", False),
    ],
)
async def test_no_server_destroys_what_is_damaged(
    store: Store, damage: str, is_clean: bool
) -> None:
    """After a stop, or a crash, the start is refused, and the files are as they were."""
    DAMAGE[damage](store.messages)
    if not is_clean:
        (store.messages / INDEX).unlink()
    before = store.now()

    with pytest.raises(LogDamaged, match="echoic restore last"):
        await EmbeddedServer(store.server).start()

    assert store.now() == before
    assert not (store.server / guarding.KEPT).exists()


@pytest.mark.services
@pytest.mark.parametrize("damage", [None, "a closed block", "the open block"])
async def test_what_a_running_server_passes_over_is_noticed(
    store: Store, tmp_path: Path, damage: str | None
) -> None:
    """A look at the open block, or the server itself, refuses a backup of a damaged log."""
    if damage:
        DAMAGE[damage](store.messages)
    refused = (LogDamaged, LogRefused) if damage else ()

    # With an index that fits, it does not read the blocks at its start.
    async with embedded_server(store.server, guard="none") as server:
        client = await server.connect()
        try:
            with pytest.raises(refused) if refused else nullcontext():
                await guarding.check_open_blocks(client, store.server)
                with writing(tmp_path / "a.backup") as writer:
                    await back_up(client, writer, "0", lambda kilobytes: None)
        finally:
            await client.close()

    assert (tmp_path / "a.backup").exists() is (damage is None)


def test_a_replacement_that_was_cut_off_is_finished(tmp_path: Path) -> None:
    """Between its two renames there is no log, and none is begun in its place."""
    other, aside = tmp_path / "other", tmp_path / "aside"
    for folder in (tmp_path / "nats" / "jetstream", other / "jetstream", aside):
        folder.mkdir(parents=True)
    (other / "jetstream" / "new").touch()
    guarding.replace(tmp_path / "nats", other, aside)
    assert (tmp_path / "nats" / "jetstream" / "new").exists()
    assert (aside / "jetstream").exists()

    (tmp_path / "nats" / "jetstream").rename(tmp_path / "nats" / "jetstream.ready")
    assert guarding.keep(tmp_path / "nats") is None
    assert (tmp_path / "nats" / "jetstream" / "new").exists()


@pytest.mark.services
async def test_a_start_that_was_cut_off_puts_back_what_it_found(store: Store) -> None:
    """Killed between the cut and the look, the next start begins with the files kept."""
    (store.messages / INDEX).unlink()
    assert guarding.keep(store.server) is not None
    (store.messages / "1.blk").unlink()
    (store.messages / "2.blk").write_bytes(b"")

    async with embedded_server(store.server) as server, opened(server) as broker:
        assert await broker.reader.last_sequence("ev.>") == MESSAGES


@pytest.mark.services
async def test_a_write_that_was_only_begun_is_no_damage(store: Store) -> None:
    """A crash may leave a part of a record, which nobody acknowledged: it is dropped."""
    (store.messages / INDEX).unlink()
    open_ = store.files["2.blk"]
    (store.messages / "2.blk").write_bytes(open_ + open_[:50])

    async with embedded_server(store.server) as server, opened(server) as broker:
        assert await broker.reader.last_sequence("ev.>") == MESSAGES


def test_hashes_are_those_of_the_reference() -> None:
    """HighwayHash-64 of what its authors publish as test vectors."""
    key = bytes(range(32))
    found = [highway(key, bytes(range(length))) for length in (0, 1)]

    assert [int.from_bytes(each, "little") for each in found] == [
        0x907A56DE22C26E53,
        0x7EAB43AAC7CDDD78,
    ]


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
