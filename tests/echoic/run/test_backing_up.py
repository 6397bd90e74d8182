"""Backups that an instance makes by itself: when, how many, and what becomes of a failure."""

import asyncio
import shutil
from contextlib import AsyncExitStack
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from bench.beside import beside
from echoic import doctor
from echoic.client import backup as backups
from echoic.config.load import Settings, defaults
from echoic.errors import EchoicError
from echoic.run import backing_up, restoring
from echoic.run.backing_up import keep_backed_up
from echoic.run.restoring import restored
from schemas.messages.sensing import Sensed
from schemas.values.subjects import partition_of
from streams.backup_file import reading
from streams.log import append_input
from tests.minds import until
from tests.servers import Broker, fresh_broker

FILES = [Path(f"echoic-2026112{day}T000000Z.backup") for day in range(5)]


@pytest.mark.parametrize("keep", [1, 2, 5, 9])
def test_the_last_ones_are_kept(keep: int) -> None:
    """In whatever order they are listed, the newest by name stay, as many as are wanted."""
    gone = backups.outdated(FILES[::-1], keep)

    assert sorted(set(FILES) - set(gone)) == FILES[-keep:]


async def say(broker: Broker, id_: str) -> None:
    """Put an event into the log."""
    await append_input(
        broker.writer,
        broker.reader.epoch,
        Sensed(source="user", type="message", text=id_),
        agent="ada",
        partition=partition_of("ada"),
        id_=id_,
        source="/tests",
    )


def made(settings: Settings) -> dict[str, int]:
    """The backups that there are, each with where the log in it ends."""
    found = {}
    for each in backups.own(settings.data):
        with reading(each) as file:
            found[each.name] = file.manifest.stream("LOG").state["last_seq"]
    return found


@pytest.mark.services
async def test_what_came_is_backed_up_by_itself(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Once a second if something came, and the last two are kept; a full disk is told."""
    told: list[str] = []
    async with AsyncExitStack() as stack:
        broker = await stack.enter_async_context(fresh_broker())
        settings = replace(
            defaults(),
            data=broker.server.folder.parent,
            backup_every="1s",
            backup_keep=2,
        )
        left = settings.data / backups.FOLDER / "echoic-1.backup.x.partial"
        left.parent.mkdir()
        left.touch()
        keeping = keep_backed_up(
            settings, broker.server.core, broker.reader, told.append
        )
        await stack.enter_async_context(beside(keeping))
        seen: dict[str, int] = {}

        for number in range(1, 4):
            await say(broker, f"{number}")
            await until(lambda end=number: end in made(settings).values(), "a backup")  # type: ignore[misc]
            seen |= made(settings)
        assert sorted(seen.values()) == [1, 2, 3]
        last = sorted(seen)[1:]
        await until(lambda: list(made(settings)) == last, "the oldest is gone")
        assert not left.exists()
        assert (await checked(broker, settings)).verdict == "fine"

        usage = SimpleNamespace(total=10**9, free=10)
        with monkeypatch.context() as patch:
            patch.setattr(shutil, "disk_usage", lambda _: usage)
            await say(broker, "4")
            await until(lambda: bool(told), "a failure")
        found = await checked(broker, settings)
        assert found.verdict == "problem"
        assert "the next one failed: it may take" in found.found
        await until(lambda: 4 in made(settings).values(), "a backup after all")
        await until(lambda: backups.failure(settings.data) is None, "no failure")

    assert len(told) == 1


async def checked(broker: Broker, settings: Settings) -> doctor.Check:
    """What the doctor finds."""
    connection: Any = SimpleNamespace(settings=settings, client=broker.client)
    return await doctor._looked("backups", connection)


@pytest.mark.services
async def test_one_that_is_broken_off_leaves_nothing() -> None:
    """Who stops the instance does not wait for a backup, and no half of one is left."""
    async with fresh_broker() as broker:
        await say(broker, "1")
        folder = broker.server.folder.parent
        making = asyncio.create_task(
            backing_up._made(broker.server.core, folder, folder / "a.backup")
        )
        await until(lambda: bool(list(folder.glob("*.partial"))), "a backup begins")
        making.cancel()
        with pytest.raises(asyncio.CancelledError):
            await making

        assert not list(folder.glob("*.backup*"))


@pytest.mark.services
async def test_one_that_cannot_be_restored_takes_no_place() -> None:
    """A damaged stream beside the log is told; the older backup stays."""
    async with fresh_broker() as broker:
        await say(broker, "1")
        blobs = await broker.client.jetstream().object_store("BLOBS")
        await blobs.put("a", b"a pack, as it was loaded" * 9)
        await blobs.put("b", b"another one" * 9)
        folder = broker.server.folder.parent
        await backing_up._made(broker.server.core, folder, folder / "old.backup")
        await broker.server.stop()
        (block,) = broker.server.folder.glob(
            "jetstream/jetstream/*/*/OBJ_BLOBS/msgs/*.blk"
        )
        block.write_bytes(block.read_bytes().replace(b"a pack", b"a crab", 1))
        await broker.server.start()

        with pytest.raises(EchoicError, match="cannot be restored: OBJ_BLOBS"):
            await backing_up._made(broker.server.core, folder, folder / "new.backup")

        assert [each.name for each in folder.glob("*.backup*")] == ["old.backup"]
        assert not list(folder.glob(".proving-*"))


@pytest.mark.services
async def test_the_newest_whole_one_is_restored(tmp_path: Path) -> None:
    """By `last`, which says what it passed over; and by a name alone."""
    settings = replace(defaults(), data=tmp_path / "data")
    own = settings.data / backups.FOLDER
    own.mkdir(parents=True)
    async with fresh_broker() as broker:
        for number in range(3):
            await say(broker, f"{number}")
            path = own / f"echoic-{number}.backup"
            await backing_up._made(
                broker.server.core, broker.server.folder.parent, path
            )
    for path in backups.own(settings.data)[1:]:
        altered = bytearray(path.read_bytes())
        altered[altered.index(b"streams/LOG/") + 1_024] ^= 1
        path.write_bytes(altered)

    done = await asyncio.to_thread(restored, settings, Path("last"), lambda _: None)
    named, _ = restoring._named(settings.data, Path("echoic-1"))

    assert (done.path.name, named.name) == ("echoic-0.backup", "echoic-1.backup")
    two, one = done.passed_over
    assert "echoic-2.backup" in two
    assert "echoic-1.backup" in one
