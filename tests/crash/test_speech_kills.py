"""Kill -9 while it speaks: what was cut off is unknown, and nothing is said twice."""

import asyncio
import random
from collections import Counter
from collections.abc import AsyncIterator, Callable
from multiprocessing.process import BaseProcess
from pathlib import Path

import orjson
import pytest

from streams.jetstream.consumers import prepare_consumers
from tests.crash.conftest import Running
from tests.crash.speaking_process import begun, speak_for_ever
from tests.handlers.effects.test_effects import ask, results
from tests.handlers.effects.test_speech import speech_asked
from tests.minds import until
from tests.servers import Broker, fresh_broker

pytestmark = [pytest.mark.crash, pytest.mark.services, pytest.mark.slow]

KILLS = 2
ASKS = 4


@pytest.fixture
async def broker() -> AsyncIterator[Broker]:
    """A real server with an empty log."""
    async with fresh_broker() as running:
        await prepare_consumers(running.client)
        yield running


async def begins(score: Path, count: int) -> None:
    """Wait until so many were begun."""
    await until(lambda: len(begun(score)) >= count, "it speaks")


@pytest.mark.timeout(180)
async def test_nothing_is_said_twice(
    broker: Broker,
    tmp_path: Path,
    moments: random.Random,
    running: Running,
    kill: Callable[[BaseProcess], None],
) -> None:
    """Each ask has one end; those that a kill cut off end as unknown."""
    score = tmp_path / "score"
    speaking = (speak_for_ever, broker.server.core, broker.reader.epoch, str(score))
    asks = await ask(
        broker, *(speech_asked(f"[1] {number}", ttl_s=150.0) for number in range(ASKS))
    )
    for count in range(1, KILLS + 1):
        with running(*speaking) as process:
            await begins(score, count)
            await asyncio.sleep(moments.uniform(0, 0.3))
            kill(process)

    with running(*speaking):
        found = await results(broker, 2 * ASKS)

    ends: dict[str, list[str]] = {}
    for each in found:
        body = orjson.loads(each.body)
        token = each.subject.split(".")[5]
        if token != "delivery_begun":
            what = body["reason"] if token == "delivery_failed" else token
            ends.setdefault(body["ask_id"], []).append(what)
    assert sorted(ends) == sorted(asks)
    assert set(Counter(begun(score)).values()) == {1}
    outcomes = Counter(what for (what,) in ends.values())
    assert set(outcomes) <= {"delivered", "unknown"}
    assert 1 <= outcomes["unknown"] <= KILLS
