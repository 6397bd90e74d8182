"""Hostile subjects, headers and bodies through the broker, to a running instance.

They come as a sensor with an account of its own and as Echoic's own account, which shares
the stream of whoever has none. Each that the broker acknowledged has to be in the log, once,
and answered; meanwhile another agent's sensor is answered as ever.
"""

import asyncio
import base64
import json
import random
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import orjson

from bench.beside import beside
from bench.enduring.findings import Findings, ask_the_program, connected, settle
from bench.enduring.processes import Processes
from bench.fuzz import values
from bench.fuzz.messages import HEADERS
from bench.fuzz.raw import Message, RawClient
from echoic.client.connection import Connection, addresses
from echoic.client.publish import decided_on, publish_raw
from schemas.messages.decisions import Decided
from schemas.messages.learning import FeedbackApplied, FeedbackRefused
from schemas.messages.notes import ControlApplied, ControlRefused, Handled, Quarantined
from schemas.values.subjects import AGENT_SOURCE, SHARED_AGENT, STRAY, parse
from streams.errors import StreamsError
from streams.jetstream.accounts import Credentials
from streams.jetstream.connection import connected as connected_as
from streams.jetstream.connection import insist
from streams.log import scan
from streams.topology import BOX_SUBJECTS, LOG, SENSOR_SUBJECTS

AGENT, SOURCE, NEIGHBOUR = "ada", "cam", "ben"
_TOGETHER = 512
_PATIENCE_S = 900.0
_BROKERS = (
    "Nats-Msg-Id", "Nats-Rollup", "Nats-TTL", "Nats-Expected-Last-Sequence",
    "Nats-Expected-Last-Subject-Sequence", "Nats-Expected-Stream", "Nats-Batch-Id",
    "Nats-Batch-Sequence", "Nats-Batch-Commit", "Nats-Stream-Source", "Nats-Schedule",
    "Nats-Incr", "Nats-Marker-Reason", "Nats-Required-Api-Level",
)  # fmt: skip
"""Headers by which a publisher tells the broker what to do."""
_APPENDED_AGAIN = f".in.{SHARED_AGENT}.{STRAY}."
_ANSWERS = {
    each.token
    for each in (
        Decided, Quarantined, Handled, FeedbackApplied, FeedbackRefused, ControlApplied,
        ControlRefused,
    )
}  # fmt: skip


@dataclass(slots=True)
class Fuzzed(Processes):
    """An instance that takes whatever comes, at any rate."""

    def variables(self) -> dict[str, str]:
        """Return the settings, as variables of the environment."""
        return {
            "ECHOIC_INTAKE_RATE": "0",
            "OTEL_TRACES_EXPORTER": "none",
            "ECHOIC_METRICS_LISTEN": "off",
        }

    def access(self, agent: str, source: str, *grants: str) -> Credentials:
        """Make an account for a sensor, and return it.

        Raises:
            RuntimeError: it cannot be made.
        """
        granted = [f"--grant={each}" for each in grants]
        made = self.command("sensor", "access", source, "--agent", agent, *granted)
        if made.returncode:
            raise RuntimeError(made.stderr)
        file = self.data / "sensors" / f"{agent}.{source}.json"
        return Credentials(**json.loads(file.read_text()))


@dataclass(slots=True)
class _Neighbour:
    """Somebody whose sensor does as it should."""

    told: int = 0
    decided: int = 0
    longest_s: float = 0.0
    faults: list[str] = field(default_factory=list)


def run(count: int, seed: str, folder: Path) -> Findings:
    """Publish so many messages to an instance in a folder, and account for each."""
    home = Fuzzed(folder)
    try:
        home.up()
        return asyncio.run(_run(home, count, seed))
    finally:
        home.end()


