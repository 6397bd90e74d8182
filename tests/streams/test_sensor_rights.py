"""A sensor reaches its own subject and nothing else, whatever it sends."""

import asyncio
import json

import nats.errors
import pytest
from nats.aio.msg import Msg

from echoic.doors.calls import CALLS
from schemas.values.subjects import inputs_of, partition_of
from streams.errors import LogUnavailable
from streams.jetstream.connection import connected
from streams.topology import SENSOR_MESSAGE_BYTES
from tests.patience import PATIENCE_S
from tests.servers import Broker
from tests.streams.sensors import OWN, arrived, send, sensor

pytestmark = pytest.mark.services

SECRET = ("out.bob.chat", "ev.11.in.ada.control.x", "_INBOX.bob.cam.1")


async def test_its_own_event_reaches_the_log(broker: Broker) -> None:
    """With and without waiting for an acknowledgement, under its agent's partition."""
    async with sensor(broker) as cam:
        acknowledgement = await send(cam, OWN, b"one", ce_id="1")
        await cam.publish(OWN, b"two")
        records = await arrived(broker, 2)

    assert acknowledgement["stream"] == f"IN_{partition_of('ada')}"
    assert [each.body for each in records] == [b"one", b"two"]
    assert {each.subject for each in records} == {
        f"ev.{partition_of('ada')}.in.ada.sensor.cam.motion"
    }
    assert records[0].headers == {"ce-id": "1"}


@pytest.mark.parametrize(
    "subject",
    [
        "in.ada.mic.sound",
        "in.bob.cam.motion",
        "in.ada.cam.feedback",
        "in.ada.cam.control",
        "in.ada.cam.motion.more",
        "in.ada.cam",
        "ev.11.in.ada.sensor.cam.motion",
        "ev.11.out.ada.decision.decided",
        "out.ada.chat",
        "svc.ada.control",
        "$JS.API.STREAM.INFO.LOG",
        "$JS.API.STREAM.NAMES",
        "$JS.API.DIRECT.GET.LOG",
        "$O.BLOBS.C.x",
    ],
)
async def test_it_publishes_nowhere_else(broker: Broker, subject: str) -> None:
    """Neither as another source nor into the log nor to the broker's own services."""
    async with sensor(broker) as cam:
        with pytest.raises((nats.errors.TimeoutError, nats.errors.NoRespondersError)):
            await cam.request(subject, b"{}", timeout=0.3)
        await send(cam, OWN)

        assert len(await arrived(broker, 1)) == 1


async def test_it_calls_no_service(broker: Broker) -> None:
    """Neither one of ours nor those that tell of them, whatever else it was granted."""
    wanted = ["$SRV.PING", "$SRV.INFO.echoic", "$SRV.STATS", "svc._.health"]
    wanted += [f"svc.ada.{each.name}" for each in CALLS]
    heard: list[str] = []

    async def hear(message: Msg) -> None:
        heard.append(message.subject)

    for pattern in ("svc.>", "$SRV.>"):
        await broker.client.subscribe(pattern, cb=hear)
    async with sensor(broker, "ada", "tom", "feedback", "control") as tom:
        calls = (tom.request(each, b"{}", timeout=0.3) for each in wanted)
        found = await asyncio.gather(*calls, return_exceptions=True)
        await send(tom, "in.ada.tom.seen")

    assert {type(each) for each in found} == {nats.errors.TimeoutError}
    assert heard == []


async def test_reserved_types_are_rights_of_their_own(broker: Broker) -> None:
    """Feedback is taken from who was granted it, and control still is not."""
    async with sensor(broker, "ada", "tom", "feedback") as tom:
        assert (await send(tom, "in.ada.tom.feedback"))["seq"] == 1
        with pytest.raises(nats.errors.TimeoutError):
            await tom.request("in.ada.tom.control", b"{}", timeout=0.3)


