"""The bridge for game engines, between the real broker and a real WebSocket client."""

import asyncio
import json
from contextlib import AsyncExitStack

import pytest

pytest.importorskip("websockets", reason="the extra `engine` is not installed")

import jsonschema
from websockets.exceptions import ConnectionClosed, InvalidStatus

from echoic.doors.engines import messages, seat
from schemas.codec.decode import read_input
from schemas.messages.sensing import Sensed
from streams.broker.enrolment import remove_sensor
from tests.echoic.doors.engines.engine import asks, bridged, engine, event, logged
from tests.minds import until
from tests.patience import PATIENCE_S
from tests.servers import Broker
from tests.streams.sensors import limits, watching

pytestmark = pytest.mark.services

_TO_ENGINE = jsonschema.Draft202012Validator(
    {**messages.schema(), "anyOf": [{"$ref": "#/$defs/to_engine"}]}
)


async def test_an_action_goes_out_and_its_end_comes_in(broker: Broker) -> None:
    """What the decision says, and a report that names it, in the log as a sensor's event."""
    outcomes = ("succeeded", "failed", "overridden", "cancelled")
    async with bridged(broker) as running, engine(running) as body:
        for number, outcome in enumerate(outcomes):
            await asks(broker, f"a{number}")
            asked = await body.hear()
            _TO_ENGINE.validate(asked)
            assert (asked["message"], asked["channel"]) == ("action", "act")
            assert asked["action"] == {
                "type": "seek_food",
                "target": "bush",
                "params": {},
            }
            await body.send({"message": "taken", "id": asked["id"]})
            report = event(
                f"r{number}",
                type="completed",
                text="ate",
                in_reply_to=asked["decision_id"],
                outcome=outcome,
                reason="a bush",
            )
            kept = await body.ask(report)
            _TO_ENGINE.validate(kept)
            assert kept == {"message": "kept", "id": f"r{number}"}

    found = [read_input(each) for each in await logged(broker, len(outcomes))]
    assert [each.id for each in found] == ["r0", "r1", "r2", "r3"]
    events = [each.message for each in found]
    assert all(isinstance(each, Sensed) for each in events)
    told = [(e.source, e.type, e.in_reply_to, e.outcome, e.reason) for e in events]  # type: ignore[union-attr]
    assert told == [
        ("engine", "completed", f"d-a{n}", outcome, "a bush")
        for n, outcome in enumerate(outcomes)
    ]


async def test_a_body_is_reported_and_speech_heard(broker: Broker) -> None:
    """With its fields; the parts of what is being written are not for engines."""
    async with bridged(broker) as running, engine(running) as body:
        await broker.client.publish("out.aria.talk.part", b'{"text": "Hel"}')
        await asks(broker, "s", text="Hello.", action=False)
        said = await body.hear()
        kept = await body.ask(event("b", fields={"hunger": 3, "at": [1.5, 2]}))

    _TO_ENGINE.validate(said)
    assert (said["message"], said["text"]) == ("speech", "Hello.")
    assert kept["message"] == "kept"
    [record] = await logged(broker, 1)
    assert json.loads(record.body)["fields"] == {"hunger": 3, "at": [1.5, 2]}


async def test_the_same_event_twice_has_one_id(broker: Broker) -> None:
    """An engine that heard no answer sends it again; the mind knows a repeated id."""
    async with bridged(broker) as running, engine(running) as body:
        first, second = await body.ask(event("b")), await body.ask(event("b"))

    assert first == second == {"message": "kept", "id": "b"}
    assert {each.headers["ce-id"] for each in await logged(broker, 2)} == {"b"}


GARBAGE = {
    "no json": ("nonsense", ""),
    "not an object": ("[]", ""),
    "bytes that are no text": (b"\xff\xfe", ""),
    "too deep": ("[" * 50_000, ""),
    "unknown message": ('{"message": "shutdown"}', ""),
    "no text": ('{"message": "event", "id": "x", "type": "body"}', "event.text"),
    "no number": (
        '{"message": "event", "id": "x", "type": "b", "text": "b", "fields": {"a": NaN}}',
        "",
    ),
    "infinite": (
        '{"message": "event", "id": "x", "type": "b", "text": "b", "fields": {"a": 1e999}}',
        "event.fields.a.float",
    ),
    "a wildcard": (json.dumps(event("x", type="a.>")), "event.type"),
    "another source": (json.dumps(event("x", source="user")), "event.source"),
    "an unknown field": (json.dumps(event("x", hungr=1)), "event.hungr"),
    "an unknown outcome": (json.dumps(event("x", outcome="done")), "event.outcome"),
    "a header in the id": (json.dumps(event("x\r\nNats-Rollup: all")), "event.id"),
    "a line end in the type": (json.dumps(event("x", type="body\n")), "event.type"),
    "no id": ('{"message": "taken"}', "taken.id"),
    "an id of another type": ('{"message": "taken", "id": 7}', "taken.id"),
}


