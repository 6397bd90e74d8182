"""What a person told by any door is in no file of the data folder once they are forgotten."""

import asyncio
import base64
import json
import shutil
import time
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager
from typing import Any
from uuid import uuid4

import nats
import orjson
import pytest

pytest.importorskip("fastapi", reason="the extra `http` is not installed")

import httpx
import paho.mqtt.client as mqtt
import psycopg
from paho.mqtt.enums import CallbackAPIVersion

from echoic.client.connection import Connection, connect
from echoic.config.load import load
from schemas.values.subjects import partition_of
from streams.jetstream.key_bucket import Bucket
from streams.jetstream.segments import listed
from tests.devices import end
from tests.e2e.searching import in_log, in_streams, in_tables, on_disk
from tests.echoic.cli.conftest import Program
from tests.echoic.cli.http.conftest import ALL, address_of
from tests.echoic.cli.test_instances import running
from tests.model_server import ModelServer, model_server
from tests.patience import PATIENCE_S
from tests.ports import free_port

pytestmark = [
    pytest.mark.services,
    pytest.mark.slow,
    pytest.mark.model,
    pytest.mark.timeout(600),
    # Of nats-py, which passes it to aiohttp.
    pytest.mark.filterwarnings("ignore:parameter 'timeout' of type:DeprecationWarning"),
]

WORD = "Xylocarp"
_WAYS = "http batch1 batch2 cloud comment mqtt bare websocket nats feedback model"
WAYS = _WAYS.split()
"""What follows that word, by the way it went; `bare` names no person."""
FORGOTTEN = (("desk", "ana"), ("desk", "unknown"), ("hall", "ana"))
KEPT = "Quillwort"
"""What somebody said who is not forgotten."""
OF_OTHERS = ("key.hall.unknown",)
"""Whose keys stay, of those that words are under."""
RETAINED = "Zugzwang"
AGENTS = ("desk", "hall")

Access = Mapping[str, str]


def test_no_file_holds_what_a_forgotten_person_said(echoic: Program) -> None:
    """By every door, into a log of four streams whose partitions two processes share.

    Before, each word is found, and so is each key; replays are identical before and after.
    """
    ports = {each: free_port() for each in ("mqtt", "websocket")}
    with model_server() as model, running(echoic, **variables(model, ports)):
        for agent in AGENTS:
            told(echoic, agent, ports)
        echoic.here("pub", KEPT, "--agent", "hall", "--source", "door")
        asyncio.run(is_everywhere(echoic))
        assert replayed(echoic)["sealed"] == 0
        keys = asyncio.run(keys_of(echoic))
        theirs = {each: keys[each] for each in keys if each not in OF_OTHERS}
        assert all(on_disk(echoic.data, each) for each in keys.values())
        for agent, person in FORGOTTEN:
            ran = echoic.here("forget", person, "--agent", agent, "--json")
            assert (ran.code, ran.json["is_wiped"]) == (0, True), ran.err
            assert len(ran.json["keys"]) == 1
        # At once, with everything still running.
        for key in theirs.values():
            assert not on_disk(echoic.data, key)
            assert not on_disk(echoic.data, base64.b64decode(key))
        assert not on_disk(echoic.data, WORD)
        asyncio.run(is_nowhere(echoic))
        after = replayed(echoic)
        assert after["sealed"] + after["identical"] == after["total"]
    assert not on_disk(echoic.data, WORD)
    # What a device asked the broker to retain is for whoever keeps it to delete.
    kept = on_disk(echoic.data, RETAINED)
    assert kept
    assert {each.parts[-5] for each in kept} == {"SENSOR.desk.oven"}
    shutil.rmtree(echoic.data / "nats/jetstream/jetstream/SENSOR.desk.oven")
    assert not on_disk(echoic.data, RETAINED)


