"""Kill -9 while responses wait for a break: none is lost, and none is spoken twice."""

import asyncio
import random
from collections import Counter
from collections.abc import AsyncIterator, Callable
from multiprocessing.process import BaseProcess
from pathlib import Path

import orjson
import pytest

from bench.beside import beside
from schemas.codec.encode import write_input
from schemas.messages.controls import HeuristicSeeded
from schemas.messages.executive import BreakSignalled, UserStateChanged
from schemas.values.record import Record, Wire
from schemas.values.subjects import ALL_PARTITIONS, partition_of
from streams.log import scan
from tests.crash.conftest import Running
from tests.crash.speaking_process import begun
from tests.crash.worker_process import serve_for_ever
from tests.factories import plain_executive
from tests.minds import publish, sensed, started, until
from tests.servers import Broker, fresh_broker

pytestmark = [pytest.mark.crash, pytest.mark.services, pytest.mark.slow]

ADA = "ada"
OCCASIONS = (
    "the oven is hot",
    "letters lie in the mailbox",
    "the car has no fuel",
    "a bird sings outside",
)
SETTINGS = started(
    relevance=0.0, ttl_s=600.0, executive=plain_executive(timing=True, speech=True)
)
SETTLE_S = 120.0


@pytest.fixture
async def broker() -> AsyncIterator[Broker]:
    """A real server with an empty log."""
    async with fresh_broker() as running:
        yield running


def beginnings() -> list[Wire]:
    """What to say on each occasion, which takes a second; and that nobody listens now."""
    known = [
        HeuristicSeeded(
            heuristic_id=f"h{place}",
            name=f"h{place}",
            domain="cam",
            condition=text,
            text=f"[1] {text}",
            confidence=0.9,
        )
        for place, text in enumerate(OCCASIONS)
    ]
    return [*map(control, known), control(UserStateChanged(busy=True))]


def control(message: HeuristicSeeded | UserStateChanged | BreakSignalled) -> Wire:
    """A control of Ada's."""
    id_ = getattr(message, "heuristic_id", message.token)
    return write_input(
        message, agent=ADA, partition=partition_of(ADA), id_=id_, source="/test"
    )


async def found(broker: Broker, detail: str) -> list[Record]:
    """All of Ada's records of a sort, such as `out.ada.decision.held`."""
    direction, _, rest = detail.partition(".")
    return [
        each async for each in scan(broker.reader, f"ev.*.{direction}.{ADA}.{rest}")
    ]


async def some(broker: Broker, detail: str, count: int) -> list[Record]:
    """The records of a sort, once there are so many."""
    async with asyncio.timeout(SETTLE_S):
        while True:
            records = await found(broker, detail)
            if len(records) >= count:
                return records
            await asyncio.sleep(0.05)


async def begins(broker: Broker) -> None:
    """Wait until the mind of each partition has begun: without settings nothing is asked."""
    waiting = set(ALL_PARTITIONS)
    following = broker.reader.follow("ev.*.in._.control.mind_started", 0, 1)
    async with asyncio.timeout(SETTLE_S):
        while waiting:
            records = await anext(following)
            waiting -= {int(each.subject.split(".")[1]) for each in records}
    await following.aclose()


@pytest.mark.timeout(240)
async def test_what_waits_is_said_once(
    broker: Broker,
    tmp_path: Path,
    moments: random.Random,
    running: Running,
    kill: Callable[[BaseProcess], None],
) -> None:
    """Killed while responses are held, while they are released, and while one is spoken."""
    score = tmp_path / "score"
    serving = (serve_for_ever, broker.server.core, SETTINGS, str(score))
    events = [sensed(ADA, f"e{n}", text) for n, text in enumerate(OCCASIONS)]
    with running(*serving) as process:
        await begins(broker)
        await publish(broker.writer, beginnings())
        told = publish(broker.writer, events)
        async with beside(told, may_end=True) as (publishing,):
            await some(broker, "out.decision.held", moments.randint(1, len(OCCASIONS)))
            kill(process)
            await publishing
    with running(*serving) as process:
        held = await some(broker, "out.decision.held", len(OCCASIONS))
        assert begun(score) == []
        await publish(broker.writer, [control(BreakSignalled())])
        if moments.random() < 0.5:
            await some(broker, "out.ask.delivery_asked", 1)
        else:
            await until(lambda: bool(begun(score)), "it speaks")
            await asyncio.sleep(moments.uniform(0, 0.5))
        kill(process)

    with running(*serving):
        asks = await some(broker, "out.ask.delivery_asked", len(OCCASIONS))
        ends = await some_ends(broker, len(asks))

    completed = await found(broker, "out.decision.completed")
    assert decisions(completed) == decisions(held) == decisions(asks)
    assert set(Counter(begun(score)).values()) == {1}
    reasons = Counter(ends.values())
    assert set(reasons) <= {"delivered", "unknown"}
    assert reasons["unknown"] <= 1
    assert sorted(ends) == sorted(each.headers["ce-id"] for each in asks)
    # What had not begun when it was killed was said afterwards.
    spoken = {
        orjson.loads(each.body)["text"]
        for each in asks
        if ends[each.headers["ce-id"]] == "delivered"
    }
    assert spoken <= set(begun(score))


def decisions(records: list[Record]) -> list[str]:
    """The decisions that records are of, sorted; one that is there twice is twice."""
    return sorted(orjson.loads(each.body)["decision_id"] for each in records)


async def some_ends(broker: Broker, count: int) -> dict[str, str]:
    """How each ask ended, once so many have; no ask has two ends."""
    async with asyncio.timeout(SETTLE_S):
        while True:
            results = await found(broker, "in.result.>")
            ends = {}
            for each in results:
                body, token = orjson.loads(each.body), each.subject.split(".")[5]
                if token != "delivery_begun":
                    assert body["ask_id"] not in ends
                    is_failure = token == "delivery_failed"
                    ends[body["ask_id"]] = body["reason"] if is_failure else token
            if len(ends) >= count:
                return ends
            await asyncio.sleep(0.05)
