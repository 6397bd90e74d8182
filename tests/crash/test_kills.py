"""Kill -9 at random moments of a session: nothing is lost, nothing is decided twice."""

import asyncio
import random
from collections import Counter
from collections.abc import AsyncIterator, Callable
from contextlib import suppress
from multiprocessing.process import BaseProcess

import nats.errors
import orjson
import pytest

from bench.beside import beside
from handlers.state_sources import state_code
from handlers.worker.recovery import Recovery
from replay.verify import Span, verify
from schemas.codec import checkpoint as codec
from schemas.codec.encode import write_input
from schemas.messages.asks import WakeupSet
from schemas.messages.controls import HeuristicSeeded, SessionStarted
from schemas.values.record import Record, Wire
from schemas.values.subjects import partition_of
from streams.audit import Audit, audit
from streams.errors import LogUnavailable
from streams.groups import groups
from streams.jetstream.checkpoints import JetStreamCheckpoints
from streams.jetstream.consumers import CONSUMERS
from streams.jetstream.migrate import close_intake
from streams.log import scan
from streams.topology import LOG
from tests.crash.conftest import Running
from tests.crash.worker_process import SETTINGS, serve_for_ever, serving
from tests.minds import bringer, publish, sensed
from tests.patience import PATIENCE_S
from tests.servers import Broker, fresh_broker

pytestmark = [pytest.mark.crash, pytest.mark.services, pytest.mark.slow]

KILLS = 20
BURST = 40
"""Events for each kill."""
AGENTS = ("ada", "bob")


@pytest.fixture
async def broker() -> AsyncIterator[Broker]:
    """A real server with an empty log, which takes nothing from sensors yet."""
    async with fresh_broker() as running:
        await close_intake(running.client)
        yield running


@pytest.mark.timeout(180)
async def test_a_worker_that_is_killed_goes_on(
    broker: Broker,
    moments: random.Random,
    running: Running,
    kill: Callable[[BaseProcess], None],
) -> None:
    """Twenty kills of the worker and its effects leave a log without a fault."""
    await publish(broker.writer, beginnings())
    for burst in range(KILLS):
        with running(serve_for_ever, broker.server.core) as process:
            told = send(broker, events(burst))
            async with beside(told, may_end=True) as (publishing,):
                await some_outputs(broker, moments.randint(1, 2 * BURST))
                await asyncio.sleep(moments.uniform(0, 0.01))
                kill(process)
                await publishing

    async with serving(broker.server.core):
        await settled(broker)

    await assert_nothing_is_amiss(broker)


@pytest.mark.timeout(180)
async def test_a_broker_that_is_killed_comes_back(
    broker: Broker, moments: random.Random
) -> None:
    """Twenty kills of the broker under a running worker leave a log without a fault."""
    await publish(broker.writer, beginnings())
    async with serving(broker.server.core):
        for burst in range(KILLS):
            told = publish(broker.writer, events(burst))
            async with beside(told, may_end=True) as (publishing,):
                await asyncio.sleep(moments.uniform(0, 0.15))
                await broker.server.kill()
                await broker.server.restart()
                await publishing
        await settled(broker)

    await assert_nothing_is_amiss(broker)


def beginnings() -> list[Wire]:
    """A session for each agent, and something they know how to answer."""
    return [
        write_input(
            message, agent=agent, partition=partition_of(agent), id_=id_, source="/test"
        )
        for agent in AGENTS
        for id_, message in (
            ("start", SessionStarted(session_id="s")),
            (
                "teach",
                HeuristicSeeded(
                    heuristic_id="greet",
                    name="greet",
                    domain="cam",
                    condition="a visitor came in",
                    text="Good morning!",
                    confidence=0.9,
                ),
            ),
        )
    ]


def events(burst: int) -> list[Wire]:
    """Events of both agents: visitors, and now and then what only a model can answer."""
    texts = ("a visitor came in", "the kettle whistles in the kitchen", "rain")
    return [
        sensed(
            AGENTS[number % 2],
            f"event-{burst}-{number}",
            f"{texts[number % 3]} {number}",
            salience={"threat": 0.9},
        )
        for number in range(BURST)
    ]