def variables(model: ModelServer, ports: Mapping[str, int]) -> dict[str, str]:
    """An instance with everything that writes."""
    answer = {"response": f"I see, {WORD}-model.", "predicted_success": 0.9}
    model.text = json.dumps({**answer, "confidence": 0.6})
    return {
        "ECHOIC_PRIVACY_SEAL": "on",
        "ECHOIC_LOG_STREAMS": "4",
        "ECHOIC_WORKER_PROCESSES": "2",
        "ECHOIC_NATS_MQTT": f"127.0.0.1:{ports['mqtt']}",
        "ECHOIC_NATS_WEBSOCKET": f"127.0.0.1:{ports['websocket']}",
        "ECHOIC_MODEL_NAME": "openai/double",
        "ECHOIC_MODEL_API_BASE": model.base,
        "ECHOIC_MODEL_API_KEY": "none",
        # The model answers however slow the machine is.
        "ECHOIC_MODEL_DEADLINE_S": "100",
        "ECHOIC_TTL_S": "200",
        # Nobody collects them, so they are in a file.
        "OTEL_TRACES_EXPORTER": "otlp",
        "OTEL_EXPORTER_OTLP_ENDPOINT": f"http://127.0.0.1:{free_port()}",
        "ECHOIC_TRACE_CONTENT": "on",
    }


def told(program: Program, agent: str, ports: Mapping[str, int]) -> None:
    """Tell an agent a word by every way there is."""
    access = {
        each: account(program, agent, each, *granted)
        for each, granted in {
            "oven": (),
            "page": (),
            "mic": ("--grant", "feedback"),
        }.items()
    }
    with device(access["oven"], ports["mqtt"]) as oven:
        oven.subscribe(f"out/{agent}/#", 1)
        by_http(program, agent)
        send(oven, f"in/{agent}/oven/said", said("mqtt"))
        if agent == "desk":
            send(oven, "in/desk/oven/said", f"{WORD}-bare".encode())
            send(oven, "in/desk/oven/kept", RETAINED.encode(), retain=True)
    decision = decided(program, agent)
    vote = {"decision_id": decision, "rating": "positive", "person": "ana"}
    vote["comment"] = f"{WORD}-feedback"
    asyncio.run(by_nats(access, agent, ports["websocket"], vote))


def account(program: Program, agent: str, source: str, *more: str) -> Access:
    """The account of a source of an agent's, which may name a person."""
    ran = program.here(
        "sensor", "access", source, "--agent", agent, "--person", "ana", *more
    )
    assert ran.code == 0, ran.err
    file = program.data / "sensors" / f"{agent}.{source}.json"
    found: Access = json.loads(file.read_text())
    return found


def said(way: str) -> bytes:
    """A person's words, as a sensor sends them."""
    return orjson.dumps({"text": f"{WORD}-{way}", "person": "ana"})


@contextmanager
def device(access: Access, port: int) -> Iterator[mqtt.Client]:
    """An MQTT client."""
    made = mqtt.Client(CallbackAPIVersion.VERSION2, protocol=mqtt.MQTTv311)
    made.username_pw_set(access["user"], access["password"])
    made.connect("127.0.0.1", port)
    made.loop_start()
    try:
        yield made
    finally:
        end(made)


def send(device: mqtt.Client, topic: str, body: bytes, *, retain: bool = False) -> None:
    """Publish until it is acknowledged."""
    device.publish(topic, body, 1, retain=retain).wait_for_publish(PATIENCE_S)


@contextmanager
def door(program: Program) -> Iterator[str]:
    """Where a door listens."""
    with program.start("http", "serve", "--listen", "127.0.0.1:0") as process:
        try:
            yield address_of(process)
        finally:
            process.terminate()


def by_http(program: Program, agent: str) -> None:
    """An event, a batch, a CloudEvent, and a vote with a note."""
    token = program.here(
        "http", "token", f"of-{agent}", "--agent", agent, "--source", "phone",
        "--person", "ana", "--json", *ALL,
    ).json["token"]  # fmt: skip
    headers = {"Authorization": f"Bearer {token}"}
    one, first, second = (
        {"type": "said", "text": f"{WORD}-{each}"}
        for each in ("http", "batch1", "batch2")
    )
    cloud = {"specversion": "1.0", "id": uuid4().hex, "source": "phone"}
    data = {"type": "said", "data": {"text": f"{WORD}-cloud"}}
    media = {"Content-Type": "application/cloudevents+json"}
    with (
        door(program) as url,
        httpx.Client(base_url=url, headers=headers, timeout=PATIENCE_S) as http,
    ):
        key = {"Idempotency-Key": uuid4().hex}
        sent = [http.post("/v1/events", json=one, headers=key)]
        sent.append(http.post("/v1/events", json=[first, second]))
        body = json.dumps({**cloud, **data})
        sent.append(http.post("/v1/events", content=body, headers=media))
        vote = {"decision_id": decided(program, agent), "rating": "positive"}
        vote["comment"] = f"{WORD}-comment"
        sent.append(http.post("/v1/feedback", json=vote))
    assert [each.status_code for each in sent] == [202, 202, 202, 200]


