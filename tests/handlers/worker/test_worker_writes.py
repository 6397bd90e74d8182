"""Writes under way while the next inputs are decided on: what a failed one costs."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field

import pytest

from handlers.worker.loop import INPUTS_AT_ONCE, TAKEN_AT_ONCE, Worker
from replay.verify import Span, verify
from schemas.values.record import Wire
from schemas.values.subjects import PARTITIONS, partition_of
from streams.audit import audit
from streams.errors import Fenced, LogUnavailable
from streams.groups import answer
from streams.log import GroupWrite
from tests.memory_log import MemoryLog
from tests.minds import all_groups, bringer, publish, sensed, started, until, working
from tests.patience import PATIENCE_S

ADA, BOB = "ada", "bob"
COUNT = 2 * TAKEN_AT_ONCE
FEW = 8


@dataclass
class Unreliable:
    """A writer whose commits fail by a plan, before or after they are stored."""

    log: MemoryLog
    plan: dict[int, tuple[Exception, bool]]
    """The number of a commit to its error, and whether it is stored all the same."""
    sizes: list[int] = field(default_factory=list)
    stored: int = 0
    gate: asyncio.Event = field(default_factory=asyncio.Event)
    """While it is clear, commits wait."""

    def __post_init__(self) -> None:
        """Let commits pass."""
        self.gate.set()

    async def append(self, wire: Wire, message_id: str) -> int:
        """Append an input."""
        return await self.log.append(wire, message_id)

    async def commit(self, writes: Sequence[GroupWrite]) -> dict[int, int]:
        """Write, or fail."""
        self.sizes.append(sum(len(write.messages) for write in writes))
        error, is_stored = self.plan.get(len(self.sizes), (None, True))
        await self.gate.wait()
        ends = await self.log.commit(writes) if is_stored else {}
        self.stored += self.sizes[-1] if is_stored else 0
        if error is not None:
            raise error
        return ends

    async def put_blob(self, data: bytes) -> str:
        """Store bytes."""
        return await self.log.put_blob(data)


@dataclass
class Late(Unreliable):
    """A writer that hears of what it stored once it is let."""

    heard: asyncio.Event = field(default_factory=asyncio.Event)

    def __post_init__(self) -> None:
        """Let it hear."""
        super().__post_init__()
        self.heard.set()

    async def commit(self, writes: Sequence[GroupWrite]) -> dict[int, int]:
        """Write, and answer late."""
        ends = await super().commit(writes)
        await self.heard.wait()
        return ends


@pytest.mark.parametrize("fails", [False, True])
async def test_what_waits_for_a_write_shares_the_next(fails: bool) -> None:
    """However they arrive meanwhile: each write is a sync of the broker's disk.

    What was decided on top of one that failed is decided again, and answered in order.
    """
    log = MemoryLog()
    writer = Unreliable(log, {})
    async with working(log, writer, started()) as worker:
        await until(lambda: writer.stored == PARTITIONS, "the starts are answered")
        before = len(writer.sizes)
        if fails:
            writer.plan[before + 1] = (Fenced(partition_of(ADA), 1), False)
        writer.gate.clear()
        sequences: list[int] = []
        for number in range(FEW):
            sensing = sensed(ADA, f"e{number}", f"something {number} of note")
            sequences += await publish(log, [sensing])
            # Enough turns of the event loop for the reader and the mind.
            for _ in range(50):
                await asyncio.sleep(0)
        writer.gate.set()
        await until(lambda: _has_seen(worker, f"e{FEW - 1}"), "events are answered")
    answered = [group.input.sequence for group in await all_groups(log, ADA)]

    assert answered == sequences
    assert writer.sizes[before:] == ([1, FEW] if fails else [1, FEW - 1])
    assert (await audit(log)).sound


async def test_who_asks_is_told_of_the_write_under_way() -> None:
    """The log may show it to others before the worker hears that it was stored."""
    log = MemoryLog()
    writer = Late(log, {})
    async with working(log, writer, started()) as worker:
        await until(lambda: writer.stored == PARTITIONS, "the starts are answered")
        writer.heard.clear()
        (sequence,) = await publish(log, [sensed(ADA, "e1", "something of note")])
        await answer(log, partition_of(ADA), sequence, PATIENCE_S)
        assert worker.state_of(ADA) is None
        asking = asyncio.create_task(worker.known_now(ADA))
        await asyncio.sleep(0)
        writer.heard.set()
        state = await asking

    assert state is not None
    assert state.position == sequence


async def test_what_was_answered_before_a_start_is_passed_over() -> None:
    """A worker reads from the least of its partitions' positions, and repeats nothing."""
    log = MemoryLog()
    lags = [sensed(ADA, f"a{n}", f"something {n} of note") for n in range(2)]
    leads = [sensed(BOB, f"b{n}", f"something {n} of note") for n in range(COUNT)]
    await publish(log, [lags[0], *leads, lags[1]])
    owned = [partition_of(BOB)]
    async with working(log, log, started(), partitions=owned) as worker:
        await until(lambda: _has_seen(worker, f"b{COUNT - 1}", BOB), "bob is answered")
    writer = Unreliable(log, {})
    async with working(log, writer, started()) as worker:
        await until(lambda: _has_seen(worker, "a1"), "ada is answered")
        await until(lambda: writer.stored >= PARTITIONS + 2, "the starts too")

    assert len(await all_groups(log, BOB)) == COUNT
    assert (await audit(log)).repeated == 0


PLANS: dict[str, dict[int, tuple[Exception, bool]]] = {
    "all goes well": {},
    "the first write fails": {1: (LogUnavailable("away"), False)},
    "a later write fails": {3: (LogUnavailable("away"), False)},
    "only an answer is lost": {3: (LogUnavailable("away"), True)},
    "the last one is fenced": {8: (Fenced(partition_of(ADA), 1), False)},
    "two in a row fail": {
        2: (Fenced(partition_of(ADA), 1), True),
        3: (LogUnavailable("away"), False),
    },
}


@pytest.mark.parametrize("plan", PLANS)
async def test_no_failed_write_loses_or_repeats_an_answer(plan: str) -> None:
    """Whichever write fails, each event is answered once, in order, on the true state."""
    log = MemoryLog()
    writer = Unreliable(log, PLANS[plan])
    wires = [sensed(ADA, f"e{n}", f"something {n} of note") for n in range(COUNT)]
    sequences = await publish(log, wires)

    async with working(log, writer, started()) as worker:
        await until(lambda: _has_seen(worker, f"e{COUNT - 1}"), "events are answered")
        await until(lambda: writer.stored == COUNT + PARTITIONS, "the starts too")
    answered = [group.input.sequence for group in await all_groups(log, ADA)]
    again = await verify(log, Span(partition_of(ADA)), bringer(log))

    assert answered == sequences
    assert (await audit(log)).sound
    assert again.is_identical
    assert max(writer.sizes) <= INPUTS_AT_ONCE


def _has_seen(worker: Worker, event_id: str, agent: str = ADA) -> bool:
    state = worker.state_of(agent)
    return state is not None and state.sources["cam"].seen.get(event_id) is not None
