"""Kill -9 while villagers talk: each word is said once, no conversation is stuck.

`python -m bench.village --kills 50` does so with a whole village, over all processes.
"""

import asyncio
import itertools
import random
from collections import Counter
from collections.abc import AsyncIterator, Callable, Sequence
from multiprocessing.process import BaseProcess
from pathlib import Path

import orjson
import pytest

from bench.beside import beside
from handlers.state_sources import state_code
from handlers.worker.recovery import Recovery
from replay.recording.worlds import export, find_world
from replay.world import verify_world
from schemas.codec.encode import write_input
from schemas.messages.controls import PackLoaded, SessionStarted
from schemas.packs.manifest import to_blob
from schemas.values.model_settings import ModelSettings
from schemas.values.record import Record, Wire
from schemas.values.subjects import input_subject, partition_of
from streams.session_files.file import read_session, write_world
from tests.crash.conftest import Running
from tests.crash.test_deferred_kills import begins
from tests.crash.test_kills import assert_it_replays, everything, settled
from tests.crash.worker_process import TalkingModel, serve_for_ever, serving
from tests.handlers.mind.characters.clearing import place_pack
from tests.handlers.mind.characters.village import villager
from tests.minds import bringer, publish, started
from tests.patience import PATIENCE_S
from tests.servers import Broker, fresh_broker

pytestmark = [pytest.mark.crash, pytest.mark.services, pytest.mark.slow]

CLEARING = "clearing"
VILLAGERS = ("aria", "luna", "bram")
MEMBERS = (*VILLAGERS, CLEARING)
KILLS = 3
SETTINGS = started(model=ModelSettings(name="quick"), ttl_s=60.0)
TALKER = {
    "place": CLEARING,
    "likelihood": False,
    "conversation_s": 1.0,
    "extrovert_s": 1.0,
    "tools": [{"name": "talk"}, {"name": "leave_conversation"}],
}


@pytest.fixture
async def broker() -> AsyncIterator[Broker]:
    """A real server with an empty log."""
    async with fresh_broker() as running:
        yield running


async def beginnings(broker: Broker) -> list[Wire]:
    """Three villagers who stand beside each other, and their clearing."""
    lives = villager(layers=["reflex", "talker"], reflexes=[], needs={}, talker=TALKER)
    packs = dict.fromkeys(VILLAGERS, lives) | {CLEARING: place_pack(silence_s=2)}
    controls = []
    for agent, pack in packs.items():
        digest = await broker.writer.put_blob(to_blob(pack.pack))
        name, version = pack.pack.name, pack.pack.version
        loaded = PackLoaded(name=name, pack_version=version, digest=digest)
        session = SessionStarted(session_id=f"of-{agent}", world="talks")
        for message in (loaded, session):
            wire = write_input(
                message,
                agent=agent,
                partition=partition_of(agent),
                id_=f"{agent}-{message.token}",
                source="/test",
            )
            controls.append(wire)
    places = [
        told(CLEARING, f"at-{each}", "position", agent=each, x=n, y=0)
        for n, each in enumerate(VILLAGERS)
    ]
    return [*controls, *places]


def told(whom: str, id_: str, type_: str, **fields: object) -> Wire:
    """What the world tells an agent."""
    subject = input_subject(partition_of(whom), whom, "sensor", f"world.{type_}")
    return Wire(subject, {"ce-id": id_}, orjson.dumps({"text": "x", "fields": fields}))


async def live(broker: Broker) -> None:
    """Tell every villager of its body, again and again."""
    for number in itertools.count():
        for agent in VILLAGERS:
            body = told(agent, f"body-{number}-{agent}", "body", extraversion=0.9)
            await broker.writer.append(body, f"body-{number}-{agent}")
        await asyncio.sleep(0.5)


async def some_speeches(broker: Broker, count: int) -> None:
    """Wait until so much more was told by agents."""
    subjects = "ev.*.in.*.sensor.agent.>"
    last = await broker.reader.last_sequence(subjects)
    following = broker.reader.follow(subjects, last, 1)
    async with asyncio.timeout(PATIENCE_S):
        for _ in range(count):
            await anext(following)
    await following.aclose()


@pytest.mark.timeout(240)
async def test_villagers_talk_on_though_they_are_killed(
    broker: Broker,
    tmp_path: Path,
    moments: random.Random,
    running: Running,
    kill: Callable[[BaseProcess], None],
) -> None:
    """Workers and effects, and then the broker, die in the middle of conversations."""
    serves = (broker.server.core, SETTINGS, None, None, TalkingModel())
    begun = await beginnings(broker)
    for number in range(KILLS):
        with running(serve_for_ever, *serves) as process:
            await begins(broker)
            await publish(broker.writer, [] if number else begun)
            async with beside(live(broker)):
                await some_speeches(broker, moments.randint(1, 6))
                await asyncio.sleep(moments.uniform(0, 0.5))
                kill(process)
    async with serving(*serves):
        await broker.server.kill()
        await broker.server.restart()
        dead = [told(each, f"dead-{each}", "body", health=0) for each in VILLAGERS]
        await publish(broker.writer, dead)
        await all_over(broker)
        await settled(broker)

    await assert_nothing_is_said_twice(broker)
    for place in {partition_of(each) for each in MEMBERS}:
        await assert_it_replays(broker, place)
    await assert_the_world_is_whole(broker, tmp_path / "world.echoic")


async def all_over(broker: Broker) -> None:
    """Wait until no conversation is under way: nobody is alive to open one any more."""
    provider = bringer(broker.reader)
    recovery = Recovery(
        broker.reader, provider, None, state_code(SETTINGS.digests.embedder)
    )
    async with asyncio.timeout(120):
        while True:
            state = (await recovery.recover(partition_of(CLEARING))).state
            if not state.agents[CLEARING].character.place.conversations:
                return
            await asyncio.sleep(0.5)


async def assert_nothing_is_said_twice(broker: Broker) -> None:
    """What one is told is decided on once, and said by its place once at most."""
    decided = Counter(
        (agent_of(record), body["event_id"])
        for record, body in await bodies(broker, "decision.decided")
        if body.get("timer") is None
    )
    assert set(decided.values()) == {1}
    asks = {
        record.headers["ce-id"]: body
        for record, body in await bodies(broker, "ask.delivery_asked")
    }
    ends = Counter(
        orjson.loads(record.body)["ask_id"]
        for record in await everything(broker, "ev.*.in.*.result.delivered")
    )
    assert set(ends) <= set(asks)
    types = Counter(body["action"]["type"] for body in asks.values())
    assert 0 < types["speak"] <= types["said"]
    heard = {
        record.headers["ce-id"]
        for record in await everything(broker, "ev.*.in.*.sensor.agent.>")
    }
    assert heard <= {event_id for _, event_id in decided}


async def assert_the_world_is_whole(broker: Broker, path: Path) -> None:
    """As one file: every member is decided again, every message stems from an ask."""
    span = await find_world(broker.reader, "talks")
    write_world(
        path, span.id, await export(broker.reader, span, bringer(broker.reader))
    )
    found = await verify_world([read_session(path, each) for each in MEMBERS], bringer)
    assert found.is_identical, (found.whole.divergence, found.strays)
    assert found.told >= KILLS


async def bodies(
    broker: Broker, detail: str
) -> Sequence[tuple[Record, dict[str, dict[str, str]]]]:
    """All outputs of a sort."""
    records = await everything(broker, f"ev.*.out.*.{detail}")
    return [(record, orjson.loads(record.body)) for record in records]


def agent_of(record: Record) -> str:
    """Whose it is."""
    return record.subject.split(".")[3]
