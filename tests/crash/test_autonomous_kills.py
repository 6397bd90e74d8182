"""Kill -9 while an autonomous character decides anew about a failure: that happens once."""

import asyncio
import random
from collections.abc import AsyncIterator, Callable, Sequence
from multiprocessing.process import BaseProcess
from typing import Any

import orjson
import pytest

from handlers.state_sources import state_code
from handlers.worker.recovery import Recovery
from schemas.codec.encode import write_input
from schemas.messages.controls import PackLoaded
from schemas.packs.manifest import to_blob
from schemas.state.autonomy import Autonomy
from schemas.values.model_settings import ModelSettings
from schemas.values.record import Record, Wire
from schemas.values.subjects import input_subject, partition_of
from tests.crash.conftest import Running
from tests.crash.test_deferred_kills import begins
from tests.crash.test_kills import assert_it_replays, everything
from tests.crash.worker_process import DoingModel, serve_for_ever, serving
from tests.handlers.mind.characters.autonomous.cafe import BODY, cafe
from tests.minds import bringer, publish, started
from tests.patience import PATIENCE_S
from tests.servers import Broker, fresh_broker

pytestmark = [pytest.mark.crash, pytest.mark.services, pytest.mark.slow]

GOLEM = "golem"
PLACE = partition_of(GOLEM)
SETTINGS = started(model=ModelSettings(name="quick"), ttl_s=60.0)
LOST = "What just failed"


@pytest.fixture
async def broker() -> AsyncIterator[Broker]:
    """A real server with an empty log."""
    async with fresh_broker() as running:
        yield running


def told(id_: str, type_: str, **body: Any) -> Wire:
    """What its world tells the golem."""
    subject = input_subject(PLACE, GOLEM, "sensor", f"world.{type_}")
    return Wire(subject, {"ce-id": id_}, orjson.dumps({"text": "No way.", **body}))


async def beginnings(broker: Broker) -> list[Wire]:
    """Its pack, by which it decides at once when it has nothing to do, and its body."""
    pack = cafe(tier=2, interval={"least_s": 1, "most_s": 1})
    digest = await broker.writer.put_blob(to_blob(pack.pack))
    loaded = PackLoaded(name="cafe", pack_version="1.0.0", digest=digest)
    control = write_input(
        loaded, agent=GOLEM, partition=PLACE, id_="pack", source="/test"
    )
    return [control, told("body", "body", fields=BODY)]


async def some(broker: Broker, detail: str, count: int) -> Sequence[Record]:
    """The golem's outputs of a sort, once there are so many."""
    async with asyncio.timeout(PATIENCE_S):
        while True:
            found = await everything(broker, f"ev.*.out.{GOLEM}.{detail}")
            if len(found) >= count:
                return found
            await asyncio.sleep(0.05)


async def fails(broker: Broker, number: int) -> None:
    """Report that what it did last, its `number`-th action, has failed."""
    asks = await some(broker, "ask.delivery_asked", number)
    decision_id = orjson.loads(asks[number - 1].body)["decision_id"]
    report = told(f"end-{number}", "report", in_reply_to=decision_id, outcome="failed")
    await publish(broker.writer, [report])


async def remembered(broker: Broker) -> Autonomy:
    """What it knows of what it did, as a worker that starts now would fold it."""
    code = state_code(SETTINGS.digests.embedder)
    recovery = Recovery(broker.reader, bringer(broker.reader), None, code)
    return (await recovery.recover(PLACE)).state.agents[GOLEM].character.autonomy


@pytest.mark.timeout(180)
async def test_it_decides_anew_about_a_failure_once(
    broker: Broker,
    moments: random.Random,
    running: Running,
    kill: Callable[[BaseProcess], None],
) -> None:
    """Killed before and after it asks its model about the failure, it asks no second time."""
    serves = (broker.server.core, SETTINGS, None, None, DoingModel("Lean"))
    with running(serve_for_ever, *serves) as process:
        await begins(broker)
        await publish(broker.writer, await beginnings(broker))
        await fails(broker, 1)
        await asyncio.sleep(moments.uniform(0, 0.2))
        kill(process)
    with running(serve_for_ever, *serves) as process:
        await fails(broker, 2)
        await asyncio.sleep(moments.uniform(0, 0.2))
        kill(process)
    async with serving(*serves):
        await some(broker, "ask.delivery_asked", 3)

    asks = await everything(broker, f"ev.*.out.{GOLEM}.ask.model_asked")
    prompts = [orjson.loads(each.body)["prompt"] for each in asks]
    assert sum(LOST in each for each in prompts) == 1
    decided = await everything(broker, f"ev.*.out.{GOLEM}.decision.decided")
    arms = [orjson.loads(each.body)["arm"] for each in decided]
    assert sum(arm.startswith("random:") for arm in arms) == 1
    known = await remembered(broker)
    assert known.retries == 2
    assert [act.outcome for act in known.acts][:2] == ["failed", "failed"]
    assert [act.by for act in known.acts][2] == "random"
    await assert_it_replays(broker, PLACE)