@pytest.mark.parametrize(
    "reply",
    [
        "ev.11.in.ada.control.muted",
        "ev.11.out.ada.decision.decided",
        "in.bob.cam.motion",
        "in.ada.mic.sound",
        "out.ada.chat",
        "$JS.API.STREAM.DELETE.IN",
    ],
)
async def test_a_reply_subject_writes_nothing(broker: Broker, reply: str) -> None:
    """The broker's acknowledgement goes where the sensor may hear, not into the log."""
    heard: list[str] = []

    async def hear(message: object) -> None:
        heard.append(repr(message))

    await broker.client.subscribe("out.>", cb=hear)
    async with sensor(broker) as cam:
        await cam.publish(OWN, b"forger", reply=reply)
        await cam.flush()
        await send(cam, OWN, b"after")
        records = await arrived(broker, 2)

    assert [each.body for each in records] == [b"forger", b"after"]
    assert await broker.reader.last_sequence("ev.>") == 2
    assert heard == []


@pytest.mark.parametrize(
    "subject",
    ["ev.>", "in.>", "out.>", "out.bob.>", "_INBOX.>", "_INBOX.bob.cam.>", ">"],
)
async def test_it_hears_only_its_agent_and_its_inbox(
    broker: Broker, subject: str
) -> None:
    """What is said to others and what the log holds stays unheard."""
    heard: asyncio.Queue[str] = asyncio.Queue()

    async def hear(message: Msg) -> None:
        await heard.put(message.subject)

    async with sensor(broker) as cam:
        await cam.subscribe(subject, cb=hear)
        await cam.subscribe("out.ada.chat", cb=hear)
        await cam.flush()
        async with asyncio.timeout(PATIENCE_S):
            # A new subscription may miss what is said in its first moment.
            while heard.empty():
                for other in (*SECRET, "out.ada.chat"):
                    await broker.client.publish(other, b"said")
                await broker.client.flush()
                await broker.client.request("$JS.API.INFO", b"")
        await cam.flush()

    assert {heard.get_nowait() for _ in range(heard.qsize())} == {"out.ada.chat"}


@pytest.mark.parametrize(
    "headers",
    [
        {"Nats-Batch-Id": "b", "Nats-Batch-Sequence": "1"},
        {"Nats-TTL": "1s"},
        {"Nats-Rollup": "all"},
        {"Nats-Schedule": "@at 2030-01-01T00:00:00Z", "Nats-Schedule-Target": OWN},
        {"Nats-Expected-Last-Subject-Sequence": "7"},
        {"Nats-Stream-Source": "IN 1 > > x"},
    ],
)
async def test_headers_that_steer_the_broker_are_refused(
    broker: Broker, headers: dict[str, str]
) -> None:
    """No batch is held, nothing expires, nothing is replaced."""
    async with sensor(broker) as cam:
        answer = await cam.request(OWN, b"{}", timeout=PATIENCE_S, headers=headers)

    assert "error" in json.loads(answer.data)


@pytest.mark.parametrize(
    "headers",
    [
        {"Nats-Expected-Stream": f"IN_{partition_of('ada')}"},
        {"Nats-Expected-Last-Sequence": "0"},
        {"Nats-Expected-Last-Subject-Sequence": "0"},
        {"Nats-Expected-Last-Msg-Id": ""},
        {"Nats-Marker-Reason": "MaxAge"},
        {"Nats-Sequence": "99", "Nats-Subject": "ev.0.in.x", "Nats-Last-Sequence": "7"},
        {"Status": "404", "Description": "Message Not Found"},
    ],
)
async def test_headers_that_pass_the_door_change_nothing(
    broker: Broker, headers: dict[str, str]
) -> None:
    """The event stands in the log as sent, its neighbours too, and all can be read."""
    async with sensor(broker) as cam:
        await cam.request(OWN, b"", timeout=PATIENCE_S, headers=headers)
        await send(cam, OWN, b"after")
        followed = await arrived(broker, 2)

    paged = await broker.reader.page("ev.>", 0, 10)
    assert [each.body for each in paged] == [b"", b"after"]
    assert list(paged) == followed
    assert await broker.reader.record(1) == paged[0]


