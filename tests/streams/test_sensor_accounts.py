"""Each sensor has an account: it reaches no other sensor, takes no more than its part, and
comes and goes while the others stay."""

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import AsyncExitStack

import pytest
from nats.aio.msg import Msg

from streams.broker.enrolment import remove_sensor
from streams.errors import LogUnavailable
from streams.jetstream.accounts import SENSOR_LIMITS
from streams.jetstream.connection import connected
from tests.patience import PATIENCE_S
from tests.servers import Broker
from tests.streams.sensors import OWN, arrived, send, sensor

pytestmark = pytest.mark.services


@pytest.mark.parametrize(
    "reply", ["out.ada.say", "in.ada.mic.sound", "_INBOX.ada.mic.x", "out.bob.say"]
)
async def test_a_reply_subject_reaches_no_other_sensor(
    broker: Broker, reply: str
) -> None:
    """The broker's acknowledgement comes to whoever asked for it and to nobody else."""
    heard: list[str] = []

    async def hear(message: Msg) -> None:
        heard.append(message.subject)

    async with (
        sensor(broker) as cam,
        sensor(broker, "ada", "mic") as mic,
        sensor(broker, "bob", "cam") as bob,
    ):
        for client, subject in ((mic, "out.ada.>"), (mic, "_INBOX.ada.mic.>")):
            await client.subscribe(subject, cb=hear)
        await bob.subscribe("out.bob.>", cb=hear)
        await mic.flush()
        await bob.flush()
        await cam.publish(OWN, b"forger", reply=reply)
        await send(cam, OWN, b"after")
        # What the forger could reach has arrived before an answer to what follows it.
        await send(mic, "in.ada.mic.sound", b"mine")
        await bob.flush()
        records = await arrived(broker, 3)

    assert [each.body for each in records] == [b"forger", b"after", b"mine"]
    assert [each for each in heard if not each.startswith("_INBOX.ada.mic.")] == []
    assert reply not in heard


async def test_two_sensors_of_an_agent_hear_what_it_says(broker: Broker) -> None:
    """Each in its own account, and neither what other agents say."""
    async with sensor(broker) as cam, sensor(broker, "ada", "mic") as mic:
        heard = [
            await each.subscribe(subject)
            for each in (cam, mic)
            for subject in ("out.ada.>", "out.>")
        ]
        await cam.flush()
        await mic.flush()
        await broker.client.publish("out.bob.say", b"to bob")
        await broker.client.publish("out.ada.say", b"to ada")
        await broker.client.flush()

        assert (await heard[0].next_msg(PATIENCE_S)).data == b"to ada"
        assert (await heard[2].next_msg(PATIENCE_S)).data == b"to ada"
        assert heard[1].pending_msgs == heard[3].pending_msgs == 0


async def test_its_connections_are_limited(broker: Broker) -> None:
    """One sensor cannot take all of the broker's, and the others go on."""
    credentials = await broker.server.add_sensor("ada", "cam")
    async with AsyncExitStack() as stack:
        for _ in range(SENSOR_LIMITS["max_connections"]):
            await stack.enter_async_context(connected(credentials))
        with pytest.raises(LogUnavailable):
            await stack.enter_async_context(connected(credentials))
        async with sensor(broker, "ada", "mic") as mic:
            assert "seq" in await send(mic, "in.ada.mic.sound")


async def test_its_subscriptions_are_limited(broker: Broker) -> None:
    """One more and the broker says so, at which the client gives up."""
    ended = asyncio.Event()
    credentials = await broker.server.add_sensor("ada", "cam")
    async with connected(credentials) as cam:
        cam._closed_cb = _setting(ended)
        for number in range(SENSOR_LIMITS["max_subscriptions"]):
            await cam.subscribe(f"out.ada.c{number}")
        await cam.flush()
        assert cam.is_connected
        await cam.subscribe("out.ada.one_more")
        async with asyncio.timeout(PATIENCE_S):
            await ended.wait()

        assert "maximum subscriptions exceeded" in str(cam.last_error)


async def test_a_sensor_may_come_while_others_are_connected(broker: Broker) -> None:
    """Whoever is there stays, and who is new is heard at once, however many come."""
    async with sensor(broker) as cam:
        for number in range(5):
            async with sensor(broker, "eve", f"s{number}") as new:
                assert "seq" in await send(new, f"in.eve.s{number}.seen")
            assert "seq" in await send(cam, OWN)

        assert cam.stats["reconnects"] == 0
    assert len(await arrived(broker, 10)) == 10


async def test_a_revoked_sensor_is_put_out(broker: Broker) -> None:
    """Its connections end and its password opens nothing; the others stay."""
    closed = asyncio.Event()
    credentials = await broker.server.add_sensor("ada", "cam")
    async with sensor(broker, "ada", "mic") as mic, connected(credentials) as cam:
        cam._disconnected_cb = _setting(closed)
        await remove_sensor(broker.server.folder, "ada", "cam")
        async with asyncio.timeout(PATIENCE_S):
            await closed.wait()

        with pytest.raises(LogUnavailable):
            async with connected(credentials):
                pass
        assert "seq" in await send(mic, "in.ada.mic.sound")
        assert mic.stats["reconnects"] == 0
    with pytest.raises(KeyError, match=r"ada\.mic"):
        await remove_sensor(broker.server.folder, "ada", "cam")
    renewed = await broker.server.add_sensor("ada", "cam")
    assert renewed.password != credentials.password


def _setting(event: asyncio.Event) -> Callable[[], Awaitable[None]]:
    async def put_out() -> None:
        event.set()

    return put_out
