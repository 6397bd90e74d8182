"""The worker against a real broker: order, fences, restarts, repeats, timers."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import timedelta
from functools import partial
from typing import Any
from uuid import UUID

import orjson
import pytest

from handlers.mind.turn import Turn
from handlers.worker.listening import Listeners
from handlers.worker.loop import Worker
from handlers.worker.recovery import Recovery
from handlers.worker.timing import Times
from schemas.codec import checkpoint as codec
from schemas.codec.catalogue import ControlMessage
from schemas.codec.encode import write_input
from schemas.messages.controls import PackLoaded, SessionStarted
from schemas.packs.event_types import EventType
from schemas.packs.manifest import (
    ExecutiveOfPack,
    Heuristic,
    OutcomePattern,
    Pack,
    Response,
    to_blob,
)
from schemas.state.agent import PartitionState
from schemas.values.record import Wire
from schemas.values.subjects import partition_of
from streams.audit import audit
from streams.groups import Group, answer
from streams.jetstream.checkpoints import Checkpoint, JetStreamCheckpoints, Label
from streams.log import GroupWrite, WritableLog
from tests.minds import all_groups, bringer, publish, sensed, started, until, working
from tests.patience import PATIENCE_S
from tests.servers import Broker, opened

pytestmark = pytest.mark.services

ADA = "ada"
PARTITION = partition_of(ADA)


@dataclass
class Watched:
    """A writer that counts what is committed through it."""

    writer: WritableLog
    commits: list[int] = field(default_factory=list)

    async def append(self, wire: Wire, message_id: str) -> int:
        """As the writer does."""
        return await self.writer.append(wire, message_id)

    async def commit(self, writes: Sequence[GroupWrite]) -> dict[int, int]:
        """As the writer does, counted."""
        self.commits.append(sum(len(write.messages) for write in writes))
        return await self.writer.commit(writes)

    async def put_blob(self, data: bytes) -> str:
        """As the writer does."""
        return await self.writer.put_blob(data)


PACK = Pack(
    schema=1,
    name="doors",
    version="1",
    executive=ExecutiveOfPack(
        outcome_patterns=(
            OutcomePattern(
                trigger_pattern="visitor", outcome_pattern="left", timeout_sec=0.3
            ),
        )
    ),
    events=(EventType(type="seen"),),
    heuristics=(
        Heuristic(
            name="greet",
            condition="a visitor with 0 apples came in",
            action=Response(text="Good morning!"),
            confidence=0.9,
        ),
    ),
)
"""Greets visitors, and expects them to leave at once."""


def control(message: ControlMessage, id_: str) -> Wire:
    """A control of the agent as somebody else would append it."""
    return write_input(message, agent=ADA, partition=PARTITION, id_=id_, source="/test")


def events(count: int, start: int = 0) -> list[Wire]:
    """So many different events of one agent."""
    return [
        sensed(ADA, f"event-{number}", f"a visitor with {number} apples came in")
        for number in range(start, start + count)
    ]


async def answered(broker: Broker, sequence: int) -> None:
    """Wait until an input of the agent's is answered."""
    await answer(broker.reader, PARTITION, sequence, PATIENCE_S)


async def is_sound(broker: Broker) -> bool:
    """Whether every input is answered by just one whole group."""
    return (await audit(broker.reader)).sound


async def test_inputs_are_answered_in_order(broker: Broker) -> None:
    """Each input gets one group, in the order of the log."""
    async with working(broker.reader, broker.writer, started()):
        sequences = await publish(broker.writer, events(40))
        await answered(broker, sequences[-1])

    found = await all_groups(broker.reader, ADA)
    assert [group.input.sequence for group in found] == sequences
    assert await is_sound(broker)


async def test_what_waits_is_committed_together(broker: Broker) -> None:
    """Inputs that wait are answered with few writes, whole groups in each."""
    sequences = await publish(broker.writer, events(300))
    watched = Watched(broker.writer)

    async with working(broker.reader, watched, started()):
        await answered(broker, sequences[-1])

    assert len(watched.commits) < 20
    assert max(watched.commits) <= 1000
    assert await is_sound(broker)


