"""Turns: who is granted one next, how fast, and once each, by the queue and by a broker."""

import asyncio
from dataclasses import dataclass, field
from datetime import UTC, datetime

import orjson
import pytest
from msgspec import structs

from bench.beside import beside
from handlers.effects.priority_queue import AskQueue, QueuedAsk
from handlers.effects.turns import TurnQueue
from schemas.codec.envelope import Mark, Output
from schemas.messages.asks import ModelAsked, TurnAsked
from schemas.values.record import Record
from tests.handlers.effects.test_desk import Told
from tests.handlers.effects.test_effects import (
    SlowModel,
    ask,
    model_asked,
    performing,
    results,
    said,
)
from tests.minds import until
from tests.servers import Broker

NOON = datetime(2026, 11, 21, 12, tzinfo=UTC)


def turn_asked(
    decision_id: str = "d", priority: float = 3.0, **more: object
) -> TurnAsked:
    """A layer's wait for its turn."""
    fields = {"layer": "talker", "ttl_s": 30.0, "expires_at": NOON, **more}
    return TurnAsked(decision_id=decision_id, priority=priority, **fields)  # type: ignore[arg-type]  # by name


def held(
    sequence: int, message: TurnAsked | ModelAsked, agent: str = "ada"
) -> QueuedAsk:
    """An ask as the broker delivers it."""
    record = Record("ev.1.out.ada.ask.turn_asked", {}, b"", sequence, 0)
    mark = Mark(cause_sequence=1, cause_id="e", index=0, count=1)
    output = Output(
        record=record,
        partition=1,
        agent=agent,
        id=str(sequence),
        at=NOON,
        mark=mark,
        message=message,
    )
    return QueuedAsk(output, message, Told())


@dataclass
class Desk:
    """A queue of turns over one of calls that never end."""

    slots: int = 100
    granted: list[int] = field(default_factory=list)
    late: set[int] = field(default_factory=set)

    def __post_init__(self) -> None:
        """Make both queues."""
        self.calls = AskQueue(self._hang, slots=self.slots)
        self.turns = TurnQueue(
            self._grant,
            calls=self.calls,
            slots=self.slots,
            left_s=lambda each: 0.0 if self._sequence(each) in self.late else 30.0,
        )

    async def serve(self, *turns: QueuedAsk) -> list[int]:
        """Serve turns that all wait already until no more are granted."""
        for each in turns:
            await self.turns.take(each)
        count = -1
        async with beside(self.turns.run()):
            while count < len(self.granted):
                count = len(self.granted)
                await asyncio.sleep(0.2)
        return self.granted

    async def _grant(self, each: QueuedAsk) -> None:
        self.granted.append(self._sequence(each))

    async def _hang(self, each: QueuedAsk) -> None:
        await asyncio.Event().wait()

    @staticmethod
    def _sequence(each: QueuedAsk) -> int:
        return each.output.record.sequence


async def test_the_most_urgent_goes_first() -> None:
    """Whenever it came; of equal ones the oldest, of different characters."""
    waits = [(1, 3.0, "ada"), (2, 8.0, "bo"), (3, 3.0, "cy"), (4, 10.0, "di")]
    turns = [held(n, turn_asked(f"d{n}", p), agent) for n, p, agent in waits]
    assert await Desk().serve(*turns) == [4, 2, 1, 3]


async def test_what_one_had_counts_against_it() -> None:
    """Who talks all the time leaves turns to who seldom does."""
    chatty = [held(n, turn_asked(f"d{n}", 8.0)) for n in range(1, 9)]
    quiet = held(20, turn_asked("quiet", 3.0), agent="bo")
    granted = await Desk().serve(*chatty, quiet)
    assert granted == [1, 2, 3, 4, 5, 6, 20, 7, 8]


async def test_a_gap_lies_between_two_turns() -> None:
    """Whoever they are of."""
    turns = [held(n, turn_asked(f"d{n}", gap_s=60.0), f"a{n}") for n in range(3)]
    assert await Desk().serve(*turns) == [0]


async def test_layers_have_limits_of_their_own() -> None:
    """The talkers' limit leaves the executors theirs; one model's counts by its reason."""
    talkers = [held(n, turn_asked(f"d{n}", 8.0, per_minute=2)) for n in range(4)]
    single = turn_asked("d4", 8.0, layer="single", per_minute=2)
    plans = [
        turn_asked(f"p{n}", 1.0, layer=layer, reason="idle", per_minute=1)
        for n, layer in enumerate(("executor", "single"))
    ]
    others = [held(10 + n, each) for n, each in enumerate((single, *plans))]
    assert await Desk().serve(*talkers, *others) == [0, 1, 11]


async def test_turns_wait_for_calls_that_are_in_hand() -> None:
    """As many as run at once, those that are about to come included."""
    desk = Desk(slots=2)
    turns = [held(n, turn_asked(f"d{n}")) for n in range(4)]
    assert await desk.serve(*turns) == [0, 1]

    desk = Desk(slots=2)
    await desk.calls.take(held(9, talks()))
    await desk.calls.take(held(8, model_asked("a companion's, which has no turn")))
    assert await desk.serve(*turns) == [0]


async def test_what_is_late_is_told_so_at_once() -> None:
    """Though nothing may be granted, and it counts for nobody."""
    desk = Desk(slots=0, late={2})
    turns = [held(n, turn_asked(f"d{n}")) for n in range(4)]
    assert await desk.serve(*turns) == [2]


def talks(decision_id: str = "d") -> ModelAsked:
    """A talker's question to its model."""
    asked = model_asked(f"for {decision_id}")
    return structs.replace(asked, purpose="talker", decision_id=decision_id)


@pytest.mark.services
async def test_each_turn_is_granted_once_though_models_hang(broker: Broker) -> None:
    """Three at once while all models hang; what was cut off is granted by the next process."""
    hanging, answering = SlowModel(), SlowModel()
    async with performing(broker, hanging):
        ids = await ask(broker, *(turn_asked(f"d{n}") for n in range(6)))
        first = [said(each) for each in await results(broker, 3)]
        calls = [talks(f"d{ids.index(id_)}") for _, id_ in first]
        called = await ask(broker, *calls)
        await until(lambda: len(hanging.prompts) == 3, "three models are asked")
        await asyncio.sleep(0.3)
        assert len(await results(broker, 3)) == 3
    answering.let.set()
    async with performing(broker, answering):
        found = [said(each) for each in await results(broker, 9)]
    granted = [id_ for what, id_ in found if what == "turn_granted"]
    assert sorted(granted) == sorted(ids)
    answered = [id_ for what, id_ in found if what == "model_answered"]
    assert sorted(answered) == sorted(called)


@pytest.mark.services
async def test_a_turn_that_comes_too_late_fails(broker: Broker) -> None:
    """By the broker's time, as of every ask."""
    ids = await ask(broker, turn_asked(ttl_s=0.001))
    async with performing(broker):
        [failed] = await results(broker, 1)
    assert said(failed) == ("turn_failed", ids[0])
    assert orjson.loads(failed.body)["reason"] == "stale"
