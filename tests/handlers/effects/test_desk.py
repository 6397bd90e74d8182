"""The desk by itself: who is served first, and what goes back to the broker."""

import asyncio
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime

import pytest

from bench.beside import beside
from handlers.effects.priority_queue import AskQueue, QueuedAsk
from schemas.codec.envelope import Mark, Output
from schemas.messages.asks import DeliveryAsked
from schemas.values.record import Record
from tests.minds import until

NOON = datetime(2026, 11, 21, 12, tzinfo=UTC)


@dataclass
class Told:
    """What the broker was told of one message."""

    acks: int = 0
    delays: list[float | None] = field(default_factory=list)

    async def ack(self) -> None:
        """It is done with."""
        self.acks += 1

    async def nack(self, delay: float | None = None) -> None:
        """It comes again."""
        self.delays.append(delay)

    async def in_progress(self) -> None:
        """It is in hand."""


class Counter:
    """Performs asks when it is let, and knows in which order they began."""

    def __init__(self) -> None:
        """Keep everybody waiting."""
        self.begun: list[int] = []
        self.let = asyncio.Event()
        self.is_broken = False

    async def perform(self, held: QueuedAsk) -> None:
        """Begin, and end when let."""
        self.begun.append(held.output.record.sequence)
        await self.let.wait()
        if self.is_broken:
            raise RuntimeError("the counter is closed")


def held(sequence: int, priority: float = 0.1) -> QueuedAsk:
    """An ask of some priority."""
    ask = DeliveryAsked(
        decision_id="d",
        priority=priority,
        expires_at=NOON,
        ttl_s=30.0,
        event_id="e",
        channel="say",
        text="Hello.",
        response_type="quip",
        urgency=0.0,
        path="heuristic",
    )
    record = Record("ev.1.out.ada.ask.delivery_asked", {}, b"", sequence, 0)
    mark = Mark(cause_sequence=1, cause_id="e", index=0, count=1)
    output = Output(
        record=record,
        partition=1,
        agent="ada",
        id=str(sequence),
        at=NOON,
        mark=mark,
        message=ask,
    )
    return QueuedAsk(output, ask, Told())


def told(each: QueuedAsk) -> Told:
    """What the broker was told of an ask."""
    assert isinstance(each.receipt, Told)
    return each.receipt


async def test_a_threat_overtakes_what_came_earlier() -> None:
    """With all slots held, the most urgent of those that wait is next."""
    counter = Counter()
    desk = AskQueue(counter.perform, slots=3)
    async with beside(desk.run()):
        for sequence in range(1, 7):
            await desk.take(held(sequence))
        await until(lambda: len(counter.begun) == 3, "all slots are held")
        await desk.take(held(7, priority=2.0))

        counter.let.set()

        await until(lambda: len(counter.begun) == 7, "all are served")
        assert counter.begun == [1, 2, 3, 7, 4, 5, 6]


async def test_what_is_done_is_acknowledged() -> None:
    """The broker hears of an ask once its result is there, not before."""
    counter = Counter()
    desk = AskQueue(counter.perform, slots=1)
    async with beside(desk.run()):
        ask = held(1)
        await desk.take(ask)
        await until(lambda: counter.begun == [1], "it has begun")
        before = told(ask).acks

        counter.let.set()

        await until(lambda: told(ask).acks == 1, "it is acknowledged")
        assert before == 0
        assert told(ask).delays == []


async def test_what_fails_comes_again() -> None:
    """An ask that could not be performed goes back, and the desk stays open."""
    counter = Counter()
    counter.is_broken = True
    counter.let.set()
    desk = AskQueue(counter.perform, slots=1)
    async with beside(desk.run()):
        first, second = held(1), held(2)

        await desk.take(first)
        await desk.take(second)

        await until(lambda: bool(told(second).delays), "both went back")
        assert told(first).delays == [1.0]
        assert told(first).acks == told(second).acks == 0


async def test_a_crowd_sends_the_least_urgent_back() -> None:
    """When too many wait, the one with the lowest priority waits at the broker."""
    desk = AskQueue(Counter().perform, slots=1, limit=2)
    asks = [held(1, 0.5), held(2, 0.2), held(3, 0.9)]

    for ask in asks:
        await desk.take(ask)

    assert [told(ask).delays for ask in asks] == [[], [5.0], []]


async def test_an_ask_in_hand_is_taken_once() -> None:
    """What the broker hands over again out of impatience is served once."""
    counter = Counter()
    desk = AskQueue(counter.perform, slots=1)
    async with beside(desk.run()):
        for sequence in (1, 2, 1, 2):
            await desk.take(held(sequence))

        counter.let.set()
        await desk.take(held(3))

        await until(lambda: 3 in counter.begun, "the last is served")
        assert counter.begun == [1, 2, 3]


class Unsure(Told):
    """A receipt that fails in a way that nobody foresaw."""

    async def ack(self) -> None:
        """Fail."""
        raise RuntimeError("what is an acknowledgement?")


async def test_a_desk_that_fails_says_so_and_serves_again(
    caplog: pytest.LogCaptureFixture,
) -> None:
    """What it had in hand comes again, and whoever comes next is served."""
    counter = Counter()
    desk = AskQueue(counter.perform, slots=2)
    async with beside(desk.keep_running("of models")):
        other, last = held(2), held(3)
        await desk.take(replace(held(1), receipt=Unsure()))
        await desk.take(other)
        await until(lambda: len(counter.begun) == 2, "both are served")

        counter.let.set()
        await until(lambda: "the queue of models failed" in caplog.text, "it is told")
        await until(lambda: told(other) != Told(), "none is lost")
        while not told(last).acks:
            await desk.take(last)
            await asyncio.sleep(0.01)

        assert 3 in counter.begun


async def test_a_desk_that_closes_gives_everything_back() -> None:
    """What waits and what is being served comes again, for whoever is next."""
    counter = Counter()
    desk = AskQueue(counter.perform, slots=1)
    async with beside(desk.run()):
        asks = [held(1), held(2)]
        for ask in asks:
            await desk.take(ask)
        await until(lambda: counter.begun == [1], "one is being served")

    late = held(3)
    await desk.take(late)

    assert [told(ask).delays for ask in (*asks, late)] == [[1.0], [1.0], [1.0]]