def decided(program: Program, agent: str) -> str:
    """The id of an agent's first decision, once there is one."""
    deadline = time.monotonic() + PATIENCE_S
    while time.monotonic() < deadline:
        ran = program.here("log", "tail", "--agent", agent, "--json")
        for line in ran.out.splitlines():
            found = json.loads(line)
            if found["subject"].endswith("decision.decided"):
                id_: str = found["headers"]["ce-id"]
                return id_
        time.sleep(0.2)
    raise AssertionError(f"{agent} decided nothing")


async def by_nats(
    access: Mapping[str, Access], agent: str, port: int, vote: Mapping[str, str]
) -> None:
    """Words of a page's, of a sensor's, and of whoever publishes outside the grammar."""
    page = {**access["page"], "url": f"ws://127.0.0.1:{port}"}
    mic = access["mic"]
    for own, subject, body in (
        (page, f"in.{agent}.page.said", said("websocket")),
        (mic, f"in.{agent}.mic.said", said("nats")),
        (mic, f"in.{agent}.mic.feedback", orjson.dumps(vote)),
    ):
        client = await nats.connect(
            own["url"],
            user=own["user"],
            password=own["password"],
            inbox_prefix=own["inbox_prefix"].encode(),
        )
        try:
            reply = await client.request(subject, body, timeout=PATIENCE_S)
        finally:
            await client.close()
        assert "seq" in orjson.loads(reply.data), reply.data


@asynccontextmanager
async def connected(program: Program) -> AsyncIterator[Connection]:
    """A connection to the instance, as a command has it."""
    settings = load({"data": str(program.data)}, environment={}, folder=program.folder)
    async with connect(settings) as connection:
        yield connection


async def is_everywhere(program: Program) -> None:
    """Wait until every word is in the tables, and see where else the search finds any."""
    async with connected(program) as connection:
        places = [
            segment.stream
            for agent in AGENTS
            for segment in (await listed(connection.client)).open
            if partition_of(agent) in segment.every
        ]
        assert len(set(places)) == len(AGENTS)
        async with asyncio.timeout(PATIENCE_S):
            while lacking(in_tables(connection)):  # noqa: ASYNC110
                await asyncio.sleep(0.2)
        assert not lacking(await in_log(connection))
        # Sealed, so not even now:
        assert WORD not in await in_streams(connection)
        assert connection.database_url is not None
        with psycopg.connect(connection.database_url, autocommit=True) as database:
            database.execute("ANALYZE")
            database.execute("CHECKPOINT")
    found = on_disk(program.data, WORD)
    # Tables, the planner's statistics, the write-ahead log, traces: and nowhere else.
    assert {each.parent.name for each in found} == {"5", "pg_wal", "data"}
    assert "2619" in [each.name for each in found]


def lacking(text: str) -> list[str]:
    """The ways whose word is not in a text."""
    return [each for each in WAYS if f"{WORD}-{each}" not in text]


async def is_nowhere(program: Program) -> None:
    """See that no word is in the log, in a table or in a stream; others' words are."""
    async with connected(program) as connection:
        log, tables = await in_log(connection), in_tables(connection)
        for text in (log, tables, await in_streams(connection)):
            assert WORD not in text
        assert KEPT in log
        assert KEPT in tables


async def keys_of(program: Program) -> dict[str, bytes]:
    """The keys of persons and of states, in base64 as they are stored."""
    partitions = [partition_of(each) for each in AGENTS]
    found = {}
    async with connected(program) as connection:
        bucket = Bucket(connection.client)
        names = [f"key.{agent}.{person}" for agent, person in FORGOTTEN]
        names += [*OF_OTHERS, *(f"key.=.{each}" for each in partitions)]
        for name in names:
            stored = await bucket.get(name)
            if stored is not None:
                found[name] = json.loads(stored.value)["key"].encode()
    assert {f"key.{agent}.{person}" for agent, person in FORGOTTEN} <= set(found)
    return found


def replayed(program: Program) -> Any:
    """Replay everything; nothing may differ."""
    ran = program.here("replay", "verify", "--all-agents", "--json")
    assert ran.code == 0, ran.out + ran.err
    return ran.json
