"""The owner of a range hangs and is killed under load, and who stands by takes over.

What each costs in time is printed, and asserted nowhere: it is a figure of the machine.
"""

import asyncio
import os
import signal
import sys
from collections import defaultdict
from collections.abc import AsyncIterator, Callable
from contextlib import ExitStack, asynccontextmanager
from dataclasses import dataclass, field
from multiprocessing.process import BaseProcess

import orjson
import pytest

from bench.beside import beside
from echoic.client.watch import last_answered
from replay.verify import Span, verify
from schemas.values.subjects import partition_of
from streams.audit import audit
from streams.groups import groups
from streams.jetstream.owners import OwnerBucket
from tests.crash.conftest import Running
from tests.crash.standing_process import stand_for_ever
from tests.minds import bringer, publish, sensed
from tests.patience import PATIENCE_S
from tests.servers import Broker

pytestmark = [pytest.mark.crash, pytest.mark.services, pytest.mark.slow]

AGENTS = ("ada", "bo", "cy", "dee")
PAUSE_S = 0.01
"""Seconds between two events."""


@dataclass
class Load:
    """Events of all agents, for as long as a test lasts."""

    broker: Broker
    sent: int = 0
    sequences: dict[int, str] = field(default_factory=dict)
    """What had just happened when each event came, by sequence."""
    phase: str = "calm"

    async def send(self) -> None:
        """Send one after the other until cancelled."""
        while True:
            agent = AGENTS[self.sent % len(AGENTS)]
            # The number of the agent's own events: these are answered in their order.
            event = sensed(agent, f"{agent}-{self.sent // len(AGENTS)}", "dusk falls")
            (sequence,) = await publish(self.broker.writer, [event])
            self.sequences[sequence] = self.phase
            self.sent += 1
            await asyncio.sleep(PAUSE_S)

    async def goes_on(self, phase: str) -> None:
        """Wait until an event is answered that came after this."""
        self.phase, last = phase, max(self.sequences, default=0)
        log, partition = self.broker.reader, partition_of(AGENTS[0])
        async with asyncio.timeout(PATIENCE_S):
            while await last_answered(log, partition) <= last:  # noqa: ASYNC110
                await asyncio.sleep(0.02)


@asynccontextmanager
async def under_load(broker: Broker) -> AsyncIterator[Load]:
    """Send for the length of the block."""
    load = Load(broker)
    async with beside(load.send()):
        yield load


async def stands(broker: Broker, name: str) -> None:
    """Wait until a worker is in charge, or knows who is."""
    bucket = OwnerBucket(broker.client)
    async with asyncio.timeout(PATIENCE_S):
        while not await bucket.exists() or f"test.{name}" not in await bucket.read():  # noqa: ASYNC110
            await asyncio.sleep(0.05)


@pytest.mark.timeout(200)
async def test_who_stands_by_takes_over(
    broker: Broker, running: Running, kill: Callable[[BaseProcess], None]
) -> None:
    """No event is lost or answered twice, all in order, whatever becomes of the owner."""
    core = broker.server.core
    with ExitStack() as stack:

        async def begun(name: str) -> BaseProcess:
            process = stack.enter_context(running(stand_for_ever, core, name))
            await stands(broker, name)
            return process

        first, second = await begun("first"), await begun("second")
        async with under_load(broker) as load:
            await load.goes_on("calm")
            assert first.pid is not None
            os.kill(first.pid, signal.SIGSTOP)
            await load.goes_on("stopped by a signal")
            os.kill(first.pid, signal.SIGCONT)
            await load.goes_on("calm again")
            kill(second)
            await load.goes_on("killed")
        async with asyncio.timeout(PATIENCE_S):
            while (await audit(broker.reader)).unanswered:  # noqa: ASYNC110
                await asyncio.sleep(0.1)
    await assert_nothing_is_amiss(broker, load)


async def assert_nothing_is_amiss(broker: Broker, load: Load) -> None:
    """Each event is answered once and in order, and the log replays to the same bytes."""
    assert (await audit(broker.reader)).sound
    order: dict[str, list[int]] = defaultdict(list)
    waits: dict[str, int] = defaultdict(int)
    for partition in sorted({partition_of(each) for each in AGENTS}):
        async for group in groups(broker.reader, partition):
            if group.input.sequence in load.sequences:
                decided = orjson.loads(group.outputs[0].body)
                agent, number = decided["event_id"].split("-")
                order[agent].append(int(number))
                phase = load.sequences[group.input.sequence]
                took = group.outputs[0].time_ns - group.input.time_ns
                waits[phase] = max(waits[phase], took)
        span = Span(partition)
        verified = await verify(broker.reader, span, bringer(broker.reader))
        assert verified.is_identical
    for phase, longest in waits.items():
        sys.stdout.write(
            f"longest wait for an answer, {phase}: {longest / 1e9:.2f} s\n"
        )
    assert sum(map(len, order.values())) == load.sent
    assert all(numbers == [*range(len(numbers))] for numbers in order.values())