async def test_observers_hear_of_committed_turns_alone(broker: Broker) -> None:
    """Whoever watches is told of each turn once, after the log has it."""
    heard: list[tuple[Turn, Times]] = []
    async with working(
        broker.reader,
        broker.writer,
        started(),
        listeners=Listeners(answered=heard.extend),
    ) as worker:
        sequences = await publish(broker.writer, events(20))
        await answered(broker, sequences[-1])
        await until(lambda: worker.state_of(ADA) is not None, "the state is adopted")
        await until(lambda: len(heard) == 16 + 20, "all turns are told")

    told = [turn.input.sequence for turn, _ in heard if turn.input.agent == ADA]
    assert told == sequences
    for turn, times in heard:
        assert bool(times.entered) == (turn.input.agent == ADA)
        steps = [
            times.started_ns,
            *times.entered.values(),
            times.decided_ns,
            times.writing_ns,
            times.committed_ns,
        ]
        assert steps == sorted(steps)


async def test_two_workers_of_one_partition_decide_once(broker: Broker) -> None:
    """The fence lets one of two owners through; the other folds again and goes on."""
    async with (
        opened(broker.server) as other,
        working(broker.reader, broker.writer, started()) as first,
        working(other.reader, other.writer, started()) as second,
    ):
        for start in range(0, 200, 20):
            sequences = await publish(broker.writer, events(20, start))
            await answered(broker, sequences[-1])
        await until(lambda: _chain(first) == _chain(second), "both know the same")

    assert len(await all_groups(broker.reader, ADA)) == 200
    assert await is_sound(broker)


async def test_a_stale_worker_drops_what_it_thought(broker: Broker) -> None:
    """A worker that slept through another's writes folds them before it goes on."""
    async with (
        opened(broker.server) as other,
        working(broker.reader, broker.writer, started()) as stale,
    ):
        await publish(broker.writer, events(10))
        async with working(other.reader, other.writer, started()):
            sequences = await publish(broker.writer, events(30, 10))
            await answered(broker, sequences[-1])
        sequences = await publish(broker.writer, events(5, 40))
        await answered(broker, sequences[-1])
        await until(partial(_has_seen, stale, 45), "it knows every event")

    assert await is_sound(broker)


async def test_a_restart_goes_on_exactly(broker: Broker) -> None:
    """A worker that starts again knows what a fold of the whole log knows."""
    chains = []
    for start in (0, 30, 60):
        sequences = await publish(broker.writer, events(30, start))
        async with working(broker.reader, broker.writer, started()) as worker:
            await answered(broker, sequences[-1])
            await until(partial(_has_seen, worker, start + 30), "all is adopted")
            chains.append(_chain(worker))

    whole = await _recovery(broker, None, "").recover(PARTITION)
    assert whole.state.agents[ADA].chain == chains[-1]
    # The worker's last ticks may have come after its last answer.
    async with (
        working(broker.reader, broker.writer, started()),
        asyncio.timeout(PATIENCE_S),
    ):
        while not await is_sound(broker):  # noqa: ASYNC110  # whoever knows has no event
            await asyncio.sleep(0.05)


async def test_a_checkpoint_and_its_tail_make_the_same_state(broker: Broker) -> None:
    """Folding a checkpoint and what follows it gives what folding everything gives."""
    checkpoints = JetStreamCheckpoints(broker.client)
    session = control(SessionStarted(session_id="s1"), "start")
    async with working(
        broker.reader, broker.writer, started(), checkpoints=checkpoints
    ):
        await publish(broker.writer, [*events(20), session])
        sequences = await publish(broker.writer, events(20, 20))
        await answered(broker, sequences[-1])

    *_, kept = await checkpoints.labels(PARTITION)
    assert 20 <= kept.sequence < sequences[-1]
    tail = await _recovery(broker, checkpoints, kept.code).recover(PARTITION)
    whole = await _recovery(broker, None, kept.code).recover(PARTITION)
    assert codec.dump(tail.state) == codec.dump(whole.state)
    assert tail.last_output == whole.last_output


