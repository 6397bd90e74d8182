"""The broker's other doors, MQTT and WebSocket, by real clients: the same rights, no more."""

import asyncio
import json
from collections.abc import Iterator
from contextlib import AsyncExitStack, contextmanager
from pathlib import Path
from queue import Empty, Queue
from typing import Any

import nats
import paho.mqtt.client as mqtt
import pytest
from paho.mqtt.enums import CallbackAPIVersion

from schemas.codec.decode import read_input
from schemas.messages.sensing import Sensed
from schemas.values.record import Record
from streams.broker.server import embedded_server
from streams.errors import PortTaken, ServerFailed
from streams.jetstream.accounts import Credentials, Listeners
from tests.devices import end
from tests.patience import PATIENCE_S
from tests.servers import Broker
from tests.streams.sensors import MB, arrived, limits, watching

pytestmark = pytest.mark.services


@contextmanager
def device(
    listeners: Listeners, access: Credentials, password: str = ""
) -> Iterator["Device"]:
    """An MQTT client with a sensor's credentials."""
    made = Device(listeners, access, password or access.password)
    try:
        yield made
    finally:
        end(made.client)


class Device:
    """A client of Eclipse Paho's, as devices and hubs are."""

    def __init__(
        self, listeners: Listeners, access: Credentials, password: str
    ) -> None:
        """Connect, and wait for the broker's word."""
        self.heard: Queue[tuple[str, bytes]] = Queue()
        self.subscribed: Queue[bool] = Queue()
        self.answers: Queue[bool] = Queue()
        self.client = mqtt.Client(CallbackAPIVersion.VERSION2, protocol=mqtt.MQTTv311)
        self.client.username_pw_set(access.user, password)
        self.client.on_connect = lambda *told: self.answers.put(not told[3].is_failure)
        self.client.on_subscribe = lambda *told: self.subscribed.put(
            not told[3][0].is_failure
        )
        self.client.on_message = lambda *told: self.heard.put(
            (told[2].topic, told[2].payload)
        )
        host, _, port = (listeners.mqtt or "").rpartition(":")
        self.client.connect(host, int(port))
        self.client.loop_start()
        self.is_in = self.answers.get(timeout=PATIENCE_S)

    async def send(self, topic: str, body: bytes) -> None:
        """Publish, and wait for the acknowledgement."""
        sent = self.client.publish(topic, body, qos=1)
        await asyncio.to_thread(sent.wait_for_publish, PATIENCE_S)

    async def subscribe(self, topic: str) -> bool:
        """Subscribe, and say whether that is allowed."""
        self.client.subscribe(topic, 1)
        return await asyncio.to_thread(self.subscribed.get, True, 10)


async def test_a_device_speaks_mqtt(listening: Broker, listeners: Listeners) -> None:
    """Its JSON and its bare text become events; what goes out to its agent reaches it."""
    access = await listening.server.add_sensor("ada", "oven")
    with device(listeners, access) as oven:
        assert oven.is_in
        await oven.send(
            "in/ada/oven/heat", json.dumps({"text": "200 degrees"}).encode()
        )
        await oven.send("in/ada/oven/done", b"ready")
        assert await oven.subscribe("out/ada/#")
        await listening.client.publish("out.ada.talk", b"take it out")
        topic, body = await asyncio.to_thread(oven.heard.get, True, 10)

    told = [event(each) for each in await arrived(listening, 2)]
    assert [(each.type, each.text) for each in told] == [
        ("heat", "200 degrees"),
        ("done", "ready"),
    ]
    assert (topic, body) == ("out/ada/talk", b"take it out")


async def test_a_device_has_no_further_rights(
    listening: Broker, listeners: Listeners
) -> None:
    """It can neither speak as another, nor hear others, nor touch the log."""
    access = await listening.server.add_sensor("ada", "oven")
    await listening.server.add_sensor("ben", "oven")
    with device(listeners, access) as oven:
        for topic in (
            "in/ben/oven/heat",
            "in/ada/other/heat",
            "in/ada/oven/feedback",
            "in/ada/oven/control",
            "ev/0/in/ada/sensor/oven/heat",
            "box/0/ada/oven/heat",
            "$JS/API/STREAM/DELETE/LOG",
        ):
            await oven.send(topic, b"x")
        refused = [
            await oven.subscribe(topic)
            for topic in ("#", "out/#", "out/ben/#", "in/#", "ev/#", "$SYS/#", "svc/#")
        ]
        await oven.send("in/ada/oven/heat", b"mine")
        with pytest.raises(Empty):
            oven.heard.get(timeout=0.2)

    assert refused == [False] * 7
    assert [event(each).text for each in await arrived(listening, 1)] == ["mine"]
    assert await listening.reader.last_sequence("ev.>") == 1


