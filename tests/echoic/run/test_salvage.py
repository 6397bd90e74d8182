"""What a log of several streams has lost is known from its files alone."""

import asyncio
from pathlib import Path

import pytest

from echoic.run.salvage import look, salvage
from streams.broker.server import embedded_server
from streams.disk import survey as surveying
from streams.jetstream.segments import roll_over
from streams.log import scan
from tests.servers import opened
from tests.streams.jetstream.passed_over import BOX, BOXED, passing_over, publish
from tests.streams.jetstream.test_segments import arrived, ids, send

pytestmark = pytest.mark.services


async def test_the_lost_end_of_a_closed_segment_is_noticed(tmp_path: Path) -> None:
    """Its own files no longer say how far it went; those that go on from it do."""
    async with embedded_server(tmp_path / "nats") as server, opened(server) as broker:
        await send(broker, ids("some"))
        await arrived(broker, 90)
        log, *_ = (await roll_over(broker.client, 4)).segments
        before = [each async for each in scan(broker.reader, "ev.>")]
    folder, *others = surveying.all_messages_of(tmp_path / "nats")
    (file,) = surveying.blocks(folder)
    whole = file.read_bytes()
    kept = {each: each.read_bytes() for own in others for each in own.glob("*.blk")}
    assert look(tmp_path).is_sound
    file.write_bytes(whole[: len(whole) // 2])
    (folder / surveying.INDEX).unlink()

    found = look(tmp_path)

    assert found.damaged == (file,)
    assert found.missing[-1].last == found.surveys[0].last == log.last
    lost = found.surveys[0].lost
    assert all(each.read_bytes() == kept[each] for each in kept)
    # In a thread: it runs a loop of its own.
    salvaged = await asyncio.to_thread(salvage, tmp_path)
    assert salvaged is not None
    assert look(tmp_path).is_sound
    async with embedded_server(tmp_path / "nats") as server, opened(server) as broker:
        after = [each async for each in scan(broker.reader, "ev.>")]
    rest = [each for each in before if each.sequence not in lost]
    assert [
        each for each in after if not each.subject.endswith("messages_lost")
    ] == rest
    assert len(rest) > 16
    assert salvage(tmp_path) is None


async def test_what_the_log_missed_is_known_from_files_alone(tmp_path: Path) -> None:
    """What was passed over, by its agent; what is behind all that was taken may still come."""
    async with embedded_server(tmp_path / "nats") as server, opened(server) as broker:
        await publish(broker.client, BOXED, "taken")
        await arrived(broker, 1)
        async with passing_over(broker.client):
            await publish(broker.client, BOXED, "missed")
        await publish(broker.client, BOXED, "taken", "taken")
        await arrived(broker, 3)
        async with passing_over(broker.client):
            await publish(broker.client, BOXED, "last")
    found = look(tmp_path)
    (tmp_path / "nats/jetstream/jetstream/CORE/streams/KV_KEYS").mkdir()

    assert found.is_sound
    assert [
        (each.stream, each.sequence, each.agent, each.is_behind)
        for each in found.passed or ()
    ] == [(BOX, 2, "ada", False), (BOX, 5, "ada", True)]
    assert look(tmp_path).passed is None