async def _run(home: Fuzzed, count: int, seed: str) -> Findings:
    found, rng = Findings(), random.Random(seed)
    sensor = home.access(AGENT, SOURCE, "feedback", "control")
    neighbour = home.access(NEIGHBOUR, SOURCE)
    async with connected(home) as connection:
        core = addresses(connection.settings)[0]
        clients = [RawClient(sensor), RawClient(core)]
        subjects = (_of_sensor, _of_core)
        other = _Neighbour()
        # It ends with a fault that is told.
        async with beside(_tell(connection, neighbour, other), may_end=True):
            for done in range(0, count, _TOGETHER):
                some = min(_TOGETHER, count - done)
                halves = (some // 2, some - some // 2)
                for client, subject, part in zip(
                    clients, subjects, halves, strict=True
                ):
                    messages = [_message(rng, subject(rng)) for _ in range(part)]
                    await client.send(messages)
        for client in clients:
            await client.close()
        await settle(connection, found)
        kept = {each for client in clients for each in client.told.kept}
        await _account(connection, kept, found)
    _tell_of(clients, count, other, found)
    ask_the_program(home, found)
    return found


def _message(rng: random.Random, subject: bytes) -> Message:
    """Return a message with a body and headers that nobody should send."""
    kind = rng.random()
    if kind < 0.4:
        # As the broker hands on what a device publishes by MQTT: no header, bare text.
        return subject, b"", values.body(rng)
    if kind < 0.5:
        return subject, rng.randbytes(rng.randrange(60)), values.body(rng)
    lines = values.headers(rng, (*HEADERS, *_BROKERS))
    plain = "".join(f"{name}: {value}\r\n" for name, value in lines.items())
    if kind < 0.9:
        fields = {"text": values.text(rng), "fields": values.json_value(rng)}
        extra = rng.choice(("control", "decision_id", "salience", "ttl_s", "person"))
        body = values.as_json({**fields, extra: values.json_value(rng)})
        return subject, plain.encode(), body
    return subject, plain.encode(), values.body(rng)


def _of_sensor(rng: random.Random) -> bytes:
    """Return a subject that a sensor may publish to, and now and then one it may not."""
    kind = rng.random()
    if kind < 0.9:
        types = (_token(rng), b"seen", b"feedback", b"control", b"message")
        return b"in.ada.cam." + rng.choice(types)
    return rng.choice((
        b"in.ben.cam.seen", b"in._.cam.seen", b"in.ada.agent.seen", b"ev.3.in.ada.control.x",
        b"ip.3.ada.cam.seen", b"out.ada.say", b"svc.ada.state", b"$JS.API.STREAM.PURGE.LOG",
        b"$JS.API.STREAM.DELETE.LOG", b"in.ada.cam", b"in.ada.cam.a.b", b"in.ada.other.seen",
        b"$KV.x.y", b"_INBOX.x", b"$SYS.REQ.SERVER.PING",
    ))  # fmt: skip


def _of_core(rng: random.Random) -> bytes:
    """Return a subject below `in.`, in the grammar of sensors or out of it."""
    agents = (b"ada", b"ada", b"cleo", b"_", _token(rng))
    tokens = [rng.choice(agents), *(_token(rng) for _ in range(rng.randrange(4)))]
    # Whoever has Echoic's own account may speak for an agent, and `log verify` tells of it.
    tokens = [b"camera" if each == AGENT_SOURCE.encode() else each for each in tokens]
    return b"in." + b".".join(tokens)


def _token(rng: random.Random) -> bytes:
    """Return a token as bytes; rarely with what the protocol itself cannot carry."""
    made = values.token(rng).encode()
    if rng.random() < 0.01:
        return made
    plain = made.translate(None, b"\0\t\n\r .")
    return plain[:200] or b"x"


async def _tell(connection: Connection, access: Credentials, other: _Neighbour) -> None:
    """Tell the neighbour something again and again, and wait for its decision."""
    async with connected_as(access, "neighbour") as sensor:
        while True:
            id_ = f"beside-{other.told}"
            subject = f"in.{NEIGHBOUR}.{SOURCE}.seen"
            body = orjson.dumps({"text": "a bird sings", "intent": "informational"})
            began = time.monotonic()
            try:
                await publish_raw(sensor, subject, body, {"ce-id": id_})
                other.told += 1
                await decided_on(
                    connection.log, NEIGHBOUR, SOURCE, "seen", id_, 0, _PATIENCE_S
                )
            except StreamsError as error:
                other.faults.append(f"the neighbour's {id_}: {error}")
                return
            other.decided += 1
            other.longest_s = max(other.longest_s, time.monotonic() - began)
            await asyncio.sleep(0.5)


async def _account(
    connection: Connection, kept: set[tuple[str, int]], found: Findings
) -> None:
    """Find every acknowledged message in the log, and its answer."""
    places = await _places(connection, found)
    lost = [each for each in kept if each not in places]
    found.expect(
        f"{len(lost)} acknowledged are not in the log: {lost[:5]}", holds=not lost
    )
    answers, strays = dict[int, str](), dict[int, int]()
    twice = list[int]()
    async for record in scan(connection.log, "ev.>", 0):
        place = parse(record.subject)
        if place.direction == "in":
            if place.kind == STRAY:
                strays[int(place.detail)] = record.sequence
        elif place.detail in _ANSWERS:
            body = orjson.loads(record.body)
            if body.get("timer") is None and body.get("through") is None:
                cause = int(record.headers["ce-causeseq"])
                twice += [cause] if cause in answers else []
                why = body.get("reason") if place.kind == "note" else None
                answers[cause] = f"{place.detail} {why}" if why else place.detail
    at = [places[each] for each in kept if each in places]
    silent = [each for each in at if strays.get(each, each) not in answers]
    found.expect(f"{len(silent)} without an answer: {silent[:5]}", holds=not silent)
    found.expect(f"answered twice: {twice[:5]}", holds=not twice)
    came = Counter(answers.get(strays.get(each, each), "none") for each in at)
    found.figures["answers to what was acknowledged"] = dict(came.most_common())
    found.expect("they do not add up", holds=came.total() == len(kept))
    found.figures["strays"] = sum(each in strays for each in at)


async def _places(
    connection: Connection, found: Findings
) -> dict[tuple[str, int], int]:
    """Return where in the log each message of another stream stands.

    The broker itself says so in a header behind all others. Looked for in the raw bytes: a
    block of headers that somebody left without its last line break has none behind it.
    """
    at = [
        record.sequence
        for subjects in ("ev.*.in.>", SENSOR_SUBJECTS, BOX_SUBJECTS)
        async for record in scan(connection.log, subjects, 0)
        # A stray that is appended again may bring along what the broker said of it.
        if _APPENDED_AGAIN not in record.subject
    ]
    places = dict[tuple[str, int], int]()
    for start in range(0, len(at), _TOGETHER):
        part = at[start : start + _TOGETHER]
        sources = await asyncio.gather(*(_source(connection, each) for each in part))
        for sequence, key in zip(part, sources, strict=True):
            if key is not None:
                found.expect(f"{key} stands in the log twice", holds=key not in places)
                places[key] = sequence
    return places


async def _source(connection: Connection, sequence: int) -> tuple[str, int] | None:
    """Return stream and sequence that a message of the log was sourced from."""
    subject = f"$JS.API.STREAM.MSG.GET.{LOG.name}"
    message = (await insist(connection.client, subject, {"seq": sequence}))["message"]
    block = base64.b64decode(message.get("hdrs", ""))
    _, is_there, last = block.rpartition(b"Nats-Stream-Source: ")
    if not is_there:
        return None
    stream, number = last.split()[:2]
    return stream.decode().partition(":")[0], int(number)


def _tell_of(
    clients: Sequence[RawClient], count: int, other: _Neighbour, found: Findings
) -> None:
    whole = 0
    for name, client in zip(("sensor", "core"), clients, strict=True):
        told = client.told
        whole += told.whole
        found.figures[f"as {name}"] = _words(told)
        found.expect(f"{name}: not all accounted for", holds=told.whole == told.sent)
    found.expect(f"{whole} of {count} messages", holds=whole == count)
    found.figures["neighbour"] = (
        f"{other.decided} of {other.told} decided, the slowest after"
        f" {other.longest_s:.1f} s"
    )
    found.faults += other.faults
    # The last one may have been under way when all was over.
    found.expect("the neighbour waits", holds=other.told - other.decided <= 1)
    found.expect("the neighbour was told nothing", holds=other.decided > 0)


def _words(told: Any) -> str:
    return (
        f"{told.sent} sent: {len(told.kept)} kept, {told.repeats} repeats,"
        f" {told.refused} refused, {told.nowhere} taken by nobody, {told.silent} not"
        f" acknowledged; {told.closed} connections closed"
    )
