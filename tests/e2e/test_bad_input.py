"""Whatever comes through the sensors' door: quarantined with a reason, kept, survived."""

import asyncio
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import nats.errors
import orjson
import pytest

from echoic.client.publish import new_event_id, publish_raw
from echoic.client.sensor_access import sensor_credentials
from echoic.errors import EchoicError
from schemas.codec.decode import BODY_LIMIT, read_output
from schemas.codec.envelope import Output
from schemas.messages.controls import SessionEnded, SessionStarted
from schemas.messages.decisions import Decided
from schemas.messages.notes import ControlRefused, Quarantined
from schemas.values.record import Record, Wire
from schemas.values.subjects import input_subject
from streams.groups import Group, answer
from streams.jetstream.connection import ApiError
from tests.e2e.companion import GAME, Companion, companion, is_sound
from tests.e2e.conftest import running_instance
from tests.e2e.raw import publish_raw as publish_anything
from tests.patience import PATIENCE_S

pytestmark = [pytest.mark.asyncio(loop_scope="session"), pytest.mark.services]

BAD_BODIES = [
    pytest.param(b'{"text": "unfinished', "not_json", id="not JSON"),
    pytest.param(b"{'text': 'quoted'}", "not_json", id="single quotes"),
    pytest.param(b"\xff\xfe\x00 caf\xe9", "not_utf8", id="not UTF-8"),
    pytest.param(b'{"text": "\xff"}', "not_utf8", id="not UTF-8 within JSON"),
    pytest.param(b"", "empty", id="nothing"),
    pytest.param(b"  \n ", "empty", id="white space"),
    pytest.param(b'{"text": 5}', "invalid", id="a number for a text"),
    pytest.param(b'{"text": ""}', "invalid", id="an empty text"),
    pytest.param(b'{"fields": {}}', "invalid", id="no text"),
    pytest.param(b'{"text": "x", "urgency": "soon"}', "invalid", id="a wrong type"),
    pytest.param(b'{"text": "x", "salience": {"threat": 7}}', "invalid", id="too much"),
    pytest.param(b'{"text": "x", "occurred_at": "soon"}', "invalid", id="no time"),
    pytest.param(b'{"text": "x", "occurred_at": "2026-11-20"}', "invalid", id="a day"),
    pytest.param(b'{"text": "x", "fields": [1]}', "invalid", id="a list of fields"),
    pytest.param(b'{"text": "' + b"x" * 9_000 + b'"}', "invalid", id="a long text"),
    pytest.param(b'{"text": ' + b"[" * 200 + b"]" * 200 + b"}", "invalid", id="deep"),
    pytest.param(b'{"text": "x", "fields": ' + b'{"a":' * 120 + b"1" + b"}" * 121,
                 "invalid", id="deep fields"),
    pytest.param(b'{"text": "\\ud800"}', "not_json", id="half a surrogate"),
]  # fmt: skip


@pytest.mark.parametrize(("body", "reason"), BAD_BODIES)
async def test_a_bad_body_is_quarantined(
    ada: Companion, body: bytes, reason: str
) -> None:
    """It gets a note with the reason, is kept byte for byte, and the next is answered."""
    event_id = new_event_id()
    subject = f"in.{ada.agent}.{GAME}.vital"
    await publish_raw(ada.sensor, subject, body, {"ce-id": event_id})

    group = await ada.answered(in_log(ada, f"{GAME}.vital"), event_id)
    note = quarantined(group)
    assert note.reason == reason
    assert note.detail
    assert group.input.body == body
    await goes_on(ada)


async def test_text_that_is_no_json_is_an_event(ada: Companion) -> None:
    """A sensor may send bare words, without an envelope: a button, a line of a log."""
    await publish_raw(ada.sensor, f"in.{ada.agent}.{GAME}.vital", b"It rains", {})

    (decided,) = await ada.comes(Decided)
    assert decided.source == GAME


@pytest.mark.parametrize("size", [70_000, 110_000])
async def test_an_event_that_is_too_large_is_refused(ada: Companion, size: int) -> None:
    """The intake stream takes 60 kB; whoever sends more hears so, and the mind goes on."""
    with pytest.raises(ApiError, match="size exceeds"):
        await publish_raw(ada.sensor, f"in.{ada.agent}.{GAME}.vital", b"x" * size, {})

    await goes_on(ada)


async def test_a_payload_over_the_accounts_limit_ends_the_connection(
    ada: Companion,
) -> None:
    """The broker cuts whoever sends more than 120 kB; connected anew, it is heard."""
    subject = f"in.{ada.agent}.{GAME}.vital"
    with pytest.raises((nats.errors.Error, TimeoutError)):
        await ada.sensor.request(subject, b"x" * 1_000_000, timeout=2)

    async with companion(ada.live, ada.agent) as again:
        await goes_on(again)


