"""Kill -9 while it speaks: what was cut off is unknown, and nothing is said twice."""

import asyncio
import json
import random
import signal
import sys
import time
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from multiprocessing import get_context
from multiprocessing.process import BaseProcess
from pathlib import Path

import orjson
import pytest

from streams.jetstream.consumers import prepare_consumers
from tests.crash.speaking_process import speak_for_ever
from tests.handlers.effects.test_effects import ask, results
from tests.handlers.effects.test_speech import speech_asked
from tests.minds import until
from tests.servers import Broker, fresh_broker

pytestmark = [pytest.mark.crash, pytest.mark.services, pytest.mark.slow]

KILLS = 2
ASKS = 4

FORKS = get_context("forkserver")
FORKS.set_forkserver_preload(["tests.crash.speaking_process"])


@pytest.fixture
async def broker() -> AsyncIterator[Broker]:
    """A real server with an empty log."""
    async with fresh_broker() as running:
        await prepare_consumers(running.client)
        yield running


@asynccontextmanager
async def speaker(broker: Broker, score: Path) -> AsyncIterator[BaseProcess]:
    """Effects that speak, in a process of their own, which is gone at the end."""
    process = FORKS.Process(
        target=speak_for_ever,
        args=(broker.server.core, broker.reader.epoch, str(score)),
    )
    process.start()
    try:
        yield process
    finally:
        process.kill()
        process.join()


def begun(score: Path) -> list[str]:
    """The words that were begun to be said, so far."""
    lines = score.read_text().splitlines() if score.exists() else []
    read = [json.loads(line) for line in lines]
    return [each["words"] for each in read if each["what"] == "begin"]


async def begins(score: Path, count: int) -> None:
    """Wait until so many were begun."""
    await until(lambda: len(begun(score)) >= count, "it speaks")


@pytest.mark.timeout(180)
async def test_nothing_is_said_twice(broker: Broker, tmp_path: Path) -> None:
    """Each ask has one end; those that a kill cut off end as unknown."""
    seed = time.time_ns()
    sys.stdout.write(f"seed of the moments: {seed}\n")
    moments = random.Random(seed)
    score = tmp_path / "score"
    asks = await ask(
        broker, *(speech_asked(f"[1] {number}", ttl_s=150.0) for number in range(ASKS))
    )
    for kill in range(KILLS):
        async with speaker(broker, score) as process:
            await begins(score, kill + 1)
            await asyncio.sleep(moments.uniform(0, 0.3))
            process.kill()
            process.join()
            assert process.exitcode == -signal.SIGKILL

    async with speaker(broker, score):
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
