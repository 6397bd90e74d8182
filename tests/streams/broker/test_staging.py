"""Batches are gathered in memory where there is room, and nothing else changes."""

from pathlib import Path

import pytest

from schemas.values.subjects import outputs_of
from streams.broker import staging
from streams.broker.server import EmbeddedServer, embedded_server
from streams.broker.staging import Staging
from streams.log import GroupWrite
from tests.servers import Broker, opened
from tests.streams.messages import a_group, append_inputs

STREAM = Path("jetstream/jetstream/CORE/streams/LOG")


def link(server: EmbeddedServer) -> Path:
    return server.folder / STREAM / "batches"


async def a_batch(broker: Broker, after: int) -> int:
    """Write a group of three as one batch; its end."""
    (cause,) = await append_inputs(broker.writer, 1)
    ends = await broker.writer.commit([GroupWrite(11, after, a_group(cause, 3))])
    return ends[11]


@pytest.mark.services
async def test_batches_are_gathered_in_memory(broker: Broker, monkeypatch) -> None:
    """From the first look on, after a kill, and without room as ever."""
    broker.server.tend()
    assert link(broker.server).is_symlink()
    place = link(broker.server).resolve()
    assert place.is_relative_to(staging.MEMORY)
    end = await a_batch(broker, 0)

    await broker.server.kill()
    await broker.server.restart()
    assert link(broker.server).is_symlink()
    end = await a_batch(broker, end)

    place.rmdir()
    broker.server.tend()
    end = await a_batch(broker, end)

    monkeypatch.setattr(staging, "ROOM_BYTES", 2**60)
    broker.server.tend()
    assert not link(broker.server).is_symlink()
    end = await a_batch(broker, end)
    assert await broker.reader.last_sequence(outputs_of(11)) == end


@pytest.mark.services
async def test_a_stop_leaves_nothing_in_memory(tmp_path: Path) -> None:
    """Neither the link nor its place outlives the server."""
    async with embedded_server(tmp_path / "nats") as server, opened(server) as broker:
        server.tend()
        place = link(server).resolve()
        await a_batch(broker, 0)

    assert not place.exists()
    assert not link(server).is_symlink()


def test_the_place_of_another_is_not_used(tmp_path: Path, monkeypatch) -> None:
    """Anybody can make a folder of that name before us, or when ours is gone."""
    monkeypatch.setattr(staging, "MEMORY", tmp_path)
    monkeypatch.setattr(staging, "ROOM_BYTES", 0)
    folder = tmp_path / "nats"
    (folder / STREAM).mkdir(parents=True)
    ours = Staging(folder)
    ours.keep()
    place = (folder / STREAM / "batches").resolve()

    place.chmod(0o777)
    ours.keep()
    assert not (folder / STREAM / "batches").is_symlink()
    ours.clear()
    assert place.exists()
