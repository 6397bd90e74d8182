"""Workers that share the partitions are killed, stopped and cut off under load.

What each costs in time is printed, and asserted nowhere: it is a figure of the machine.
"""

import asyncio
import os
import signal
import sys
from collections import defaultdict
from collections.abc import AsyncIterator, Callable
from contextlib import ExitStack, asynccontextmanager
from dataclasses import dataclass, field, replace
from multiprocessing.process import BaseProcess

import orjson
import pytest

from bench.beside import beside
from handlers.worker.leases.registry import view_of
from handlers.worker.leases.rules import View, held, shares
from replay.verify import Span, verify
from schemas.values.subjects import partition_of
from streams.audit import audit
from streams.groups import groups
from streams.jetstream.leases import LeaseBucket
from tests.crash.conftest import Running
from tests.crash.sharing_process import share_for_ever
from tests.deploy.links import Link
from tests.minds import bringer, publish, sensed
from tests.ports import free_port
from tests.servers import Broker

pytestmark = [pytest.mark.crash, pytest.mark.services, pytest.mark.slow]

AGENTS = tuple(f"agent{number}" for number in range(24))
PAUSE_S = 0.01
"""Seconds between two events."""
SETTLE_S = 60.0
STOPPED_S = 10.0
"""Longer than others wait for a member."""


@dataclass
class Load:
    """Events of all agents, for as long as a test lasts."""

    broker: Broker
    sent: int = 0
    sequences: dict[int, str] = field(default_factory=dict)
    """Which disturbance each event came in, by sequence."""
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


@asynccontextmanager
async def under_load(broker: Broker) -> AsyncIterator[Load]:
    """Send for the length of the block."""
    load = Load(broker)
    async with beside(load.send()):
        yield load


async def shared_by(broker: Broker, count: int) -> View:
    """Wait until so many members hold all partitions fairly."""
    bucket = LeaseBucket(broker.client)
    async with asyncio.timeout(SETTLE_S):
        while True:
            if await bucket.exists():
                view = view_of(await bucket.read())
                sizes = {each: len(held(view, each)) for each in view.members}
                if len(sizes) == count and sizes == shares(view):
                    return view
            await asyncio.sleep(0.1)


async def answered(broker: Broker) -> None:
    """Wait until each input has its answer."""
    async with asyncio.timeout(SETTLE_S):
        while (await audit(broker.reader)).unanswered:  # noqa: ASYNC110
            await asyncio.sleep(0.2)


@pytest.mark.timeout(400)
async def test_members_come_go_die_hang_and_are_cut_off(
    broker: Broker, running: Running, kill: Callable[[BaseProcess], None]
) -> None:
    """After each the others go on: no event is lost or answered twice, all in order."""
    core = broker.server.core
    with ExitStack() as stack:
        first = stack.enter_context(running(share_for_ever, core, "first"))
        stack.enter_context(running(share_for_ever, core, "second"))
        await shared_by(broker, 2)
        way = Link(free_port(), int(core.url.rpartition(":")[2]))
        there = replace(core, url=f"nats://127.0.0.1:{way.port}")
        async with way.listening(), under_load(broker) as load:
            load.phase = "join"
            third = stack.enter_context(running(share_for_ever, core, "third"))
            await shared_by(broker, 3)
            load.phase = "leave"
            third.terminate()
            await shared_by(broker, 2)
            load.phase = "kill"
            kill(first)
            await shared_by(broker, 1)
            await during(load, "calm again")
            stack.enter_context(running(share_for_ever, core, "fourth"))
            fifth = stack.enter_context(running(share_for_ever, there, "fifth"))
            await shared_by(broker, 3)
            load.phase = "stop"
            await stopped_for(fifth.pid)
            await shared_by(broker, 3)
            load.phase = "cut"
            way.cut()
            await shared_by(broker, 2)
            await asyncio.sleep(1)
            way.heal()
            await shared_by(broker, 3)
            await during(load, "calm at last")
        await answered(broker)
    await assert_nothing_is_amiss(broker, load)


async def during(load: Load, phase: str) -> None:
    """Go on for a moment."""
    load.phase = phase
    await asyncio.sleep(1)


async def stopped_for(pid: int | None) -> None:
    """Stop a process for longer than the others wait, and let it go on."""
    assert pid is not None
    os.kill(pid, signal.SIGSTOP)
    await asyncio.sleep(STOPPED_S)
    os.kill(pid, signal.SIGCONT)


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
