"""What a sensor's account must not do, through each door of the broker: NATS, WebSocket, MQTT.

The tables are of what others have: their words, the log, checkpoints, blobs, keys, the
broker's own interface. A right is missing only if nothing at all comes of using it.
"""

import asyncio
import json
from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, suppress
from typing import Protocol

import nats
import nats.errors
import pytest
from nats.aio.client import Client
from nats.aio.msg import Msg

from streams.jetstream.accounts import SENSOR_LIMITS, Credentials, Listeners
from streams.jetstream.segments import roll_over
from tests.devices import end
from tests.patience import PATIENCE_S
from tests.servers import Broker
from tests.streams.broker.test_listeners import Device
from tests.streams.sensors import arrived

pytestmark = [
    pytest.mark.services,
    # Of nats-py, which passes it to aiohttp.
    pytest.mark.filterwarnings("ignore:parameter 'timeout' of type:DeprecationWarning"),
]

DOORS = ("nats", "websocket", "mqtt")
FORBIDDEN = b"forbidden"

NOT_TO_PUBLISH = (
    # As another source, another agent, a person, the companion itself.
    "in.ada.mic.sound",
    "in.bob.cam.motion",
    "in.ada.user.message",
    "in.ada.agent.said",
    "in._.cam.motion",
    # With rights that were not granted.
    "in.ada.cam.feedback",
    "in.ada.cam.control",
    # Past the letter box.
    "in.ada.cam",
    "in.ada.cam.motion.more",
    "box.0.ada.cam.motion",
    "ip.0.ada.cam.motion",
    "ev.11.in.ada.sensor.cam.motion",
    "ev.11.out.ada.decision.decided",
    # As the companion speaks.
    "out.ada.chat",
    "out.bob.chat",
    "svc.ada.control",
    "svc.ada.feedback",
    "_INBOX.bob.cam.1",
    # The broker's own interface: streams, consumers, messages, KV and objects.
    "$JS.API.INFO",
    "$JS.API.STREAM.NAMES",
    "$JS.API.STREAM.CREATE.MINE",
    "$JS.API.STREAM.UPDATE.LOG",
    "$JS.API.STREAM.DELETE.LOG",
    "$JS.API.STREAM.PURGE.LOG",
    "$JS.API.STREAM.MSG.GET.LOG",
    "$JS.API.STREAM.MSG.DELETE.LOG",
    "$JS.API.DIRECT.GET.LOG",
    "$JS.API.CONSUMER.CREATE.LOG.mine",
    "$JS.API.CONSUMER.DURABLE.CREATE.LOG.mine",
    "$JS.API.CONSUMER.MSG.NEXT.LOG.effects",
    "$JS.ACK.LOG.effects.1.1.1.1.1",
    # The segments of a log, closed and open, and the list of them.
    *(
        f"$JS.API.{right}.{stream}"
        for stream in ("LOG_1", "LOG_2", "KV_SEGMENTS")
        for right in (
            "STREAM.UPDATE",
            "STREAM.DELETE",
            "STREAM.PURGE",
            "STREAM.MSG.GET",
            "STREAM.MSG.DELETE",
            "STREAM.SNAPSHOT",
            "DIRECT.GET",
            "CONSUMER.DURABLE.CREATE",
        )
    ),
    "closed.LOG",
    "$KV.SEGMENTS.log",
    "_taken.IN_11.LOG_2",
    "$KV.KEYS.ada",
    "$KV.OWNERS.0",
    "$O.BLOBS.C.x",
    "$O.BLOBS.M.x",
    "$SYS.REQ.SERVER.PING",
    "$SYS.REQ.ACCOUNT.CORE.CONNZ",
    "$SRV.PING",
)
NOT_TO_HEAR = (
    ">",
    "*",
    "*.>",
    "in.>",
    "in.bob.>",
    "in.ada.mic.*",
    "ev.>",
    "ev.*.out.>",
    "out.>",
    "out.*.chat",
    "out.bob.>",
    "svc.>",
    "_INBOX.>",
    "_INBOX.bob.>",
    "_INBOX.ada.mic.>",
    "$JS.>",
    "$JS.EVENT.ADVISORY.>",
    "$KV.>",
    "$O.>",
    "$SYS.>",
    "$MQTT.>",
)
SAID = (
    "in.bob.cam.motion",
    "in.ada.mic.sound",
    "ev.11.out.ada.decision.decided",
    "out.bob.chat",
    "svc.ada.state",
    "_INBOX.bob.cam.1",
    "_INBOX.ada.mic.1",
    "$KV.KEYS.ada",
    "word",
)
"""What goes on in CORE while a sensor listens."""