async def test_what_is_wrong_is_named_and_the_engine_goes_on(broker: Broker) -> None:
    """Nothing of it reaches the broker; the next message is taken."""
    async with bridged(broker) as running, engine(running) as body:
        for name, (text, field) in GARBAGE.items():
            refused = await body.ask(text)
            _TO_ENGINE.validate(refused)
            assert (refused["message"], refused["reason"]) == ("refused", "invalid")
            assert refused["fields"][0]["field"] == field, name
            assert ("id" in refused) == ('"id": "x' in str(text)), name
        kept = await body.ask(event("good"))

    assert kept["message"] == "kept"
    assert [each.headers["ce-id"] for each in await logged(broker, 1)] == ["good"]


@pytest.mark.parametrize("type_", ["control", "feedback"])
async def test_an_engine_has_no_more_rights_than_a_sensor(
    broker: Broker, type_: str
) -> None:
    """What is reserved is refused before the broker would answer nothing."""
    async with bridged(broker) as running, engine(running) as body:
        refused = await body.ask(event("c", type=type_))

    assert (refused["message"], refused["reason"]) == ("refused", "invalid")
    assert "reserved" in refused["detail"]


async def test_what_is_too_large_is_refused(broker: Broker) -> None:
    """By name where it can be read, and by the end of the connection beyond."""
    async with bridged(broker) as running, engine(running) as body:
        # Letters of two bytes.
        large = {f"f{n}": "ü" * 1_000 for n in range(30)}
        refused = await body.ask(event("large", fields=large))
        # Less than a message may have, and more than the mind takes.
        fields = await body.ask(event("fields", fields={"a": "x" * 40_000}))
        kept = await body.ask(event("small"))
        with pytest.raises(ConnectionClosed) as ended:
            await body.ask(event("huge", fields={"a": "x" * 200_000}))
        async with engine(running) as again:
            after = await again.ask(event("after"))

    assert (refused["reason"], refused["id"]) == ("too_large", "large")
    assert (fields["reason"], fields["id"]) == ("too_large", "fields")
    assert (kept["id"], after["id"]) == ("small", "after")
    assert ended.value.rcvd is not None
    assert ended.value.rcvd.code == 1009


async def test_who_may_connect(broker: Broker) -> None:
    """Nobody without the token, no page that is not named, nobody for another agent."""
    async with bridged(broker, origins=("https://game.example",)) as running:
        refused = {
            "wrong token": ({"token": "another"}, 401),
            "no token": ({"token": ""}, 401),
            "another page": ({"origin": "https://evil.example"}, 403),
            "another agent": ({"agent": "ben"}, 404),
        }
        for name, (options, status) in refused.items():
            with pytest.raises(InvalidStatus) as answer:
                async with engine(running, **options):
                    pass
            assert answer.value.response.status_code == status, name
        async with engine(running, origin="https://game.example") as page:
            kept = await page.ask(event("p"))
    assert kept["message"] == "kept"


async def test_the_second_engine_takes_the_place_of_the_first(broker: Broker) -> None:
    """A body has one engine: one that lost its connection comes back at once."""
    async with bridged(broker) as running, engine(running) as first:
        await asks(broker, "a")
        before = await first.hear()
        async with engine(running) as second:
            after = await second.hear()
            with pytest.raises(ConnectionClosed) as ended:
                await first.hear()
            kept = await second.ask(event("b"))

    assert before == after
    assert kept["message"] == "kept"
    assert ended.value.rcvd is not None
    assert ended.value.rcvd.code == seat.REPLACED


async def test_each_character_has_an_engine_of_its_own(broker: Broker) -> None:
    """They hear and say nothing of each other's."""
    async with (
        bridged(broker, "aria", "ben") as running,
        engine(running, "aria") as aria,
        engine(running, "ben") as ben,
    ):
        await asks(broker, "for-ben", agent="ben")
        await asks(broker, "for-aria", agent="aria")
        heard = (await aria.hear())["id"], (await ben.hear())["id"]
        await asyncio.gather(aria.ask(event("x")), ben.ask(event("y")))

    assert heard == ("for-aria", "for-ben")
    assert [each.headers["ce-id"] for each in await logged(broker, 1, "ben")] == ["y"]


async def test_what_was_not_taken_is_sent_again(broker: Broker) -> None:
    """Once it was taken or reported on it is not; delivered twice, it is sent once."""
    async with bridged(broker) as running:
        for name in ("taken", "reported", "neither", "neither"):
            await asks(broker, name)
        async with engine(running) as body:
            heard = [(await body.hear())["id"] for _ in range(3)]
            await body.send({"message": "taken", "id": "taken"})
            report = event("r", in_reply_to="d-reported", outcome="succeeded")
            assert (await body.ask(report))["message"] == "kept"
        async with engine(running) as body:
            again = await body.hear()
            await asks(broker, "new")
            new = await body.hear()

    assert heard == ["taken", "reported", "neither"]
    assert (again["id"], new["id"]) == ("neither", "new")


