"""Kill -9 while the memory is asked: each of a person's words is answered once."""

import asyncio
import random
from collections import Counter
from collections.abc import AsyncIterator, Callable
from multiprocessing.process import BaseProcess

import orjson
import pytest

from bench.beside import beside
from handlers.state_sources import state_code
from handlers.worker.recovery import Recovery
from schemas.values.model_settings import ModelSettings
from schemas.values.record import Wire
from schemas.values.subjects import input_subject, partition_of
from tests.crash.conftest import Running
from tests.crash.test_deferred_kills import begins
from tests.crash.test_kills import assert_it_replays, everything, settled
from tests.crash.worker_process import SlowMemory, serve_for_ever, serving
from tests.factories import plain_executive
from tests.minds import bringer, publish, started
from tests.patience import PATIENCE_S
from tests.servers import Broker, fresh_broker

pytestmark = [pytest.mark.crash, pytest.mark.services, pytest.mark.slow]

ADA = "ada"
KILLS = 3
WORDS = 6
"""What a person says before each kill."""
SETTINGS = started(
    relevance=0.0,
    model=ModelSettings(name="quick"),
    ttl_s=600.0,
    executive=plain_executive(prompt_tokens=500, recall=True),
)


@pytest.fixture
async def broker() -> AsyncIterator[Broker]:
    """A real server with an empty log."""
    async with fresh_broker() as running:
        yield running


def said(burst: int) -> list[Wire]:
    """Words of a person."""
    subject = input_subject(partition_of(ADA), ADA, "sensor", "user.message")
    texts = [f"where is key {burst}-{number}?" for number in range(WORDS)]
    return [
        Wire(subject, {"ce-id": text}, orjson.dumps({"text": text, "person": "kim"}))
        for text in texts
    ]


async def asks_of_the_memory(broker: Broker, count: int) -> None:
    """Wait until the memory was asked so often."""
    following = broker.reader.follow("ev.*.out.*.ask.recall_asked", 0, 1)
    async with asyncio.timeout(PATIENCE_S):
        for _ in range(count):
            await anext(following)
    await following.aclose()


@pytest.mark.timeout(180)
async def test_words_are_answered_once_though_the_memory_is_cut_off(
    broker: Broker,
    moments: random.Random,
    running: Running,
    kill: Callable[[BaseProcess], None],
) -> None:
    """With what was remembered or without; none waits for a memory that died."""
    serving_of = (broker.server.core, SETTINGS, None, SlowMemory())
    for burst in range(KILLS):
        with running(serve_for_ever, *serving_of) as process:
            await begins(broker)
            told = publish(broker.writer, said(burst))
            async with beside(told, may_end=True) as (publishing,):
                asked = burst * WORDS + moments.randint(1, WORDS)
                await asks_of_the_memory(broker, asked)
                await asyncio.sleep(moments.uniform(0, 0.15))
                kill(process)
                await publishing
    async with serving(*serving_of):
        await settled(broker)

    recalls = await bodies(broker, "ask.recall_asked")
    assert len(recalls) == KILLS * WORDS
    calls = [
        each["recall_id"] for each in (await bodies(broker, "ask.model_asked")).values()
    ]
    assert sorted(calls) == sorted(recalls)
    decisions = await bodies(broker, "decision.decided")
    made = {each["event_id"]: id_ for id_, each in decisions.items()}
    assert len(made) == KILLS * WORDS
    ends = await bodies(broker, "decision.completed")
    answered = Counter(each["decision_id"] for each in ends.values())
    assert answered == Counter(made.values())
    deliveries = await bodies(broker, "ask.delivery_asked")
    assert Counter(each["decision_id"] for each in deliveries.values()) == answered
    await assert_nobody_waits(broker)
    await assert_it_replays(broker, partition_of(ADA))


async def bodies(broker: Broker, detail: str) -> dict[str, dict[str, str]]:
    """All outputs of a sort, by id."""
    records = await everything(broker, f"ev.*.out.{ADA}.{detail}")
    return {each.headers["ce-id"]: orjson.loads(each.body) for each in records}


async def assert_nobody_waits(broker: Broker) -> None:
    """Nothing is pending in the mind."""
    code = state_code(SETTINGS.digests.embedder)
    recovery = Recovery(broker.reader, bringer(broker.reader), None, code)
    state = (await recovery.recover(partition_of(ADA))).state
    assert not state.agents[ADA].pending
