"""The effects against a real broker: asks out of the log, results into it."""

import asyncio
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime

import orjson
import pytest
from msgspec import structs
from nats.aio.msg import Msg

from bench.beside import beside
from handlers.broker import faststream_broker, start
from handlers.effects.completions import Completion
from handlers.effects.models import Model
from handlers.effects.perform import Performer
from handlers.effects.subscribers import Effects
from schemas.codec.catalogue import AskMessage
from schemas.codec.decode import read_input
from schemas.codec.encode import write_output
from schemas.codec.envelope import Mark
from schemas.messages.asks import DeliveryAsked, ModelAsked, StopAsked
from schemas.messages.results import Delivered
from schemas.values import ids as identity
from schemas.values.record import Record
from schemas.values.subjects import partition_of
from streams.jetstream.consumers import prepare_consumers
from streams.log import GroupWrite, ReadableLog
from tests.minds import until
from tests.patience import PATIENCE_S
from tests.servers import Broker, opened

pytestmark = pytest.mark.services

ADA = "ada"
PARTITION = partition_of(ADA)
NOON = datetime(2020, 1, 1, 12, tzinfo=UTC)  # the agent's, long ago by the broker's
CAUSE = "the door opened"
"""The id of the event behind all of it."""


@dataclass
class SlowModel:
    """A model that answers when it is let."""

    prompts: list[str] = field(default_factory=list)
    headers: list[Mapping[str, str]] = field(default_factory=list)
    let: asyncio.Event = field(default_factory=asyncio.Event)

    async def prepare(self) -> None:
        """It is ready, and keeps nothing open."""

    close = prepare

    async def complete(
        self, asked: ModelAsked, *, deadline_s: float, headers: Mapping[str, str]
    ) -> Completion:
        """Answer with the prompt."""
        self.prompts.append(asked.prompt)
        self.headers.append(headers)
        await self.let.wait()
        return Completion(text=f"To {asked.prompt}", model="slow", latency_ms=1.0)


@dataclass
class SlowOutlet:
    """A connection that lets words out when it is let."""

    broker: Broker
    bodies: list[str] = field(default_factory=list)
    let: asyncio.Event = field(default_factory=asyncio.Event)

    async def publish(
        self,
        subject: str,
        payload: bytes = b"",
        reply: str = "",
        headers: dict[str, str] | None = None,
    ) -> None:
        """Send when let."""
        self.bodies.append(orjson.loads(payload)["text"])
        await self.let.wait()
        await self.broker.client.publish(subject, payload, reply, headers)

    async def flush(self, timeout: int = 5) -> None:
        """Wait for the broker."""
        await self.broker.client.flush(timeout)


def model_asked(prompt: str, priority: float = 0.5, ttl_s: float = 30.0) -> ModelAsked:
    """An ask for words."""
    return ModelAsked(
        decision_id="d",
        priority=priority,
        expires_at=NOON,
        ttl_s=ttl_s,
        model="slow",
        system="",
        prompt=prompt,
        temperature=0.0,
        max_tokens=10,
        deadline_s=30.0,
        channel="say",
        response_type="observation",
        request_hash="hash",
    )


def delivery_asked(
    text: str, priority: float = 0.5, ttl_s: float = 30.0
) -> DeliveryAsked:
    """An ask to say something."""
    return DeliveryAsked(
        decision_id="d",
        priority=priority,
        expires_at=NOON,
        ttl_s=ttl_s,
        event_id=CAUSE,
        channel="say",
        text=text,
        response_type="alert",
        urgency=0.5,
        path="heuristic",
    )


async def ask(broker: Broker, *asks: AskMessage | StopAsked) -> list[str]:
    """Put asks into the log as the mind would, and return their ids."""
    last = await broker.reader.last_sequence(f"ev.{PARTITION}.out.>")
    wires = []
    for index, message in enumerate(asks):
        mark = Mark(cause_sequence=last, cause_id=CAUSE, index=index, count=len(asks))
        wire = write_output(
            message,
            agent=ADA,
            partition=PARTITION,
            epoch=broker.reader.epoch,
            mark=mark,
            at=NOON,
        )
        wires.append(wire)
    await broker.writer.commit([GroupWrite(PARTITION, last, tuple(wires))])
    return [wire.headers["ce-id"] for wire in wires]


async def results(broker: Broker, count: int) -> Sequence[Record]:
    """Wait for so many results, and return all there are."""
    found: list[Record] = []
    async with asyncio.timeout(PATIENCE_S):
        async for page in broker.reader.follow(f"ev.{PARTITION}.in.>", 0, 100):
            found += page
            if len(found) >= count:
                return found
    raise AssertionError("the log ended")


def said(record: Record) -> tuple[str, str]:
    """What a result is, and which ask it answers."""
    return record.subject.split(".")[5], orjson.loads(record.body)["ask_id"]