async def test_a_payload_over_the_brokers_limit_is_refused(ada: Companion) -> None:
    """More than the broker takes at all does not even leave the sensor."""
    subject = f"in.{ada.agent}.{GAME}.vital"
    with pytest.raises(nats.errors.MaxPayloadError):
        await ada.sensor.publish(subject, b"x" * 2_000_000)

    await goes_on(ada)


@pytest.mark.parametrize("size", [BODY_LIMIT + 1, 1_000_000])
async def test_a_large_input_of_the_log_is_quarantined(
    ada: Companion, size: int
) -> None:
    """A megabyte that stands in the log is answered, kept, and never read as JSON."""
    body = b'{"text": "' + b"x" * (size - 12) + b'"}'
    subject = in_log(ada, f"{GAME}.vital")
    sequence = await ada.live.log.append(
        Wire(subject, {"ce-id": "big"}, body), f"e:{subject}:{size}"
    )

    group = await answer(ada.live.log, ada.partition, sequence, PATIENCE_S)

    assert quarantined(group).reason == "too_large"
    assert group.input.body == body
    await goes_on(ada)


@pytest.mark.parametrize("year", [1970, 2100])
async def test_an_impossible_time_is_flagged(ada: Companion, year: int) -> None:
    """By the broker's clock an event's own time is only recorded, and flagged if odd."""
    when = datetime(year, 1, 1, tzinfo=UTC).isoformat()

    decision = await ada.senses("A letter came", occurred_at=when)

    assert decision.decided.flags == ("implausible_time",)
    assert abs((decision.at - datetime.now(UTC)).total_seconds()) < 60


@pytest.mark.parametrize("year", [1970, 2100])
async def test_an_impossible_time_is_quarantined_under_an_event_clock(
    ada: Companion, year: int
) -> None:
    """Where events move the time, one from another age is kept apart and moves nothing."""
    start = datetime(2026, 11, 20, tzinfo=UTC)
    await ada.tell(SessionStarted(session_id="s", clock="event"))
    await ada.senses("It begins", occurred_at=start.isoformat())

    when = datetime(year, 1, 1, tzinfo=UTC).isoformat()
    event_id = await ada.publish("A letter came", occurred_at=when)
    group = await ada.answered(in_log(ada, f"{GAME}.vital"), event_id)
    later = start + timedelta(seconds=5)
    after = await ada.senses("A door slams", occurred_at=later.isoformat())

    assert quarantined(group).reason == "clock"
    assert after.at == later
    await ada.tell(SessionEnded())


@pytest.mark.parametrize(
    ("subject", "reason"),
    [
        ("in", None),
        ("in.{agent}", "bad_subject"),
        ("in.{agent}.game", "bad_subject"),
        ("in.{agent}.with.dots.game.vital", "bad_subject"),
        ("in.{agent}*.game.vital", "bad_subject"),
        ("in.*.game.vital", "bad_subject"),
        ("in.{agent}.*.vital", "bad_subject"),
        ("in.{agent}.game.*", "bad_subject"),
        ("in.{agent}.game.vital.>", "bad_subject"),
        ("in.{agent}.gäme.vital", "bad_subject"),
        ("in.{agent}.game.$JS", "bad_subject"),
        (f"in.{'a' * 65}.game.vital", "bad_subject"),
        ("in._.game.vital", "reserved_agent"),
        ("in._.game", "reserved_agent"),
    ],
)
async def test_a_subject_outside_the_grammar_is_quarantined(
    ada: Companion, subject: str, reason: str | None
) -> None:
    """Nothing published under `in.` is lost: what names no agent is answered for by `_`."""
    subject = subject.format(agent=ada.agent)
    event_id = new_event_id()
    before = await ada.live.log.last_sequence("ev.>")

    await ada.live.client.publish(subject, b"hello", headers={"ce-id": event_id})
    await ada.live.client.flush()

    if reason is not None:
        record = await arrived(ada, event_id, before)
        place = int(record.subject.split(".")[1])
        group = await answer(ada.live.log, place, record.sequence, PATIENCE_S)
        note = quarantined(group)
        assert note.reason == reason
        assert note.subject == record.subject
        assert group.input.body == b"hello"
        await is_sound(ada.live, place)
    await goes_on(ada)


@pytest.mark.parametrize(
    "odd", [b"\x0c", b"\x0b", b"\x01", b"\xff", b"\xe2\x80\xa8", b"\0"]
)
async def test_no_byte_of_a_subject_stops_the_mind(ada: Companion, odd: bytes) -> None:
    """A sensor may publish any byte but white space as its type; all are quarantined."""
    credentials = await sensor_credentials(ada.live.settings, ada.agent, GAME)
    subject = f"in.{ada.agent}.{GAME}.a".encode() + odd + b"b"

    await publish_anything(credentials, [(subject, b"", b"hello")])

    (note,) = await ada.comes(Quarantined)
    assert note.reason == "bad_subject"
    await goes_on(ada)