@pytest.mark.parametrize("fault", ["code", "message_id", "epoch", "state"])
async def test_a_checkpoint_that_does_not_fit_is_not_used(
    broker: Broker, fault: str
) -> None:
    """Of other code, of another log or damaged: the whole log is folded."""
    async with working(broker.reader, broker.writer, started()):
        sequences = await publish(broker.writer, events(5))
        await answered(broker, sequences[-1])
    whole = await _recovery(broker, None, "").recover(PARTITION)
    label = Label(
        partition=PARTITION,
        sequence=sequences[2],
        time_ns=0,
        message_id="event-2",
        last_output=0,
        epoch=broker.reader.epoch,
        code="",
    )
    wrong: dict[str, Any] = {"code": "x", "message_id": "x", "epoch": UUID(int=1)}
    state = codec.dump(PartitionState(position=sequences[2]))
    checkpoints = JetStreamCheckpoints(broker.client)
    await checkpoints.save(
        Checkpoint(
            label=replace(
                label, **{each: wrong[each] for each in wrong if each == fault}
            ),
            state=b"{}" if fault == "state" else state,
        )
    )

    found = await _recovery(broker, checkpoints, "").recover(PARTITION)

    assert codec.dump(found.state) == codec.dump(whole.state)


async def test_the_same_event_is_decided_once(broker: Broker) -> None:
    """A repeat that the broker let through is answered as a duplicate, not decided."""
    async with working(broker.reader, broker.writer, started()):
        first = events(1)[0]
        again = await publish(broker.writer, [first])
        # Another message id: to the broker, whose window is over, it is another event.
        again.append(await broker.writer.append(first, "another"))
        await answered(broker, again[-1])

    found = await all_groups(broker.reader, ADA)
    assert [_details(group) for group in found] == [
        ["decision.decided"],
        ["note.handled"],
    ]
    assert orjson.loads(found[1].outputs[0].body)["reason"] == "duplicate"


async def test_a_broker_that_is_killed_is_waited_for(broker: Broker) -> None:
    """After kill -9 and a restart of the broker every input is answered once."""
    async with working(broker.reader, broker.writer, started()):
        await publish(broker.writer, events(60))
        await broker.server.kill()
        await broker.server.restart()
        sequences = await publish(broker.writer, events(60, 60))
        await answered(broker, sequences[-1])

    assert len(await all_groups(broker.reader, ADA)) == 120
    assert await is_sound(broker)


async def test_a_timer_that_is_due_makes_a_tick(broker: Broker) -> None:
    """When nothing else comes, the clock is the input that ends waiting for an outcome."""
    blob = await broker.writer.put_blob(to_blob(PACK))
    load = control(PackLoaded(name=PACK.name, pack_version="1", digest=blob), "load")
    async with working(broker.reader, broker.writer, started()) as worker:
        sequences = await publish(broker.writer, [load, *events(1)])
        await answered(broker, sequences[-1])
        await until(lambda: bool(_timers(worker)), "a timer is set")
        await until(lambda: not _timers(worker), "the timer has run")

    loaded, event, tick = await all_groups(broker.reader, ADA)
    assert _details(loaded) == ["note.control_applied"]
    assert _details(event) == [
        "decision.decided",
        "fire.heuristic_fired",
        "ask.delivery_asked",
    ]
    assert _details(tick) == ["outcome.outcome_expired", "note.handled"]
    assert tick.input.subject.endswith(".clock.clock_ticked")
    waited = tick.input.recorded_at - event.input.recorded_at
    assert timedelta(seconds=0.3) <= waited < timedelta(seconds=PATIENCE_S)


async def test_a_worker_owns_only_its_partitions(broker: Broker) -> None:
    """Inputs of other partitions are left to their owners."""
    mine = (PARTITION, (PARTITION + 1) % 16)
    names = ("bob", "cleo", "dora", "emil")
    other = next(name for name in names if partition_of(name) not in mine)
    async with working(
        broker.reader, broker.writer, started(), partitions=mine
    ) as worker:
        await publish(broker.writer, [sensed(other, "1", "not for you")])
        sequences = await publish(broker.writer, events(3))
        await answered(broker, sequences[-1])

    assert worker.state_of(other) is None
    assert (await audit(broker.reader)).unanswered == 1


def _recovery(
    broker: Broker, checkpoints: JetStreamCheckpoints | None, code: str
) -> Recovery:
    return Recovery(broker.reader, bringer(broker.reader), checkpoints, code)


def _chain(worker: Worker) -> str | None:
    state = worker.state_of(ADA)
    return state.chain if state else None


def _has_seen(worker: Worker, count: int) -> bool:
    state = worker.state_of(ADA)
    source = state.sources.get("cam") if state else None
    return source is not None and len(source.seen.younger) == count


def _details(group: Group) -> list[str]:
    return [each.subject.split(".", 4)[4] for each in group.outputs]


def _timers(worker: Worker) -> tuple[object, ...]:
    state = worker.state_of(ADA)
    return state.timers if state else ()
