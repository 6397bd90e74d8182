"""Kill -9 while characters wait for turns: each decision asks its model once, and ends."""

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
from schemas.codec.encode import write_input
from schemas.packs.manifest import to_blob
from schemas.values.model_settings import ModelSettings
from schemas.values.record import Wire
from schemas.values.subjects import SHARED_AGENT, input_subject, partition_of
from streams.audit import audit
from tests import factories
from tests.crash.conftest import Running
from tests.crash.test_deferred_kills import begins
from tests.crash.test_kills import asks_in_hand, assert_it_replays, everything
from tests.crash.worker_process import serve_for_ever, serving
from tests.factories import plain_characters
from tests.handlers.mind.characters.test_talker import pack
from tests.minds import bringer, publish, started
from tests.patience import PATIENCE_S
from tests.servers import Broker, fresh_broker

pytestmark = [pytest.mark.crash, pytest.mark.services, pytest.mark.slow]

KILLS = 3
EACH = 4
"""How many villagers are told of their bodies before each kill."""
VILLAGERS = tuple(f"villager-{number}" for number in range(KILLS * EACH))
SETTINGS = started(
    model=ModelSettings(name="quick"),
    ttl_s=600.0,
    characters=plain_characters(turns=True, call_gap_s=0.02, falls_back=True),
)


@pytest.fixture
async def broker() -> AsyncIterator[Broker]:
    """A real server with an empty log."""
    async with fresh_broker() as running:
        yield running


def bodies_of(burst: int) -> list[Wire]:
    """A report of some villagers' bodies, after which their talkers are due, once."""
    told = {"health": 1, "needs": {"hunger": 1.0}, "extraversion": 0.8}
    return [
        Wire(
            input_subject(partition_of(each), each, "sensor", "world.body"),
            {"ce-id": f"{each}-stands"},
            orjson.dumps({"text": "It stands there.", "fields": told}),
        )
        for each in VILLAGERS[burst * EACH : (burst + 1) * EACH]
    ]


async def load(broker: Broker) -> None:
    """Load the villagers' pack in each of their partitions."""
    compiled = pack(extrovert_s=10_000.0)
    await broker.writer.put_blob(to_blob(compiled.pack))
    loaded = factories.pack_loaded(compiled)
    for place in sorted({partition_of(each) for each in VILLAGERS}):
        wire = write_input(
            loaded,
            agent=SHARED_AGENT,
            partition=place,
            id_=f"load-{place}",
            source="/tests",
        )
        await broker.writer.append(wire, f"load-{place}")


async def turns(broker: Broker, count: int) -> None:
    """Wait until so many turns were asked for."""
    following = broker.reader.follow("ev.*.out.*.ask.turn_asked", 0, 1)
    async with asyncio.timeout(PATIENCE_S):
        for _ in range(count):
            await anext(following)
    await following.aclose()


@pytest.mark.timeout(180)
async def test_each_turn_is_granted_once_whenever_it_is_killed(
    broker: Broker,
    moments: random.Random,
    running: Running,
    kill: Callable[[BaseProcess], None],
) -> None:
    """Whoever waited when it died is granted its turn later, and asks once."""
    serving_of = (broker.server.core, SETTINGS)
    for burst in range(KILLS):
        with running(serve_for_ever, *serving_of) as process:
            await begins(broker)
            if not burst:
                await load(broker)
            told = publish(broker.writer, bodies_of(burst))
            async with beside(told, may_end=True) as (publishing,):
                await turns(broker, burst * EACH + moments.randint(1, EACH))
                await asyncio.sleep(moments.uniform(0, 0.1))
                kill(process)
                await publishing
    async with serving(*serving_of):
        await all_ended(broker)

    assert (await audit(broker.reader)).sound
    waits = await decisions(broker, "ask.turn_asked")
    assert len(waits) == len(VILLAGERS)
    assert set(waits.values()) == {1}
    assert await decisions(broker, "ask.model_asked") == waits
    # The model answers in prose, as it does everybody.
    assert await decisions(broker, "decision.dropped") == waits
    code = state_code(SETTINGS.digests.embedder)
    for each in VILLAGERS:
        recovery = Recovery(broker.reader, bringer(broker.reader), None, code)
        state = (await recovery.recover(partition_of(each))).state
        assert not state.agents[each].character.asked
    for place in sorted({partition_of(each) for each in VILLAGERS}):
        await assert_it_replays(broker, place)


async def all_ended(broker: Broker) -> None:
    """Wait until each villager's decision has ended, and no ask is in hand."""
    async with asyncio.timeout(PATIENCE_S):
        while True:
            ends = await decisions(broker, "decision.dropped")
            if len(ends) == len(VILLAGERS) and not await asks_in_hand(broker):
                return


async def decisions(broker: Broker, detail: str) -> Counter[str]:
    """How many outputs of a sort each decision has."""
    records = await everything(broker, f"ev.*.out.*.{detail}")
    return Counter(orjson.loads(each.body)["decision_id"] for each in records)