@asynccontextmanager
async def performing(
    broker: Broker,
    model: Model | None = None,
    outlet: SlowOutlet | None = None,
    log: ReadableLog | None = None,
    found: Mapping[int, int] | None = None,
) -> AsyncIterator[Effects]:
    """Effects that run for the length of the block."""
    await prepare_consumers(broker.client)
    subscriber = faststream_broker(broker.server.core)
    reader, outlet_ = log or broker.reader, outlet or broker.client
    performer = Performer(reader, broker.writer, outlet_, model, found=found or {})
    effects = Effects(performer)
    effects.subscribe(subscriber)
    await start(subscriber)
    try:
        async with effects.serving():
            yield effects
    finally:
        await subscriber.stop()


@asynccontextmanager
async def calling(broker: Broker, model: Model) -> AsyncIterator[Effects]:
    """Effects of another process, which only call models, for the length of the block."""
    async with opened(broker.server) as own:
        subscriber = faststream_broker(broker.server.core)
        effects = Effects(Performer(own.reader, own.writer, own.client, model))
        effects.subscribe_to_calls(subscriber)
        await start(subscriber)
        try:
            async with beside(effects.heed_stops(own.reader)), effects.serving():
                yield effects
        finally:
            await subscriber.stop()


async def test_calls_of_models_are_shared_with_other_processes(broker: Broker) -> None:
    """Each is made by one of them and answered once; what is said stays in one place."""
    here, there = SlowModel(), SlowModel()
    here.let.set()
    there.let.set()
    prompts = [f"prompt {number}" for number in range(40)]
    async with performing(broker, here), calling(broker, there):
        heard = await broker.client.subscribe("out.>")
        for prompt in prompts:
            await ask(broker, model_asked(prompt))
            await asyncio.sleep(0.01)
        await ask(broker, delivery_asked("Dusk."))
        found = await results(broker, len(prompts) + 1)
        message = await heard.next_msg(timeout=PATIENCE_S)

    assert sorted(here.prompts + there.prompts) == sorted(prompts)
    assert here.prompts
    assert there.prompts
    assert len({said(each)[1] for each in found}) == len(prompts) + 1
    assert orjson.loads(message.data)["text"] == "Dusk."


async def test_a_models_answer_becomes_an_input(broker: Broker) -> None:
    """The answer names its ask; the request bears the trace of the event."""
    model = SlowModel()
    model.let.set()
    async with performing(broker, model):
        [ask_id] = await ask(broker, model_asked("the door"))
        [answer] = await results(broker, 1)

    body = orjson.loads(answer.body)
    assert said(answer) == ("model_answered", ask_id)
    assert (body["text"], body["request_hash"]) == ("To the door", "hash")
    [traceparent] = [headers["traceparent"] for headers in model.headers]
    assert traceparent.split("-")[1] == identity.trace_id(CAUSE)


async def test_a_delivery_goes_out_and_is_recorded(broker: Broker) -> None:
    """Whoever listens hears what was decided, under the id of the ask."""
    heard: list[Msg] = []

    async def listen(message: Msg) -> None:
        heard.append(message)

    await broker.client.subscribe("out.ada.>", cb=listen)
    async with performing(broker):
        [ask_id] = await ask(broker, delivery_asked("Mind the step."))
        [delivered] = await results(broker, 1)
    await until(lambda: len(heard) == 1, "it is heard")

    assert said(delivered) == ("delivered", ask_id)
    measured = read_input(delivered).message
    assert isinstance(measured, Delivered)
    assert measured.started_at is not None
    assert measured.started_at <= delivered.recorded_at
    assert (measured.latency_ms or 0.0) > 0.0
    assert heard[0].subject == "out.ada.say"
    assert heard[0].headers is not None
    assert heard[0].headers["ce-id"] == ask_id
    assert heard[0].headers["traceparent"].split("-")[1] == identity.trace_id(CAUSE)
    assert orjson.loads(heard[0].data) == {
        "decision_id": "d",
        "event_id": CAUSE,
        "text": "Mind the step.",
        "type": "alert",
        "urgency": 0.5,
        "path": "heuristic",
        "action": None,
        "expires_at": "2020-01-01T12:00:00.000000Z",
        "ttl_s": 30.0,
    }


async def test_what_is_stale_is_not_said(broker: Broker) -> None:
    """An ask that waited too long, by the broker's time, fails as expired."""
    ids = await ask(broker, delivery_asked("Too late.", ttl_s=0.001))
    outlet = SlowOutlet(broker)
    async with performing(broker, outlet=outlet):
        [failed] = await results(broker, 1)

    assert said(failed) == ("delivery_failed", ids[0])
    assert orjson.loads(failed.body)["reason"] == "expired"
    assert outlet.bodies == []


