"""Agents tell each other something: the contract of the effect, against a real broker."""

from typing import Any

import orjson
import pytest
from msgspec import structs

from handlers.effects import results as effect_results
from replay.agent_messages import strays_of_log
from schemas.codec.agent_events import event_id
from schemas.codec.decode import read_input
from schemas.codec.encode import write_input
from schemas.messages.arms import Action
from schemas.messages.asks import DeliveryAsked
from schemas.messages.controls import SessionEnded, SessionStarted
from schemas.messages.notes import Handled
from schemas.messages.sensing import Sensed
from schemas.values.record import Record, Wire
from schemas.values.subjects import SubjectError, partition_of
from streams.jetstream.accounts import SensorAccess
from streams.log import scan
from tests.handlers.effects.test_effects import (
    ask,
    delivery_asked,
    performing,
    results,
    said,
)
from tests.minds import publish
from tests.scenario import Scenario, names, one
from tests.servers import Broker

BOB = "bob"


def told(
    text: str, target: str | None = BOB, type_: str = "heard", **params: Any
) -> Any:
    """An ask to tell another agent something."""
    asked: DeliveryAsked = structs.replace(
        delivery_asked(text),
        channel="agent",
        output="action",
        action=Action(type=type_, target=target, params=params),
    )
    return asked


async def received(broker: Broker) -> list[Record]:
    """What the other agent's log holds."""
    subject = f"ev.{partition_of(BOB)}.in.{BOB}.sensor.>"
    return [record async for record in scan(broker.reader, subject)]


@pytest.mark.services
async def test_it_becomes_an_event_of_the_receiver(broker: Broker) -> None:
    """With an id of the ask's, its sender, and a time; the sender's log says delivered."""
    async with performing(broker):
        [ask_id] = await ask(
            broker, told("Hello!", distance=3.0, agent="somebody_else")
        )
        [delivered] = await results(broker, 1)
    [record] = await received(broker)

    assert said(delivered) == ("delivered", ask_id)
    event = read_input(record).message
    assert isinstance(event, Sensed)
    assert (event.source, event.type, event.text) == ("agent", "heard", "Hello!")
    assert event.fields["agent"] == "ada"
    assert event.fields["distance"] == 3.0
    assert record.headers["ce-id"] == event_id(broker.reader.epoch, ask_id)
    assert record.sequence < delivered.sequence
    assert [each async for each in strays_of_log(broker.reader)] == []

    forged = {**orjson.loads(record.body), "text": "Give me your gold!"}
    headers = {**record.headers, "ce-id": "forged"}
    wire = Wire(record.subject, headers, orjson.dumps(forged))
    sequence = await broker.writer.append(wire, "forged")
    [stray] = [each async for each in strays_of_log(broker.reader)]
    assert (stray.agent, stray.sequence) == (BOB, sequence)


@pytest.mark.services
async def test_a_senders_words_come_in_order(broker: Broker) -> None:
    """One at a time, whatever their priority; the counter rises."""
    asks = [structs.replace(told(f"Word {n}."), priority=float(n)) for n in range(20)]
    async with performing(broker):
        await ask(broker, *asks)
        await results(broker, 20)
    events = [orjson.loads(record.body) for record in await received(broker)]

    assert [each["text"] for each in events] == [f"Word {n}." for n in range(20)]
    counts = [each["fields"]["count"] for each in events]
    assert counts == sorted(set(counts))


@pytest.mark.services
async def test_a_kill_in_between_neither_loses_nor_doubles(
    broker: Broker, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What was told, and not recorded as told, is told again under the same id."""
    append = effect_results.append
    failures = ["killed"]

    async def killed(*args: Any, **named: Any) -> int:
        if failures:
            raise RuntimeError(failures.pop())
        return await append(*args, **named)

    monkeypatch.setattr(effect_results, "append", killed)
    async with performing(broker):
        [ask_id] = await ask(broker, told("Hello!"))
        [delivered] = await results(broker, 1)

    assert failures == []
    assert said(delivered) == ("delivered", ask_id)
    records = await received(broker)
    ids = {record.headers["ce-id"] for record in records}
    assert ids == {event_id(broker.reader.epoch, ask_id)}
    # The log may hold it twice; its receiver's mind knows a repeat by the id.
    mind = Scenario(agent=BOB)
    first, again = (
        mind.take(each.subject, each.body, each.headers)
        for each in (records[0], records[-1])
    )
    assert names(first)[0] == "Decided"
    assert one(again, Handled).reason == "duplicate"


@pytest.mark.services
async def test_what_cannot_be_told_is_refused(broker: Broker) -> None:
    """To no agent, as no event, or as a control; without a target it is a channel as others."""
    asks = (
        told("x", target="_"),
        told("x", target="not an agent"),
        told("x", type_="a.b"),
        told("x", type_="control"),
        told("x", type_="feedback"),
        told("x", target=None),
    )
    async with performing(broker):
        ids = await ask(broker, *asks)
        found = {id_: what for what, id_ in map(said, await results(broker, 6))}

    assert [found[each] for each in ids] == ["delivery_failed"] * 5 + ["delivered"]
    assert await received(broker) == []


def test_no_sensor_may_speak_as_an_agent() -> None:
    """The source is closed to sensors' accounts."""
    with pytest.raises(SubjectError, match="agent"):
        SensorAccess("bob", "agent", "secret")


@pytest.mark.services
@pytest.mark.parametrize(
    ("ours", "theirs", "is_told"),
    [
        (None, None, True),
        ({"clock": "event", "world": "day"}, {"clock": "event", "world": "day"}, True),
        ({"clock": "event", "world": "day"}, {"clock": "event", "world": "x"}, False),
        ({"clock": "event", "world": "day"}, None, False),
        (None, {"clock": "event"}, False),
        ({"clock": "broker", "world": "day"}, None, True),
    ],
)
async def test_nobody_is_told_the_time_of_another_world(
    broker: Broker, ours: Any, theirs: Any, is_told: bool
) -> None:
    """An agent on another clock hears nothing, and its sender's log says why."""
    starts = {"ada": ours, BOB: theirs}
    await publish(
        broker.writer, [_start(who, how) for who, how in starts.items() if how]
    )
    async with performing(broker):
        await ask(broker, told("Hello!"))
        result = (await results(broker, 1 + bool(ours)))[-1]

    assert len(await received(broker)) == is_told
    body = orjson.loads(result.body)
    assert body.get("reason") == (None if is_told else "other_clock")


@pytest.mark.services
async def test_a_session_that_ended_leaves_its_clock(broker: Broker) -> None:
    """After it the agent has the broker's time again."""
    start = _start(BOB, {"clock": "event", "world": "day"})
    end = write_input(
        SessionEnded(), agent=BOB, partition=partition_of(BOB), id_="end", source="/t"
    )
    await publish(broker.writer, [start, end])
    async with performing(broker):
        await ask(broker, told("Hello!"))
        [result] = await results(broker, 1)

    assert said(result)[0] == "delivered"


def _start(agent: str, how: dict[str, Any]) -> Wire:
    started = SessionStarted(session_id="s", **how)
    place = partition_of(agent)
    id_ = f"start-{agent}"
    return write_input(started, agent=agent, partition=place, id_=id_, source="/t")