async def test_nobody_swallows_an_honest_event_by_its_id(broker: Broker) -> None:
    """Honest sensors send no message id, so none can be taken before them."""
    async with sensor(broker) as cam, sensor(broker, "bob", "cam") as thief:
        for _ in range(3):
            await send(thief, "in.bob.cam.motion", b"theft", Nats_Msg_Id="s:ada.cam.1")
        await send(cam, OWN, b"honest", ce_id="1")
        mine = f"ev.{partition_of('ada')}.in.ada.>"

        assert [each.body for each in await arrived(broker, 1, mine)] == [b"honest"]


async def test_a_message_that_would_block_the_others_is_refused(broker: Broker) -> None:
    """Near the broker's limit of headers, sourcing would stop for everybody."""
    async with sensor(broker) as cam:
        large = await send(cam, OWN, b"", filler="x" * (SENSOR_MESSAGE_BYTES + 100))
        fits = await send(cam, OWN, b"", filler="x" * (SENSOR_MESSAGE_BYTES - 100))
        longest = "in.ada.cam." + "t" * 3900
        await send(cam, longest, b"", filler="x" * (SENSOR_MESSAGE_BYTES - 100))
        await send(cam, OWN, b"after")
        records = await arrived(broker, 3)

    assert large["error"]["err_code"] == 10054
    assert "seq" in fits
    assert records[-1].body == b"after"


async def test_a_subject_that_is_no_text_stops_nobody(broker: Broker) -> None:
    """Bytes that are not UTF-8 are read with a replacement, live and by page."""
    credentials = await broker.server.add_sensor("ada", "cam")
    host, port = credentials.url.removeprefix("nats://").split(":")
    _, writer = await asyncio.open_connection(host, int(port))
    login = {"user": credentials.user, "pass": credentials.password, "verbose": False}
    writer.write(b"CONNECT " + json.dumps(login).encode() + b"\r\n")
    writer.write(b"PUB in.ada.cam.\xff\xfe 3\r\nbad\r\n")
    writer.write(b"PUB in.ada.cam.good 4\r\ngood\r\n")
    await writer.drain()

    followed = await arrived(broker, 2)
    writer.close()
    await writer.wait_closed()

    assert [each.body for each in followed] == [b"bad", b"good"]
    assert followed == list(await broker.reader.page("ev.>", 0, 10))
    assert followed[0].subject.endswith(".sensor.cam.\ufffd\ufffd")
    assert await broker.reader.record(1) == followed[0]


@pytest.mark.parametrize(
    ("sent", "stored"),
    [
        ("in.x", "ev.{p}.in._.sensor.x"),
        ("in.x.y", "ev.{p}.in._.sensor.x.y"),
        ("in.x.b.c", "ev.{p}.in.x.sensor.b.c"),
        ("in.x.b.c.d", "ev.{p}.in._.sensor.x.b.c.d"),
        ("in.x.b.c.d.e.f", "ev.{p}.in._.sensor.x.b.c.d.e.f"),
        ("in.a$b.c.d", "ev.{q}.in.a$b.sensor.c.d"),
        ("in._.c.d", "ev.{r}.in._.sensor.c.d"),
    ],
)
async def test_every_subject_arrives_somewhere(
    broker: Broker, sent: str, stored: str
) -> None:
    """A subject outside the grammar stands under `_`, none is lost."""
    await send(broker.client, sent)
    places = {"p": partition_of("x"), "q": partition_of("a$b"), "r": partition_of("_")}

    (record,) = await arrived(broker, 1)

    assert record.subject == stored.format(**places)
    assert await broker.reader.last_sequence(inputs_of("*")) == 1


async def test_strangers_are_not_let_in(broker: Broker) -> None:
    """A sensor's password opens no other user."""
    cam = await broker.server.add_sensor("ada", "cam")
    posing = type(cam)(cam.url, "echoic", cam.password)

    with pytest.raises(LogUnavailable):
        async with connected(posing):
            pass