async def test_a_hub_has_topics_of_its_own_and_no_other_rights(
    listening: Broker, listeners: Listeners
) -> None:
    """What it is told of devices stays within its account, and reaches no log."""
    access = await listening.server.add_sensor("ada", "home", ("homeassistant",))
    oven = await listening.server.add_sensor("ada", "oven")
    other = await listening.server.add_sensor("ben", "home", ("homeassistant",))
    topics = ("homeassistant/device/x/config", "echoic/ada/said")
    with (
        device(listeners, access) as hub,
        device(listeners, oven) as plain,
        device(listeners, other) as neighbour,
    ):
        assert [await hub.subscribe(each) for each in ("homeassistant/#", topics[1])]
        assert await neighbour.subscribe("homeassistant/#")
        refused = [
            await hub.subscribe(each)
            for each in ("#", "echoic/#", "echoic/ben/#", "out/ben/#", "ev/#")
        ]
        refused += [
            await plain.subscribe(each) for each in ("homeassistant/#", topics[1])
        ]
        for topic in (*topics, "echoic/ben/said", "homeassistant/device/y/config"):
            await plain.send(topic, b"forged")
        for topic in ("echoic/ben/said", "in/ada/home/control", "in/ben/home/x"):
            await hub.send(topic, b"forged")
        for topic in topics:
            await hub.send(topic, b"told")
        heard = [await asyncio.to_thread(hub.heard.get, True, 10) for _ in topics]
        await hub.send("in/ada/home/doorbell", b"it rings")
        for each in (hub, neighbour):
            with pytest.raises(Empty):
                each.heard.get(timeout=0.2)

    assert refused == [False] * 7
    assert sorted(heard) == sorted((topic, b"told") for topic in topics)
    assert [event(each).text for each in await arrived(listening, 1)] == ["it rings"]
    assert await listening.reader.last_sequence("ev.>") == 1


async def test_a_wrong_password_is_refused(
    listening: Broker, listeners: Listeners
) -> None:
    """The broker says so before anything else."""
    access = await listening.server.add_sensor("ada", "oven")
    with device(listeners, access, password="wrong") as oven:
        assert not oven.is_in


async def test_a_device_that_keeps_sessions_fills_no_more_than_its_own(
    listening: Broker, listeners: Listeners
) -> None:
    """What MQTT keeps for a sensor has a limit; the log takes events all the same."""
    access = await listening.server.add_sensor("ada", "oven")
    other = await listening.server.add_sensor("ada", "door")
    with device(listeners, access) as greedy, device(listeners, other) as door:
        for n in range(40):
            sent = greedy.client.publish(
                f"in/ada/oven/t{n}", b"x" * 50_000, 1, retain=True
            )
            await asyncio.to_thread(sent.wait_for_publish, PATIENCE_S)
        await door.send("in/ada/door/open", b"open")
        await arrived(listening, 1, "ev.*.in.ada.sensor.door.>")


async def test_a_device_over_its_day_is_not_stored_and_others_are(
    listening: Broker, listeners: Listeners
) -> None:
    """MQTT cannot refuse: it is acknowledged, and stays connected; it is named as refused."""
    access = await listening.server.add_sensor("ada", "oven")
    other = await listening.server.add_sensor("ada", "door")
    async with AsyncExitStack() as stack:
        watch = await watching(stack, listening, limits(day=MB))
        greedy = stack.enter_context(device(listeners, access))
        door = stack.enter_context(device(listeners, other))
        for n in range(25):
            await greedy.send(f"in/ada/oven/t{n}", b"x" * 50_000)
        await arrived(listening, 25)
        await watch.look()

        await greedy.send("in/ada/oven/over", b"over")
        await door.send("in/ada/door/open", b"open")
        told = [each.subject for each in await arrived(listening, 26)]
        assert await greedy.subscribe("out/ada/#")

    assert watch.standing.refused == {"ada.oven": "day"}
    assert told[-1].endswith(".sensor.door.open")
    assert await listening.reader.last_sequence("ev.>") == 26


# Of nats-py, which passes it to aiohttp.
@pytest.mark.filterwarnings("ignore:parameter 'timeout' of type:DeprecationWarning")
async def test_a_page_speaks_by_websocket(
    listening: Broker, listeners: Listeners
) -> None:
    """The same credentials, the same subjects, over a WebSocket."""
    access = await listening.server.add_sensor("ada", "page")
    client = await nats.connect(
        f"ws://{listeners.websocket}",
        user=access.user,
        password=access.password,
        inbox_prefix=access.inbox_prefix.encode(),
    )
    try:
        reply = await client.request(
            "in.ada.page.click", b"the button", timeout=PATIENCE_S
        )
    finally:
        await client.close()

    assert json.loads(reply.data)["seq"] == 1
    assert [event(each).text for each in await arrived(listening, 1)] == ["the button"]


async def test_the_doors_stay_after_a_restart(
    tmp_path: Path, listeners: Listeners
) -> None:
    """A device comes back with what it had; sensors are added while the doors are open."""
    async with embedded_server(tmp_path / "nats", listeners=listeners) as server:
        access = await server.add_sensor("ada", "oven")
        await server.kill()
        await server.restart()
        with device(listeners, access) as oven:
            assert oven.is_in


async def test_a_taken_address_is_named(tmp_path: Path, listeners: Listeners) -> None:
    """The error shows which."""
    async with embedded_server(tmp_path / "one", listeners=listeners):
        with pytest.raises(
            ServerFailed, match=f"{listeners.mqtt}|{listeners.websocket}"
        ):
            async with embedded_server(tmp_path / "two", listeners=listeners):
                raise AssertionError


def event(record: Record) -> Any:
    """The event of a record."""
    message = read_input(record).message
    assert isinstance(message, Sensed)
    return message


@pytest.mark.parametrize("setting", ["mqtt", "websocket"])
async def test_a_listeners_port_that_is_taken_is_named(
    setting: str, tmp_path: Path
) -> None:
    """With its setting; only the broker's own port is replaced by another."""
    other = await asyncio.start_server(lambda _, __: None, "127.0.0.1", 0)
    address = f"127.0.0.1:{other.sockets[0].getsockname()[1]}"
    wanted = Listeners(address) if setting == "mqtt" else Listeners(None, address)
    folder = tmp_path / "nats"
    async with other:
        with pytest.raises(
            PortTaken, match=f"^nats.{setting} is {address}, and another"
        ):
            async with embedded_server(folder, listeners=wanted):
                raise AssertionError("it started")

    async with embedded_server(folder, listeners=wanted) as server:
        assert server.process_id is not None