@pytest.mark.parametrize("type_", ["t" * 3_900, "*." + "t" * 3_900])
async def test_the_longest_message_is_quarantined(ada: Companion, type_: str) -> None:
    """As long a subject and as many headers as the intake stream takes stop nothing."""
    credentials = await sensor_credentials(ada.live.settings, ada.agent, GAME)
    if "*" in type_:
        credentials = ada.live.credentials
    subject = f"in.{ada.agent}.{GAME}.{type_}".encode()
    headers = b"ce-id: longest\r\nx-padding: " + b"y" * 59_900 + b"\r\n"
    before = await ada.live.log.last_sequence("ev.>")

    await publish_anything(credentials, [(subject, headers, b"")])

    record = await arrived(ada, "longest", before)
    group = await answer(
        ada.live.log, int(record.subject.split(".")[1]), record.sequence, PATIENCE_S
    )
    assert quarantined(group).reason == "bad_subject"
    await goes_on(ada)


@pytest.mark.parametrize(
    ("headers", "reason"),
    [
        ({"ce-id": "x" * 300}, "invalid"),
        ({"ce-schemaversion": "latest"}, "invalid"),
        ({"ce-schemaversion": "99"}, "unknown_type"),
    ],
)
async def test_a_bad_header_is_quarantined(
    ada: Companion, headers: dict[str, str], reason: str
) -> None:
    """Headers are input too."""
    await publish_raw(ada.sensor, f"in.{ada.agent}.{GAME}.vital", b"hello", headers)

    (note,) = await ada.comes(Quarantined)
    assert note.reason == reason
    await goes_on(ada)


async def test_headers_near_the_brokers_limit_are_survived(ada: Companion) -> None:
    """Many long headers neither stop the intake stream nor the mind."""
    headers = {f"x-{number}": "y" * 500 for number in range(110)}

    await publish_raw(ada.sensor, f"in.{ada.agent}.{GAME}.vital", b"It rains", headers)

    await ada.comes(Decided)
    await goes_on(ada)


async def test_an_unknown_control_is_answered(ada: Companion) -> None:
    """One that is not a sensor's is refused, one that does not exist quarantined."""
    for control in ("person_forgotten", "made_up"):
        body = orjson.dumps({"control": control, "person": "ana"})
        subject = f"in.{ada.agent}.remote.control"
        await ada.live.client.request(subject, body)

    (refused,) = await ada.comes(ControlRefused)
    (kept,) = await ada.comes(Quarantined)
    assert (refused.control, refused.reason) == ("person_forgotten", "not_granted")
    assert (kept.reason, "made_up" in kept.detail) == ("unknown_type", True)


async def test_a_pack_with_three_mistakes_stops_the_start(tmp_path: Path) -> None:
    """All three are named at once, with their places, and nothing is left running."""
    folder = tmp_path / "wrong"
    folder.mkdir()
    (folder / "manifest.yaml").write_text(
        "schema: 1\n"
        "name: wrong\n"
        "version: 1.0.0\n"
        "setting: gaem\n"
        "heuristics:\n"
        "  - name: one\n"
        "    condition: it rains\n"
        "    when: health <\n"
        "    action: {text: Take an umbrella.}\n"
        "  - name: two\n"
        "    condition: it snows\n"
        "    action: {text: Take a scarf.}\n"
        "    confidence: 1.5\n"
    )

    with pytest.raises(EchoicError) as raised:
        async with running_instance(tmp_path / "data", {}, packs=[folder]):
            raise AssertionError("it started")

    said = str(raised.value)
    for place in ("manifest.yaml:4:", "manifest.yaml:8:", "manifest.yaml:13:"):
        assert place in said
    assert "game" in said


def in_log(ada: Companion, detail: str) -> str:
    """Where an event of the companion stands in the log."""
    return input_subject(ada.partition, ada.agent, "sensor", detail)


def quarantined(group: Group) -> Quarantined:
    """The only output of a group, which is this note."""
    (output,) = outputs_of(group)
    assert isinstance(output.message, Quarantined)
    return output.message


def outputs_of(group: Group) -> list[Output]:
    """A group's outputs, read."""
    return [read_output(record) for record in group.outputs]


async def arrived(ada: Companion, event_id: str, after: int) -> Record:
    """The record of an event, wherever the log put it."""
    async with asyncio.timeout(PATIENCE_S):
        async for records in ada.live.log.follow("ev.*.in.>", after, 100):
            for record in records:
                if record.headers.get("ce-id") == event_id:
                    return record
    raise AssertionError("unreachable")


async def goes_on(ada: Companion, **fields: Any) -> None:
    """The companion answers the next event as if nothing had happened."""
    decision = await ada.senses("Player health is low", fields={"health": 1}, **fields)
    assert decision.path == "heuristic"
