"""Writes under way while the next inputs are decided on: what a failed one costs."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import cast

import pytest

from handlers.mind.turn import Turn
from handlers.worker.listening import Timed
from handlers.worker.loop import INPUTS_AT_ONCE, TAKEN_AT_ONCE, Worker
from handlers.worker.partition_owner import FEW, parted
from handlers.worker.timing import Times
from replay.verify import Span, verify
from schemas.values.record import Wire
from schemas.values.subjects import PARTITIONS, partition_of
from streams.audit import audit
from streams.errors import Fenced, LogUnavailable
from streams.log import GroupWrite
from tests.memory_log import MemoryLog
from tests.minds import all_groups, bringer, publish, sensed, started, until, working

ADA, BOB = "ada", "bob"
COUNT = 2 * TAKEN_AT_ONCE


@dataclass
class Unreliable:
    """A writer whose commits fail by a plan, before or after they are stored."""

    log: MemoryLog
    plan: dict[int, tuple[Exception, bool]]
    """The number of a commit to its error, and whether it is stored all the same."""
    sizes: list[int] = field(default_factory=list)
    stored: int = 0

    async def append(self, wire: Wire, message_id: str) -> int:
        """Append an input."""
        return await self.log.append(wire, message_id)

    async def commit(self, writes: Sequence[GroupWrite]) -> dict[int, int]:
        """Write, or fail."""
        self.sizes.append(sum(len(write.messages) for write in writes))
        error, is_stored = self.plan.get(len(self.sizes), (None, True))
        ends = await self.log.commit(writes) if is_stored else {}
        self.stored += self.sizes[-1] if is_stored else 0
        if error is not None:
            raise error
        return ends

    async def put_blob(self, data: bytes) -> str:
        """Store bytes."""
        return await self.log.put_blob(data)


async def test_a_few_are_written_one_by_one() -> None:
    """A handful of events are as many writes, and one that fails stops those behind it."""
    log = MemoryLog()
    writer = Unreliable(log, {PARTITIONS + 2: (LogUnavailable("away"), False)})
    async with working(log, writer, started()) as worker:
        await until(lambda: writer.stored == PARTITIONS, "the starts are answered")
        before = len(writer.sizes)
        wires = [sensed(ADA, f"e{n}", f"something {n} of note") for n in range(FEW)]
        sequences = await publish(log, wires)
        await until(lambda: _has_seen(worker, f"e{FEW - 1}"), "events are answered")
    answered = [group.input.sequence for group in await all_groups(log, ADA)]

    assert answered == sequences
    assert set(writer.sizes[before:]) == {1}
    assert (await audit(log)).sound


def test_partitions_that_need_a_batch_share_it() -> None:
    """Turns of one message are written apart by partition; in none does the order change."""
    one, two, other = _turn(1, 1), _turn(1, 1), _turn(2, 1)
    many, after = _turn(3, 2), _turn(3, 1)
    more = _turn(4, 3)

    assert parted([one, many, other, two, after, more]) == (
        [[one, two], [other]],
        [many, after, more],
    )
    assert parted([one] * (FEW + 1)) == ([], [one] * (FEW + 1))


def _turn(partition: int, outputs: int) -> Timed:
    """A turn of which only its place and its size count."""
    turn = SimpleNamespace(
        input=SimpleNamespace(partition=partition), outputs=(None,) * outputs
    )
    return cast(Turn, turn), Times(picked_up_ns=0, started_ns=0, decided_ns=0)


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
