"""What is said of the room for what sensors send, and of who takes it."""

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import pytest

from echoic.client import storage
from echoic.config.load import defaults
from streams.bounds import Limits, Room
from streams.broker.data_folder import recall
from streams.broker.intake_watch import IntakeWatch, Traffic
from tests.servers import Broker, fresh_broker
from tests.streams.sensors import OWN, arrived, send, sensor

pytestmark = pytest.mark.services

MB = 10**6
LARGE = b"x" * 50_000


@pytest.fixture
async def broker() -> AsyncIterator[Broker]:
    """A broker of its own."""
    async with fresh_broker() as found:
        yield found


def behind(broker: Broker, **changed: Any) -> Any:
    """A connection as commands have it."""
    settings = replace(defaults(), data=broker.server.folder.parent, **changed)
    return SimpleNamespace(settings=settings, client=broker.client)


async def watched(broker: Broker, limits: Limits, room: Room) -> None:
    """Have 20 large messages sent, and looked at."""
    async with AsyncExitStack() as stack:
        cam = await stack.enter_async_context(sensor(broker))
        identity = recall(broker.server.folder)
        assert identity is not None
        watch = IntakeWatch(
            broker.client,
            limits,
            folder=broker.server.folder,
            traffic=await stack.enter_async_context(Traffic(identity.system)),
            room=lambda _: room,
        )
        for _ in range(20):
            await send(cam, OWN, LARGE)
        await watch.look()


async def test_a_full_disk_is_named_with_whose_messages_fill_it(broker: Broker) -> None:
    """The sender stands there with what it sent today."""
    limits = Limits(waiting=256 * MB, day=8_000 * MB, floor=512 * MB)
    await watched(broker, limits, Room(400 * MB, 100_000 * MB))

    found = await storage.look(behind(broker))

    assert found.is_full
    assert found.found.startswith("storage full: 400.0 MB of the disk are free")
    assert "ada.cam 1.0 MB" in found.found


async def test_who_is_refused_is_named_with_why(broker: Broker) -> None:
    """Nobody else is, and the store is not full."""
    limits = Limits(waiting=256 * MB, day=MB // 2, floor=512 * MB)
    await watched(broker, limits, Room(50_000 * MB, 100_000 * MB))

    found = await storage.look(behind(broker, intake_day_mb=1))

    assert (found.is_full, found.is_short) == (False, True)
    assert found.found.startswith("refused: ada.cam, 1.0 MB today, intake.day_mb")


async def test_on_another_s_broker_the_log_tells_who_sent_most(broker: Broker) -> None:
    """Where no account is counted: intake streams that take nothing are seen all the same."""
    limits = Limits(waiting=256 * MB, day=8_000 * MB, floor=512 * MB)
    await watched(broker, limits, Room(400 * MB, 100_000 * MB))
    await arrived(broker, 20)

    found = await storage.look(behind(broker, nats_url="nats://elsewhere:4222"))

    assert found.is_full
    assert "most of what came last is by ada.cam 1.0 MB" in found.found


async def test_with_room_for_all_it_says_what_waits(broker: Broker) -> None:
    """Before anything was counted, too."""
    found = await storage.look(behind(broker))

    assert found == storage.Storage(False, "intake streams hold 0.0 MB")