async def test_what_nobody_took_is_told_to_be_cancelled(broker: Broker) -> None:
    """An action in the log as well, so that the character goes on; words just pass."""
    async with bridged(broker) as running, engine(running) as body:
        await asks(broker, "late", ttl_s=0.2)
        await asks(broker, "word", ttl_s=0.2, text="Hm.", action=False)
        heard = [await body.hear() for _ in range(4)]
        [record] = await logged(broker, 1)
        await body.send({"message": "taken", "id": "late"})
        assert (await body.ask(event("b")))["message"] == "kept"

    assert [each["message"] for each in heard] == ["action", "speech"] + 2 * ["expired"]
    cancelled = read_input(record).message
    assert isinstance(cancelled, Sensed)
    assert (cancelled.type, cancelled.in_reply_to) == ("expired", "d-late")
    assert cancelled.outcome == "cancelled"
    assert cancelled.reason == "no engine took it in time"


async def test_what_waits_has_a_bound(
    broker: Broker, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The oldest makes room, and that is told."""
    monkeypatch.setattr(seat, "_MOST_HELD", 2)
    async with bridged(broker) as running:
        for name in ("a", "b", "c"):
            await asks(broker, name)
        [record] = await logged(broker, 1)
        async with engine(running) as body:
            heard = [(await body.hear())["id"] for _ in range(2)]

    assert heard == ["b", "c"]
    cancelled = read_input(record).message
    assert isinstance(cancelled, Sensed)
    assert cancelled.in_reply_to == "d-a"


async def test_a_killed_broker_loses_nothing(broker: Broker) -> None:
    """Events wait for it, and what is asked afterwards comes through."""
    async with bridged(broker) as running, engine(running) as body:
        assert (await body.ask(event("before")))["message"] == "kept"
        await broker.server.kill()
        for number in range(3):
            await body.send(event(f"during{number}"))
        await body.send("garbage")
        refused = await body.hear()
        await broker.server.restart()
        kept = [(await body.hear())["id"] for _ in range(3)]
        after = await body.ask(event("after"))
        async with asyncio.timeout(PATIENCE_S):
            await broker.client.flush()
        await asks(broker, "a")
        asked = await body.hear()

    assert refused["message"] == "refused"
    assert kept == ["during0", "during1", "during2"]
    assert (after["id"], asked["id"]) == ("after", "a")
    ids = [each.headers["ce-id"] for each in await logged(broker, 5)]
    assert list(dict.fromkeys(ids)) == ["before", *kept, "after"]


async def test_a_delivery_that_cannot_be_read_is_passed_over(
    broker: Broker, caplog: pytest.LogCaptureFixture
) -> None:
    """It would be a fault of ours; the engine hears the next one."""
    async with bridged(broker) as running, engine(running) as body:
        for payload in (b"nonsense", b"[]", b'{"text": "no id"}', b"{}"):
            await broker.client.publish("out.aria.act", payload)
        await asks(broker, "good")
        heard = await body.hear()

    assert heard["id"] == "good"
    assert caplog.text.count("no delivery") == 4


async def test_an_engine_over_its_day_is_refused_and_others_play_on(
    broker: Broker,
) -> None:
    """It is told so, stays connected, and its character acts in it all the same."""
    async with AsyncExitStack() as stack:
        running = await stack.enter_async_context(bridged(broker, "aria", "ben"))
        flood = await stack.enter_async_context(engine(running, "aria"))
        other = await stack.enter_async_context(engine(running, "ben"))
        watch = await watching(stack, broker, limits(day=50_000))
        kept = [await flood.ask(event(f"f{n}", text="x" * 900)) for n in range(60)]
        await watch.look()

        refused = await flood.ask(event("over"))
        taken = await other.ask(event("other"))
        await asks(broker, "a")
        asked = await flood.hear()

    assert {each["message"] for each in kept} == {"kept"}
    assert watch.standing.refused == {"aria.engine": "day"}
    _TO_ENGINE.validate(refused)
    assert (refused["message"], refused["id"]) == ("refused", "over")
    assert refused["reason"] == "not_stored"
    assert "over its bounds" in refused["detail"]
    assert taken == {"message": "kept", "id": "other"}
    assert asked["message"] == "action"
    assert len(await logged(broker, 60)) == 60
    assert len(await logged(broker, 1, "ben")) == 1


async def test_a_revoked_source_is_noticed(broker: Broker) -> None:
    """So that the bridge ends, and does not wait for ever."""
    async with bridged(broker) as running:
        assert not running.is_refused
        await remove_sensor(broker.server.folder, "aria", "engine")
        await until(lambda: running.is_refused, "the connection is closed")
