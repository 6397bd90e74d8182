"""However many streams a log has, the same inputs get the same answers."""

from collections.abc import Mapping

import pytest

from bench.segments import answers
from replay.recording.sessions import steps
from schemas.codec.decode import read_input, read_output
from schemas.codec.encode import write_input
from schemas.messages.controls import PackLoaded, SessionStarted
from schemas.messages.decisions import Decided
from schemas.messages.feedback import FeedbackGiven
from schemas.packs.event_types import EventType
from schemas.packs.manifest import Heuristic, Pack, Response, to_blob
from schemas.state.evidence import Belief
from schemas.values.record import Record, Wire
from schemas.values.subjects import SHARED_AGENT, partition_of
from streams.groups import answer, groups
from streams.jetstream.segments import roll_over
from tests.minds import bringer, publish, sensed, started, working
from tests.patience import PATIENCE_S
from tests.servers import Broker, fresh_broker

pytestmark = pytest.mark.services

AGENTS = [f"agent{number}" for number in range(12)]
PARTITIONS = sorted({partition_of(agent) for agent in AGENTS})
PACK = Pack(
    schema=1,
    name="doors",
    version="1",
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


async def all_answered(broker: Broker, wires: list[Wire]) -> None:
    """Publish inputs, and wait for their answers."""
    sequences = await publish(broker.writer, wires)
    for wire, sequence in zip(wires, sequences, strict=True):
        partition = int(wire.subject.split(".")[1])
        await answer(broker.reader, partition, sequence, PATIENCE_S)


async def life(broker: Broker) -> None:
    """A pack, events of many agents, and a vote on each first decision."""
    digest = await broker.writer.put_blob(to_blob(PACK))
    loaded = PackLoaded(name=PACK.name, pack_version=PACK.version, digest=digest)
    await all_answered(
        broker,
        [
            write_input(
                loaded,
                agent=SHARED_AGENT,
                partition=each,
                id_=f"pack-{each}",
                source="/test",
            )
            for each in PARTITIONS
        ],
    )
    # By the time of events: how new something is depends on it.
    session = SessionStarted(session_id="visits", clock="event")
    await all_answered(
        broker,
        [
            write_input(
                session,
                agent=agent,
                partition=partition_of(agent),
                id_=f"{agent}-session",
                source="/test",
            )
            for agent in AGENTS
        ],
    )
    for apples in range(4):
        await all_answered(
            broker,
            [
                sensed(
                    agent,
                    f"{agent}-{apples}",
                    f"a visitor with {apples} apples came in",
                    occurred_at=f"2026-03-01T08:0{apples}:00Z",
                )
                for agent in AGENTS
            ],
        )
    await all_answered(broker, [await vote(broker, agent) for agent in AGENTS])


async def vote(broker: Broker, agent: str) -> Wire:
    """A vote on an agent's first decision."""
    told = [each async for each in groups(broker.reader, partition_of(agent))]
    outputs = [
        read_output(each)
        for group in told
        if read_input(group.input).id == f"{agent}-0"
        for each in group.outputs
    ]
    (decided,) = [each for each in outputs if isinstance(each.message, Decided)]
    given = FeedbackGiven(decision_id=decided.id, rating="positive", actor="user")
    return write_input(
        given,
        agent=agent,
        partition=partition_of(agent),
        id_=f"{agent}-vote",
        source="/test",
    )


async def lived(streams: int) -> tuple[str, dict[str, object]]:
    """What was answered over so many streams, and what is believed in the end."""
    made: dict[str, list[Record]] = {}
    believed: dict[str, Mapping[str, Belief]] = {}
    async with fresh_broker() as broker:
        await roll_over(broker.client, streams)
        async with working(broker.reader, broker.writer, started()):
            await life(broker)
        for partition in PARTITIONS:
            async for group in groups(broker.reader, partition):
                id_ = read_input(group.input).id
                if id_.startswith("agent"):
                    made[id_] = list(group.outputs)
            async for step in steps(broker.reader, partition, bringer(broker.reader)):
                if step.agent in AGENTS:
                    believed[step.agent] = step.after.agents[step.agent].beliefs
    assert len(made) == 6 * len(AGENTS)
    return answers(made), {
        agent: [(each.confidence, each.alpha, each.beta) for each in beliefs.values()]
        for agent, beliefs in believed.items()
    }


async def test_the_number_of_streams_changes_no_answer() -> None:
    """Texts, paths, reasons and confidences are those of a log of one stream."""
    alone = await lived(1)
    assert any(alone[1].values())
    for streams in (2, 4, 16):
        assert await lived(streams) == alone
