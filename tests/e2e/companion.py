"""A companion of a running instance, as the tests meet it: by its doors and its log.

Events go in through a sensor's own account, words come out on `out.<agent>.>`, and what
became of them is read from the log.
"""

import asyncio
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any, TypeVar

import orjson
from nats.aio.msg import Msg

from echoic.client.publish import decided_on, new_event_id, publish_raw, tell
from echoic.client.sensor_access import sensor_credentials
from echoic.run.instance import Instance
from handlers.aids import AidProvider, PackLibrary
from replay.recording.decisions import DecisionRecord
from replay.recording.sessions import steps
from replay.verify import Span, Verification, verify
from schemas.codec.catalogue import ControlMessage, InputMessage, OutputMessage
from schemas.codec.decode import read_input, read_output
from schemas.codec.envelope import Output
from schemas.messages.controls import HeuristicSeeded
from schemas.messages.feedback import FeedbackGiven
from schemas.state.agent import AgentState
from schemas.state.evidence import Belief
from schemas.values import ids
from schemas.values.subjects import partition_of
from streams.audit import audit_partition
from streams.groups import Group, answer, arrival, groups
from streams.jetstream.connection import connected
from streams.jetstream.hardened_client import BrokerClient
from tests.patience import PATIENCE_S

M = TypeVar("M", bound=OutputMessage)
N = TypeVar("N", bound=InputMessage)

GAME = "game"
PACK = "game-advisor"


@dataclass(frozen=True, slots=True)
class Companion:
    """One agent, its sensor and its listener."""

    agent: str
    live: Instance
    sensor: BrokerClient
    words: "asyncio.Queue[Msg]"
    """What was said to whoever listens, oldest first."""

    @property
    def partition(self) -> int:
        """Where the log holds it."""
        return partition_of(self.agent)

    async def publish(
        self,
        text: str,
        *,
        type_: str = "vital",
        source: str = GAME,
        id_: str | None = None,
        headers: Mapping[str, str] | None = None,
        **fields: Any,
    ) -> str:
        """Publish an event as its sensor does; `fields` are those of `Sensed`."""
        event_id = id_ or new_event_id()
        body = orjson.dumps({"text": text, **fields})
        given = {**(headers or {}), "ce-id": event_id}
        await publish_raw(self.sensor, f"in.{self.agent}.{source}.{type_}", body, given)
        return event_id

    async def senses(
        self, text: str, *, type_: str = "vital", **fields: Any
    ) -> DecisionRecord:
        """Publish an event and wait until its decision is final."""
        event_id = await self.publish(text, type_=type_, **fields)
        return await self.decided(event_id, type_)

    async def decided(self, event_id: str, type_: str = "vital") -> DecisionRecord:
        """The decision on an event, once it is final."""
        return await decided_on(
            self.live.log, self.agent, GAME, type_, event_id, 0, PATIENCE_S
        )

    async def answered(self, subject: str, event_id: str, after: int = 0) -> Group:
        """The group that answers whatever was published with this id."""
        record = await arrival(self.live.log, subject, event_id, after, PATIENCE_S)
        place = int(record.subject.split(".")[1])
        return await answer(self.live.log, place, record.sequence, PATIENCE_S)

    async def tell(
        self, message: ControlMessage | FeedbackGiven
    ) -> Sequence[OutputMessage]:
        """Tell it something, and return what it answers."""
        outputs = await tell(self.live.log, self.agent, message)
        return [output.message for output in outputs]

    async def votes(
        self, decision: DecisionRecord, rating: str, actor: str = "user"
    ) -> Sequence[OutputMessage]:
        """Judge a decision."""
        body = {"decision_id": decision.id, "rating": rating, "actor": actor}
        return await self.tell(FeedbackGiven.from_fields(body))

    async def taught(self, name: str, condition: str, text: str, **more: Any) -> str:
        """Teach a heuristic about what its game shows, and return its id."""
        fields = {"domain": PACK, "confidence": 0.8, **more}
        seeded = HeuristicSeeded(
            heuristic_id=name, name=name, condition=condition, text=text, **fields
        )
        await self.tell(seeded)
        return name

    async def hears(self) -> dict[str, Any]:
        """The next words said, as a listener gets them."""
        async with asyncio.timeout(PATIENCE_S):
            message = await self.words.get()
        body: dict[str, Any] = orjson.loads(message.data)
        return body

    async def groups(self) -> list[Group]:
        """Everything of the agent so far, in the log's logical order."""
        found = groups(self.live.log, self.partition)
        return [each async for each in found if f".{self.agent}." in each.input.subject]

    async def outputs(self, type_: type[M]) -> list[M]:
        """Every message of one type that it has put out so far."""
        return [
            each.message
            for each in await self._all()
            if isinstance(each.message, type_)
        ]

    async def comes(self, type_: type[M], count: int = 1) -> list[M]:
        """The messages of one type, once there are so many."""
        async with asyncio.timeout(PATIENCE_S):
            while len(found := await self.outputs(type_)) < count:  # noqa: ASYNC110
                await asyncio.sleep(0.02)
        return found

    async def state(self) -> AgentState:
        """What is known of it, as the log has it."""
        last = AgentState()
        async for step in steps(self.live.log, self.partition, bringer(self.live)):
            if step.agent == self.agent:
                last = step.after.agents[self.agent]
        return last

    async def confidence(self, heuristic_id: str) -> float:
        """What is believed of a heuristic that was already credited or fired."""
        (found,) = await self.beliefs(heuristic_id)
        return found.confidence

    async def beliefs(self, heuristic_id: str) -> list[Belief]:
        """What is believed of each content of a heuristic."""
        state = await self.state()
        return [
            state.beliefs[key]
            for key in sorted(state.beliefs)
            if key.startswith(f"{heuristic_id}@")
        ]

    async def inputs(self, type_: type[N]) -> list[N]:
        """Every input of one type that it has answered so far."""
        taken = [read_input(each.input).message for each in await self.groups()]
        return [message for message in taken if isinstance(message, type_)]

    async def _all(self) -> list[Output]:
        return [
            read_output(each) for group in await self.groups() for each in group.outputs
        ]


def of_pack(name: str) -> str:
    """The id of a heuristic of the game's pack."""
    return ids.heuristic_id(PACK, name)


def bringer(live: Instance) -> AidProvider:
    """What a replay of the instance's log is given."""
    return AidProvider(live.embedder, PackLibrary(live.log, live.embedder))


@asynccontextmanager
async def companion(
    live: Instance, agent: str, *, grants: tuple[str, ...] = ()
) -> AsyncIterator[Companion]:
    """An agent with a sensor and a listener; in the end its log must be sound."""
    credentials = await sensor_credentials(live.settings, agent, GAME, grants)
    words: asyncio.Queue[Msg] = asyncio.Queue()
    async with connected(credentials, "test sensor") as sensor:
        await sensor.subscribe(f"out.{agent}.>", cb=words.put)
        await sensor.flush()
        yield Companion(agent, live, sensor, words)
        await is_sound(live, partition_of(agent))
        replayed = await replay(live, agent)
        assert replayed.is_identical, replayed.divergence


async def is_sound(live: Instance, partition: int) -> None:
    """Wait until every input of a partition is answered; nothing else may be wrong."""
    async with asyncio.timeout(PATIENCE_S):
        while not (found := await audit_partition(live.log, partition)).sound:
            assert found.faults == found.unanswered, found
            await asyncio.sleep(0.02)


async def replay(live: Instance, agent: str) -> Verification:
    """The agent's whole log, answered anew."""
    span = Span(partition_of(agent), agent=agent)
    return await verify(live.log, span, bringer(live))