async def send(broker: Broker, wires: list[Wire]) -> None:
    """Publish events as sensors do: they come into the log once it takes them."""
    jetstream = broker.client.jetstream()
    for wire in wires:
        agent, _, sort = wire.subject.split(".", 3)[3].split(".", 2)
        subject = f"in.{agent}.{sort}"
        await jetstream.publish(subject, wire.body, headers=dict(wire.headers))


async def some_outputs(broker: Broker, count: int) -> None:
    """Wait until so many more outputs are in the log."""
    last = await broker.reader.last_sequence("ev.*.out.>")
    following = broker.reader.follow("ev.*.out.>", last, 1)
    async with asyncio.timeout(PATIENCE_S):
        for _ in range(count):
            await anext(following)
    await following.aclose()


async def settled(broker: Broker) -> Audit:
    """Wait until every input is answered, every ask has its result, and no ask is in hand.

    One that a killed effect had in hand is handed over again after a while, and its second
    result is an input, too.
    """
    async with asyncio.timeout(PATIENCE_S):
        while True:
            with suppress(LogUnavailable, nats.errors.Error):
                in_hand = await asks_in_hand(broker)
                found = await audit(broker.reader)
                is_done = not in_hand and not await asks_without_result(broker)
                if found.sound and is_done:
                    return found


async def asks_in_hand(broker: Broker) -> int:
    """How many asks wait for an effect, or for its word that they are done."""
    jetstream = broker.client.jetstream()
    infos = [
        await jetstream.consumer_info(LOG.name, spec.durable) for spec in CONSUMERS
    ]
    return sum((info.num_pending or 0) + (info.num_ack_pending or 0) for info in infos)


async def asks_without_result(broker: Broker) -> set[str]:
    """The ids of asks that nothing answered yet."""
    asked = {
        record.headers["ce-id"]
        for record in await everything(broker, "ev.*.out.*.ask.>")
        # Of that no result comes: it is for a world.
        if not record.subject.endswith(WakeupSet.token)
    }
    results = await everything(broker, "ev.*.in.*.result.>")
    return asked - {orjson.loads(record.body)["ask_id"] for record in results}


async def everything(broker: Broker, subjects: str) -> list[Record]:
    """All records of a filter."""
    return [each async for each in scan(broker.reader, subjects)]


async def assert_nothing_is_amiss(broker: Broker) -> None:
    """No event is lost or decided twice, and the log replays to the same bytes."""
    found = await audit(broker.reader)
    assert found.sound
    assert found.faults == 0
    decided = Counter(
        (record.subject.split(".")[3], orjson.loads(record.body)["event_id"])
        for record in await everything(broker, "ev.*.out.*.decision.decided")
    )
    assert set(decided.values()) == {1}
    assert len(decided) == KILLS * BURST
    ends = Counter(
        orjson.loads(record.body)["decision_id"]
        for record in (
            *await everything(broker, "ev.*.out.*.decision.completed"),
            *await everything(broker, "ev.*.out.*.decision.dropped"),
        )
    )
    assert set(ends.values()) == {1}
    for agent in AGENTS:
        await assert_it_replays(broker, partition_of(agent))


async def assert_it_replays(broker: Broker, partition: int) -> None:
    """A replay gives every output again, and a fold of all gives the worker's state."""
    verification = await verify(broker.reader, Span(partition), bringer(broker.reader))
    assert verification.divergence is None
    assert verification.is_identical
    assert verification.inputs == len(
        [_ async for _ in groups(broker.reader, partition)]
    )
    code = state_code(SETTINGS.digests.embedder)
    aids, checkpoints = bringer(broker.reader), JetStreamCheckpoints(broker.client)
    kept = await Recovery(broker.reader, aids, checkpoints, code).recover(partition)
    whole = await Recovery(broker.reader, aids, None, code).recover(partition)
    assert codec.dump(kept.state) == codec.dump(whole.state)
