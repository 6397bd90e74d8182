"""Which asks are over: looked up once for all, against a real broker."""

from dataclasses import dataclass
from typing import Any
from uuid import UUID

import pytest
from msgspec import structs

from handlers.effects.ledger import Ledger
from handlers.effects.priority_queue import IN_HAND_LIMIT, QueuedAsk
from schemas.codec.decode import read_output
from schemas.codec.encode import write_output
from schemas.codec.envelope import Mark
from schemas.messages.decisions import Completed, Dropped
from streams.log import GroupWrite, ReadableLog, Records
from tests.handlers.effects.test_effects import (
    ADA,
    CAUSE,
    NOON,
    PARTITION,
    SlowModel,
    SlowOutlet,
    ask,
    delivery_asked,
    model_asked,
    performing,
    results,
    said,
    until_acknowledged,
)
from tests.minds import until
from tests.servers import Broker

pytestmark = pytest.mark.services


class Receipts:
    """Receipts that nobody reads."""

    async def ack(self) -> None:
        """It is done with."""

    async def nack(self, delay: float | None = None) -> None:
        """It comes again."""

    async def in_progress(self) -> None:
        """It is in hand."""


async def end(broker: Broker, *ends: Completed | Dropped) -> None:
    """Let decisions end as the mind would."""
    last = await broker.reader.last_sequence(f"ev.{PARTITION}.out.>")
    wires = [
        write_output(
            message,
            agent=ADA,
            partition=PARTITION,
            epoch=broker.reader.epoch,
            mark=Mark(last, CAUSE, index, len(ends)),
            at=NOON,
        )
        for index, message in enumerate(ends)
    ]
    await broker.writer.commit([GroupWrite(PARTITION, last, tuple(wires))])


async def test_nobody_is_asked_once_the_mind_gave_up(broker: Broker) -> None:
    """An ask whose decision ended meanwhile costs nothing, and has its result."""
    model = SlowModel()
    asks = [
        structs.replace(model_asked(f"answer {n}"), decision_id=f"d{n}")
        for n in range(6)
    ]
    # A rule is asked for after its decision has ended.
    rule = structs.replace(
        model_asked("rule", priority=-1.0), decision_id="d4", purpose="formation"
    )
    async with performing(broker, model) as running:
        ids = await ask(broker, *asks, rule)
        await until(lambda: len(model.prompts) == 4, "all slots are held")
        await until(lambda: len(running.in_hand) == 7, "all are in hand")
        await end(
            broker,
            Dropped(decision_id="d4", reason="superseded"),
            Completed(
                decision_id="d5",
                ask_id=ids[5],
                path="heuristic",
                text="Run!",
                response_type="alert",
                model="slow",
                predicted_success=0.5,
                prediction_confidence=0.5,
            ),
        )
        model.let.set()
        found = await results(broker, 7)

    assert sorted(model.prompts) == [*(f"answer {n}" for n in range(4)), "rule"]
    failed = {said(each)[1] for each in found if said(each)[0] == "model_failed"}
    assert failed == {ids[4], ids[5]}


@dataclass
class Counting:
    """A log that counts the records that are read from it."""

    log: ReadableLog
    read: int = 0

    @property
    def epoch(self) -> UUID:
        """As the log's."""
        return self.log.epoch

    async def page(self, subjects: str, after: int, limit: int) -> Records:
        """As the log does, counted."""
        found = await self.log.page(subjects, after, limit)
        self.read += len(found)
        return found


async def test_a_backlog_is_read_once(broker: Broker) -> None:
    """Stale asks are looked up with one reading of the results, however many they are."""
    count = 600
    ids = await ask(
        broker, *(delivery_asked(str(n), ttl_s=0.001) for n in range(count))
    )
    counting: Any = Counting(broker.reader)
    async with performing(broker, log=counting):
        await results(broker, count)
        await until_acknowledged(broker, "effects-delivery")

    found = {said(each)[1] for each in await results(broker, count)}
    assert found == set(ids)
    assert counting.read <= 2 * count


async def test_a_ledger_knows_what_came_before_it_began(broker: Broker) -> None:
    """An older ask that comes later is looked up as well as any."""
    ids = await ask(broker, *(model_asked(str(n)) for n in range(3)))
    model = SlowModel()
    model.let.set()
    async with performing(broker, model):
        await results(broker, 3)
    ledger = Ledger(broker.reader)
    records = await broker.reader.page("ev.*.out.*.ask.*", 0, 10)
    outputs = [read_output(each) for each in records]
    held = [QueuedAsk(each, model_asked("x"), Receipts()) for each in outputs]
    late = await ask(broker, model_asked("late"))
    [record] = await broker.reader.page("ev.*.out.*.ask.*", records[-1].sequence, 10)
    newest = QueuedAsk(read_output(record), model_asked("late"), Receipts())

    assert [each.id for each in outputs] == ids
    assert newest.output.id == late[0]
    assert not await ledger.is_answered(newest)
    assert [await ledger.is_answered(each) for each in reversed(held)] == [True] * 3
    assert not await ledger.is_given_up(held[0])


async def test_none_of_a_crowd_is_handed_over_again(broker: Broker) -> None:
    """With more asks than any desk once held, each is taken once and kept."""
    outlet = SlowOutlet(broker)
    count = 400
    async with performing(broker, outlet=outlet) as running:
        await ask(broker, *(delivery_asked(str(n), ttl_s=600.0) for n in range(count)))
        await until(lambda: len(running.in_hand) == count, "all are in hand")
        info = await broker.client.jetstream().consumer_info("LOG", "effects-delivery")
        outlet.let.set()
        await results(broker, count)

    assert info.num_redelivered == 0
    assert info.num_ack_pending == count
    assert info.config.max_ack_pending == IN_HAND_LIMIT