class Door(Protocol):
    """A sensor's connection, whichever protocol it speaks."""

    async def publish(self, subject: str, body: bytes) -> None:
        """Publish, if the broker lets it."""

    async def listen(self, subject: str) -> None:
        """Subscribe, if the broker lets it."""

    async def heard(self) -> Sequence[bytes]:
        """What came, up to the word that everybody may hear."""


class Nats:
    """By the protocol of NATS, over TCP or a WebSocket."""

    def __init__(self, client: Client) -> None:
        self._client = client
        self._queue: asyncio.Queue[bytes] = asyncio.Queue()

    async def publish(self, subject: str, body: bytes) -> None:
        """With a reply, as a request has one."""
        await self._client.publish(subject, body, reply=f"_INBOX.ada.cam.{len(body)}")
        await self._client.flush()

    async def listen(self, subject: str) -> None:
        """With a queue group, too, which has permissions of its own."""

        async def hear(message: Msg) -> None:
            await self._queue.put(message.data)

        await self._client.subscribe(subject, cb=hear)
        with suppress(nats.errors.Error):
            await self._client.subscribe(subject, queue="q", cb=hear)
        await self._client.flush()

    async def heard(self) -> Sequence[bytes]:
        """All until the word for everybody."""
        return await _until_free(self._queue.get)


class Mqtt:
    """By MQTT, with topics for subjects."""

    def __init__(self, device: Device) -> None:
        self._device = device

    async def publish(self, subject: str, body: bytes) -> None:
        """Once plainly, and once to be kept for who comes later."""
        topic = subject.replace(".", "/")
        await self._device.send(topic, body)
        self._device.client.publish(topic, body, qos=0, retain=True)

    async def listen(self, subject: str) -> None:
        """With MQTT's wildcards."""
        topic = subject.replace(".", "/").replace("*", "+").replace(">", "#")
        await self._device.subscribe(topic)

    async def heard(self) -> Sequence[bytes]:
        """All until the word for everybody."""

        async def get() -> bytes:
            return (await asyncio.to_thread(self._device.heard.get, True, 20))[1]

        return await _until_free(get)


async def _until_free(get: "AsyncGet") -> Sequence[bytes]:
    found = []
    async with asyncio.timeout(PATIENCE_S):
        while (body := await get()) != b"free":
            found.append(body)
    return found


class AsyncGet(Protocol):
    """Gets the next body."""

    async def __call__(self) -> bytes:
        """Wait for it."""


@pytest.fixture
async def doors(
    listening: Broker, listeners: Listeners
) -> AsyncIterator["dict[str, Door]"]:
    """The sensor `ada.cam`, connected by each door."""
    access = await listening.server.add_sensor("ada", "cam")
    await listening.server.add_sensor("ada", "mic")
    async with AsyncExitStack() as stack:
        plain = await connected_to(access.url, access)
        stack.push_async_callback(plain.close)
        page = await connected_to(f"ws://{listeners.websocket}", access)
        stack.push_async_callback(page.close)
        device = await asyncio.to_thread(Device, listeners, access, access.password)
        stack.callback(end, device.client)
        assert device.is_in
        yield {"nats": Nats(plain), "websocket": Nats(page), "mqtt": Mqtt(device)}


async def connected_to(url: str, access: Credentials) -> Client:
    """A plain client, as anybody has."""

    async def pass_over(_: Exception) -> None:
        """The broker says of each refused right that it is refused."""

    return await nats.connect(
        url,
        user=access.user,
        password=access.password,
        inbox_prefix=access.inbox_prefix.encode(),
        error_cb=pass_over,
    )


@pytest.mark.parametrize("name", DOORS)
async def test_what_it_must_not_publish_comes_nowhere(
    listening: Broker, doors: "dict[str, Door]", name: str
) -> None:
    """Not to whoever listens to everything, and not into any stream."""
    heard: list[tuple[str, bytes]] = []

    async def hear(message: Msg) -> None:
        heard.append((message.subject, message.data))

    # `LOG` is closed then, and `LOG_2` has the partitions of ada.
    await roll_over(listening.client, 2)
    await listening.client.subscribe(">", cb=hear)
    await listening.client.flush()
    before = await messages_of(listening)
    for subject in NOT_TO_PUBLISH:
        await doors[name].publish(subject, FORBIDDEN)
    await doors[name].publish("in.ada.cam.motion", b"mine")
    stored = [each.body for each in await arrived(listening, 1, "ev.*.in.*.sensor.>")]
    await listening.client.flush()

    assert [subject for subject, body in heard if body == FORBIDDEN] == []
    assert set(stored) == {b"mine"}
    after = await messages_of(listening)
    changed = {each for each in after if after[each] != before.get(each)}
    assert {each for each in changed if not each.startswith("IN_")} == {"LOG_2"}


