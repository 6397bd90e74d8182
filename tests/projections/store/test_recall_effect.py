"""The memory as an effect, against a real broker and a real PostgreSQL."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from uuid import UUID

import orjson
import pytest

from echoic.run.memory import TableMemory
from handlers.broker import faststream_broker, start
from handlers.effects import recalling
from handlers.effects.perform import Performer
from handlers.effects.recalling import Memories, Memory, MemoryAway
from handlers.effects.subscribers import Effects
from projections.projector.projector import Projector
from projections.store.store import Store
from schemas.messages.asks import RecallAsked
from schemas.messages.results import Recalled, RecallFailed
from schemas.values.vectors import Limits
from streams.jetstream.consumers import prepare_consumers
from tests import factories
from tests.factories import LIMITS
from tests.handlers.effects.test_effects import ask, results, said
from tests.projections.chronicle import LOW, Chronicle
from tests.projections.store.test_recall import lived
from tests.replay.scenarios import WordsEmbedder
from tests.scenario import Scenario
from tests.servers import Broker

pytestmark = pytest.mark.services


class Words(WordsEmbedder):
    """The tests' embedder, with a limit for what is about the same."""

    limits = Limits(LIMITS.match, LIMITS.duplicate, LIMITS.endorse, goal=0.25)


def asked(query: str, **fields: object) -> RecallAsked:
    """A search of the memory."""
    made = {
        "decision_id": "d", "priority": 0.5, "expires_at": factories.NOON, "ttl_s": 20.0,
        **fields,
    }  # fmt: skip
    return RecallAsked(query=query, **made)  # type: ignore[arg-type]


async def told(store: Store) -> tuple[TableMemory, Scenario, int]:
    """A memory of what happened, and the place where its log ends."""
    chronicle = Chronicle(lived())
    log = await chronicle.catch_up()
    await Projector(log, store, chronicle.aids).catch_up()
    last = await log.last_sequence(f"ev.{chronicle.scenario.partition}.in.>")
    memory = TableMemory(store, Words(), log.epoch)
    await memory.prepare()
    return memory, chronicle.scenario, last


async def test_what_concerns_nobody_else_is_found(store: Store) -> None:
    """Nearest first, in words, as of the ask; what is like nothing is left out."""
    memory, scenario, last = await told(store)
    agent = scenario.agent

    hers = await memory.search(asked("red key", person="ada"), agent, last + 1, 20.0)
    assert hers.texts == [
        "2026-05-04 12:01 ada: where is the red key | you said: In the drawer."
    ]
    assert hers.as_of == last
    # Asked for nobody in particular, nothing of anybody is told.
    everybodys = await memory.search(asked("red key"), agent, last + 1, 20.0)
    assert everybodys.texts == []
    mine = await memory.search(asked(LOW), agent, last + 1, 20.0)
    assert [LOW in each for each in mine.texts] == [True]
    early = await memory.search(asked(LOW), agent, 1, 20.0)
    assert (list(early.texts), early.as_of) == ([], 0)
    # More than was projected cannot be known: the answer says up to where it is.
    late = await memory.search(asked(LOW), agent, last + 1_000, 20.0)
    assert late.as_of == last


async def test_what_cannot_be_asked_is_away(store: Store) -> None:
    """A database of another log, and one that is gone."""
    memory, scenario, last = await told(store)
    other = TableMemory(store, Words(), UUID(int=1))
    with pytest.raises(MemoryAway, match="another log"):
        await other.search(asked("red"), scenario.agent, last, 20.0)
    with Store("postgresql://nobody@127.0.0.1:1/none") as away:
        memory = TableMemory(away, Words(), memory.epoch)
        await memory.prepare()
        with pytest.raises(MemoryAway, match="is away"):
            await memory.search(asked("red"), scenario.agent, last, 20.0)


@dataclass
class Remembering:
    """A memory that answers as it is told."""

    found: Memories | Exception

    async def prepare(self) -> None:
        """It is ready."""

    async def search(
        self, asked: RecallAsked, agent: str, before: int, within_s: float
    ) -> Memories:
        """Answer."""
        if isinstance(self.found, Exception):
            raise self.found
        return self.found


@pytest.mark.parametrize(
    ("memory", "within_s", "expected"),
    [
        (Remembering(Memories(["d"], ["a red key"], 7)), 1.0, "a red key"),
        (Remembering(TimeoutError()), 1.0, "timeout"),
        (Remembering(MemoryAway("gone")), 1.0, "unavailable"),
        (Remembering(Memories([], [], 7)), 0.0, "timeout"),
        (None, 1.0, "unavailable"),
    ],
)
async def test_each_end_is_a_result(
    memory: Memory | None, within_s: float, expected: str
) -> None:
    """What was found, or why nothing was."""
    turn = Scenario().control(factories.mind_started())
    made = await recalling.recall(
        memory, turn.outputs[0], asked("red"), within_s=within_s
    )
    assert made.ask_id == turn.outputs[0].id
    match made:
        case Recalled(texts=texts, as_of=as_of):
            assert (texts, as_of) == ((expected,), 7)
        case RecallFailed(reason=reason, detail=detail):
            assert reason == expected
            assert detail


async def test_an_ask_in_the_log_is_answered_there(broker: Broker) -> None:
    """By the effects over a real broker, once, whatever the queue does."""
    memory = Remembering(Memories(["d"], ["a red key"], 7))
    async with performing(broker, memory):
        [ask_id] = await ask(broker, asked("red"))
        [answer] = await results(broker, 1)
    assert said(answer) == ("recalled", ask_id)
    assert orjson.loads(answer.body)["texts"] == ["a red key"]


@asynccontextmanager
async def performing(broker: Broker, memory: Memory) -> AsyncIterator[None]:
    """Effects that run for the length of the block."""
    await prepare_consumers(broker.client)
    subscriber = faststream_broker(broker.server.core)
    effects = Effects(
        Performer(broker.reader, broker.writer, broker.client, None, memory=memory)
    )
    effects.subscribe(subscriber)
    await start(subscriber)
    try:
        async with effects.serving():
            yield
    finally:
        await subscriber.stop()