async def test_afterthoughts_hold_no_place_that_answers_need(broker: Broker) -> None:
    """However many rules a slow model is asked for, three answers are asked at once."""
    model = SlowModel()
    rules = [
        structs.replace(
            model_asked(f"rule {number}", priority=-1.0), purpose="formation"
        )
        for number in range(4)
    ]
    async with performing(broker, model) as running:
        await ask(broker, *rules)
        await until(lambda: len(running.in_hand) == 4, "all rules are in hand")
        await until(lambda: len(model.prompts) == 1, "one is asked for")
        await ask(broker, *(model_asked(f"answer {number}") for number in range(3)))
        await until(lambda: len(model.prompts) == 4, "every answer is asked for")
        model.let.set()
        await results(broker, 7)

    assert sum(prompt.startswith("rule") for prompt in model.prompts[:4]) == 1


async def test_a_threats_model_call_starts_first(broker: Broker) -> None:
    """With three slots held, a threat is asked before trivial asks that came earlier."""
    model = SlowModel()
    async with performing(broker, model) as running:
        await ask(broker, *(model_asked(f"trifle {n}") for n in range(6)))
        await until(lambda: len(model.prompts) == 3, "all slots are held")
        await ask(broker, model_asked("a wolf", priority=1.95))
        await until(lambda: len(running.in_hand) == 7, "all asks are in hand")
        held = len(model.prompts)
        model.let.set()
        await results(broker, 7)

    assert held == 3
    assert model.prompts[3] == "a wolf"


async def test_a_threats_delivery_starts_first(broker: Broker) -> None:
    """With all slots held, a threat is said before trifles that came earlier."""
    outlet = SlowOutlet(broker)
    async with performing(broker, outlet=outlet) as running:
        await ask(broker, *(delivery_asked(f"trifle {n}") for n in range(8)))
        await until(lambda: len(outlet.bodies) == 4, "all slots are held")
        await ask(broker, delivery_asked("A wolf!", priority=1.95))
        await until(lambda: len(running.in_hand) == 9, "all asks are in hand")
        outlet.let.set()
        await results(broker, 9)

    assert outlet.bodies[4] == "A wolf!"


async def test_an_ask_cut_off_is_performed_by_the_next(broker: Broker) -> None:
    """Effects that end in the middle of a call leave the ask to their successors."""
    first, second = SlowModel(), SlowModel()
    async with performing(broker, first):
        [ask_id] = await ask(broker, model_asked("the door"))
        await until(lambda: len(first.prompts) == 1, "the model is asked")
    second.let.set()
    async with performing(broker, second):
        found = await results(broker, 1)

    assert [said(each) for each in found] == [("model_answered", ask_id)]
    assert second.prompts == ["the door"]


async def test_a_repeated_ask_with_a_result_is_not_performed(broker: Broker) -> None:
    """An ask whose acknowledgement was lost is looked up, not performed again."""
    model, again = SlowModel(), SlowModel()
    model.let.set()
    async with performing(broker, model):
        [ask_id] = await ask(broker, model_asked("the door"))
        await results(broker, 1)
        await until_acknowledged(broker, "effects-model")
    # A consumer made anew hands over everything, as if nothing had been acknowledged.
    await broker.client.jetstream().delete_consumer("LOG", "effects-model")
    await prepare_consumers(broker.client)
    held = await broker.client.jetstream().pull_subscribe_bind("effects-model", "LOG")
    for message in await held.fetch(1):
        await message.nak()
    async with performing(broker, again):
        await until_acknowledged(broker, "effects-model")

    assert [said(each) for each in await results(broker, 1)] == [
        ("model_answered", ask_id)
    ]
    assert again.prompts == []


async def test_an_old_ask_with_a_result_is_not_performed_again(broker: Broker) -> None:
    """The consumers of a restored log begin anew: what the log has a result of is done."""
    model, again = SlowModel(), SlowModel()
    model.let.set()
    again.let.set()
    async with performing(broker, model):
        [done] = await ask(broker, model_asked("the door"))
        await results(broker, 1)
        await until_acknowledged(broker, "effects-model")
    [left] = await ask(broker, model_asked("the window"))
    await broker.client.jetstream().delete_consumer("LOG", "effects-model")
    last = await broker.reader.last_sequence(f"ev.{PARTITION}.out.>")
    async with performing(broker, again, found={PARTITION: last}):
        found = await results(broker, 2)
        await until_acknowledged(broker, "effects-model")

    assert sorted(said(each)[1] for each in found) == sorted([done, left])
    assert again.prompts == ["the window"]


async def until_acknowledged(broker: Broker, durable: str) -> None:
    """Wait until a consumer has nothing left to hand over or to hear of."""
    async with asyncio.timeout(PATIENCE_S):
        while True:
            info = await broker.client.jetstream().consumer_info("LOG", durable)
            if info.num_pending == 0 and info.num_ack_pending == 0:
                return