@pytest.mark.parametrize("name", DOORS)
async def test_what_it_must_not_hear_stays_unheard(
    listening: Broker, doors: "dict[str, Door]", name: str
) -> None:
    """Whatever it subscribes to; what is said to its own agent it hears."""
    door = doors[name]
    for subject in NOT_TO_HEAR:
        await door.listen(subject)
    await door.listen("out.ada.free")
    for subject in SAID:
        await listening.client.publish(subject, FORBIDDEN)
    await listening.client.flush()
    # An event of another, too, with all that the broker tells of it.
    other = await listening.server.add_sensor("bob", "cam")
    bob = await connected_to(other.url, other)
    await bob.request("in.bob.cam.motion", FORBIDDEN, timeout=PATIENCE_S)
    await bob.close()
    await listening.client.publish("out.ada.free", b"free")
    await listening.client.flush()

    assert await door.heard() == []


@pytest.mark.parametrize("name", DOORS)
async def test_what_is_too_large_ends_its_own_connection(
    listening: Broker, doors: "dict[str, Door]", name: str
) -> None:
    """Or is refused; the others' go on."""
    with suppress(nats.errors.Error, RuntimeError, ValueError, TimeoutError):
        large = b"x" * (SENSOR_LIMITS["max_payload"] + 1)
        await asyncio.wait_for(
            doors[name].publish("in.ada.cam.motion", large), PATIENCE_S
        )
    other = next(each for each in DOORS if each != name)
    await doors[other].publish("in.ada.cam.motion", b"small")

    assert {each.body for each in await arrived(listening, 1)} == {b"small"}


@pytest.mark.parametrize(
    "topic", ["out/bob/chat", "in/bob/cam/motion", "ev/11/in/ada/control/muted"]
)
async def test_a_last_will_has_no_more_rights(
    listening: Broker, listeners: Listeners, topic: str
) -> None:
    """What MQTT publishes for a client that is gone is published with its rights."""
    heard: list[bytes] = []

    async def hear(message: Msg) -> None:
        heard.append(message.data)

    await listening.client.subscribe(">", cb=hear)
    access = await listening.server.add_sensor("ada", "cam")
    host, _, port = (listeners.mqtt or "").rpartition(":")
    reader, writer = await asyncio.open_connection(host, int(port))
    writer.write(with_will(access, topic, FORBIDDEN))
    async with asyncio.timeout(PATIENCE_S):
        accepted = await reader.read(4)
    # Gone without a word, so that the broker publishes the will.
    writer.transport.abort()
    client = await connected_to(access.url, access)
    await client.request("in.ada.cam.motion", b"after", timeout=PATIENCE_S)
    await client.close()
    await arrived(listening, 1)

    assert accepted[:1] in (b"\x20", b"")
    assert FORBIDDEN not in heard


def with_will(access: Credentials, topic: str, body: bytes) -> bytes:
    """A packet by which an MQTT client connects and leaves a will."""

    def counted(data: bytes) -> bytes:
        return len(data).to_bytes(2, "big") + data

    # Clean session, a will, a user and a password.
    head = counted(b"MQTT") + b"\x04" + bytes([0b1100_0110]) + b"\x00\x3c"
    words = (b"will", topic.encode(), body, access.user.encode())
    payload = b"".join(map(counted, (*words, access.password.encode())))
    size, rest = b"", len(head + payload)
    while rest or not size:
        rest, low = rest >> 7, rest & 127
        size += bytes([low | (128 if rest else 0)])
    return b"\x10" + size + head + payload


async def messages_of(listening: Broker) -> "dict[str, int]":
    """How many messages each stream of CORE has had."""
    answer = await listening.client.request(
        "$JS.API.STREAM.LIST", b"{}", timeout=PATIENCE_S
    )
    streams = json.loads(answer.data)["streams"]
    return {each["config"]["name"]: each["state"]["last_seq"] for each in streams}
