"""The watch over the intake, with a real broker: who is refused, and that nothing is lost."""

import asyncio
from contextlib import AsyncExitStack
from datetime import UTC, datetime, timedelta
from pathlib import Path
from random import Random

import pytest
from nats.aio.client import Client
from nats.errors import NoRespondersError

from echoic.client.publish import publish_raw
from streams.bounds import CLOSED_BYTES, Room
from streams.broker import intake_watch
from streams.errors import LogFull
from streams.jetstream.draining import boxes, keep_drained
from streams.jetstream.hardened_client import BrokerClient
from tests.servers import Broker
from tests.streams.sensors import MB, OWN, arrived, limits, send, sensor, watching

pytestmark = pytest.mark.services

LARGE = bytes(59_000)


async def test_who_is_over_the_day_is_told_so_and_others_send_on(
    broker: Broker, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The refusal names why by its stream, costs no connection, and ends with the day."""
    async with AsyncExitStack() as stack:
        cam = await stack.enter_async_context(sensor(broker))
        mic = await stack.enter_async_context(sensor(broker, source="mic"))
        watch = await watching(stack, broker, limits(day=MB))
        stored = [await send(cam, OWN, LARGE) for _ in range(20)]
        await watch.look()
        refused = await send(cam, OWN, LARGE)
        with pytest.raises(
            LogFull, match="its sender is over its bounds; `echoic doctor`"
        ):
            await publish_raw(cam, OWN, LARGE, {})
        taken = await send(mic, "in.ada.mic.heard")

        assert all("seq" in each and "error" not in each for each in stored)
        assert watch.standing.refused == {"ada.cam": "day"}
        assert refused["error"]["code"] == 503
        assert refused["stream"] == "OVER_QUOTA"
        assert "error" not in taken
        assert len(await arrived(broker, 21)) == 21

        monkeypatch.setattr(intake_watch, "datetime", Tomorrow)
        await watch.look()

        assert "error" not in await send(cam, OWN)
        assert (cam.stats["reconnects"], mic.stats["reconnects"]) == (0, 0)


class Tomorrow(datetime):
    """A clock that is a day ahead."""

    @classmethod
    def now(cls, tz: object = UTC) -> "Tomorrow":
        """The time in a day."""
        ahead = datetime.now(UTC) + timedelta(days=1)
        return cls.fromtimestamp(ahead.timestamp(), UTC)


async def test_what_was_sent_today_is_known_after_a_restart(broker: Broker) -> None:
    """Neither a restart of the broker nor one of the watch gives a new day."""
    async with AsyncExitStack() as stack:
        async with sensor(broker) as cam:
            watch = await watching(stack, broker, limits(day=2 * MB))
            for _ in range(20):
                await send(cam, OWN, LARGE)
            await watch.look()
        before = watch.standing.used["ada.cam"]
        await broker.server.kill()
        await broker.server.restart()
    async with AsyncExitStack() as stack:
        again = await watching(stack, broker, limits(day=2 * MB))
        async with sensor(broker) as cam:
            for _ in range(20):
                await send(cam, OWN, LARGE)
            await again.look()
            refused = await send(cam, OWN)

    assert before >= 20 * len(LARGE)
    assert again.standing.used["ada.cam"] >= 2 * before - MB // 100
    assert "error" in refused


async def test_below_the_floor_sensors_are_refused_and_the_log_goes_on(
    broker: Broker,
) -> None:
    """What was stored stays, outputs are written, and with room again all is as before."""
    free = 100 * MB

    def room(_: Path) -> Room:
        return Room(free, 1_000_000 * MB)

    async with AsyncExitStack() as stack:
        cam = await stack.enter_async_context(sensor(broker))
        watch = await watching(stack, broker, limits(floor=50 * MB), room)
        await send(cam, OWN, b"before")
        await watch.look()
        free = 40 * MB
        await watch.look()
        refused = await send(cam, OWN)
        person = await send(broker.client, "in.ada.user.message")
        output = await send(broker.client, "ev.3.out.ada.note.handled")
        free = 55 * MB
        await watch.look()
        still = await send(cam, OWN)
        free = 70 * MB
        await watch.look()
        after = await send(cam, OWN, b"after")
        records = await arrived(broker, 4)

    assert (refused["error"]["err_code"], still["error"]["err_code"]) == (10077, 10077)
    assert "error" not in person
    assert "error" not in output
    assert "error" not in after
    bodies = [each.body for each in records if each.body != b"{}"]
    assert bodies == [b"before", b"after"]


async def test_a_box_of_a_server_without_room_refuses_no_more_than_it_has_to(
    broker: Broker,
) -> None:
    """The bound of what waits stands at the broker: nobody has to look in time."""
    async with AsyncExitStack() as stack:
        watch = await watching(stack, broker, limits(waiting=MB))
        await watch.look()
        bounds = {each.bound for each in (await boxes(broker.client)).values()}
        free = await watching(stack, broker, limits(), lambda _: Room(0, 260 * MB))
        await free.look()
        closed = {each.bound for each in (await boxes(broker.client)).values()}

    assert bounds == {MB}
    assert closed == {CLOSED_BYTES}


DISK = 260 * MB
HONEST = 100
"""Messages of each honest sensor, and at least as long as the flood."""


@pytest.mark.timeout(240)
async def test_four_floods_on_a_small_disk_starve_nobody(broker: Broker) -> None:
    """Each floods with 59 kB as fast as it is answered; two share a neighbour's intake stream.

    The disk is one of 260 MB by its size alone: no test may mount one. In memory floods are
    faster than the log takes what waits.
    """

    def room(folder: Path) -> Room:
        return Room(max(0, DISK - size(folder)), DISK)

    async with AsyncExitStack() as stack:
        watch = await watching(stack, broker, limits(floor=512 * MB), room)
        users = [("ada", "cam"), ("ada", "tv"), ("bob", "cam"), ("eve", "cam")]
        floods = [
            (await stack.enter_async_context(sensor(broker, *each)), each)
            for each in users
        ]
        honest = [
            (await stack.enter_async_context(sensor(broker, agent, "mic")), agent)
            for agent in ("ada", "bob", "fay")
        ]
        over = asyncio.Event()
        flooding = [asyncio.create_task(flood(*each, over)) for each in floods]
        telling = [asyncio.create_task(tell(*each, over)) for each in honest]
        draining, largest = asyncio.create_task(keep_drained(broker.client)), 0
        while not (over.is_set() and all(each.done() for each in telling)):
            refused_now = (await watch.look()).refused
            largest = max(largest, size(broker.server.folder))
            if len(refused_now) == len(users):
                over.set()
        draining.cancel()
        refused = [await each for each in flooding]
        answers = [await each for each in telling]
        mics = await arrived(broker, sum(map(len, answers)), "ev.*.in.*.sensor.mic.>")

    assert all(refused)
    assert len(mics) == sum(map(len, answers))
    assert largest < DISK * 3 // 4
    assert not watch.standing.is_closed


async def flood(client: Client, user: tuple[str, str], over: asyncio.Event) -> int:
    """Send large messages until all floods are refused; return how often this was."""
    refused = 0
    # Each another one, which nothing makes smaller.
    subject, drawn = f"in.{user[0]}.{user[1]}.seen", Random(user[1])
    while not over.is_set() or not refused:
        bodies = [drawn.randbytes(len(LARGE)) for _ in range(8)]
        sent = [insisted(client, subject, each) for each in bodies]
        refused += sum("error" in each for each in await asyncio.gather(*sent))
    return refused


async def tell(
    client: BrokerClient, agent: str, over: asyncio.Event
) -> list[dict[str, object]]:
    """Send small messages one after the other; return the broker's acknowledgements."""
    answers: list[dict[str, object]] = []
    while len(answers) < HONEST or not over.is_set():
        # A refusal is an error.
        told = await publish_raw(client, f"in.{agent}.mic.heard", b"hello", {})
        answers.append(told)
    return answers


async def insisted(client: Client, subject: str, body: bytes) -> dict[str, object]:
    """Send until there is an answer, which may be a refusal.

    In the moment in which the broker takes a new configuration (some 50 us) it may say that
    nobody responds, to any sensor: then nothing was stored.
    """
    while True:
        try:
            answer: dict[str, object] = await send(client, subject, body)
        except NoRespondersError:
            continue
        return answer


def size(folder: Path) -> int:
    """The bytes of all files below a folder; one may go while it is looked at."""
    found = 0
    for each in folder.rglob("*"):
        try:
            found += each.stat().st_blocks * 512
        except FileNotFoundError:
            continue
    return found
