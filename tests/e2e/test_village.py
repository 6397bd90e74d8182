"""Two villagers and their place in lockstep with a village, over a real broker."""

import asyncio
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from threading import Thread

import pytest
import pytest_asyncio

from echoic.client import packs
from echoic.client.publish import tell
from echoic.client.sensor_access import access_file, sensor_credentials, write_access
from echoic.packs.bundled import PACKS
from echoic.run.instance import Instance
from handlers.effects.models import LiteLLM
from packs.village import model
from packs.village.sensor import main
from schemas.codec.decode import read_input, read_output
from schemas.codec.envelope import Input, Output
from schemas.messages.controls import SessionStarted
from schemas.messages.conversations import ConversationMoved
from schemas.messages.decisions import Decided
from schemas.messages.notes import Quarantined
from schemas.messages.sensing import Sensed
from schemas.values.subjects import partition_of
from streams.groups import groups
from tests.e2e.companion import replay
from tests.e2e.conftest import running_instance

pytestmark = [pytest.mark.asyncio(loop_scope="session"), pytest.mark.services]

MEMBERS = ("dara", "aria", "clearing")


@dataclass(frozen=True)
class Log:
    """What one member was told, and what its mind made of it."""

    inputs: tuple[Input, ...]
    outputs: tuple[Output, ...]

    def events(self, source: str, type_: str) -> list[tuple[Input, Sensed]]:
        """Its events of a type."""
        return [
            (each, each.message)
            for each in self.inputs
            if isinstance(each.message, Sensed)
            and (each.message.source, each.message.type) == (source, type_)
        ]

    def acts(self) -> list[tuple[Output, Decided]]:
        """What it decided to do, by whichever layer."""
        return [
            (each, each.message)
            for each in self.outputs
            if isinstance(each.message, Decided) and each.message.layer is not None
        ]


@dataclass(frozen=True)
class Played:
    """A morning that was played."""

    live: Instance
    code: int
    logs: dict[str, Log]


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def morning(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Played]:
    """A quarter of an hour in which they talk, plan and build."""
    await LiteLLM().prepare()
    folder = tmp_path_factory.mktemp("village")
    with model_served() as url:
        reached = {
            "ECHOIC_MODEL_NAME": f"openai/{model.NAME}",
            "ECHOIC_MODEL_API_BASE": url,
            "ECHOIC_MODEL_API_KEY": "none",
        }
        async with running_instance(folder, reached, packs=()) as live:
            for name in MEMBERS:
                await _joins(live, name)
            told = ["--agent", "dara", "--characters", "2", "--lockstep", "10000"]
            told += ["--day", "2026-11-20", "--hour", "8", "--hours", "0.25"]
            told += ["--run", "test"]
            told += ["--credentials", str(access_file(folder, "dara", "village"))]
            code = await asyncio.to_thread(main.main, told)
            yield Played(live, code, {each: await _log(live, each) for each in MEMBERS})


async def test_one_speaks_and_the_other_hears_and_answers(morning: Played) -> None:
    """Through the place, one after the other, and then both go on with their day."""
    assert morning.code == 0
    place = morning.logs["clearing"]
    said = place.events("agent", "said")
    speakers = [event.fields["agent"] for _, event in said]
    assert set(speakers) == {"aria", "dara"}
    answers = [event for _, event in said if "turn" in event.fields]
    assert answers
    moved = [
        each for each in place.outputs if isinstance(each.message, ConversationMoved)
    ]
    assert moved
    for name in ("aria", "dara"):
        heard = morning.logs[name].events("agent", "heard")
        assert heard
        assert all(event.fields["agent"] == "clearing" for _, event in heard)
        over = max(each.at for each in moved)
        assert [each for each, _ in morning.logs[name].acts() if each.at > over]


async def test_what_the_executor_plans_is_gathered_for_and_built(
    morning: Played,
) -> None:
    """A campfire, without a model but for the plan; the world shows it."""
    arms = [
        decided.arm.partition(":")[0] + ":" + decided.arm.split(":")[1]
        for name in ("aria", "dara")
        for _, decided in morning.logs[name].acts()
        if decided.layer == "queue"
    ]
    assert {"queue:gather", "queue:build"} <= set(arms)
    buildings = [
        event.fields["buildings"]
        for _, event in morning.logs["aria"].events("village", "body")
        if event.fields.get("buildings")
    ]
    assert isinstance(buildings[-1], dict)
    assert "campfire" in buildings[-1]


async def test_no_mind_thinks_late(morning: Played) -> None:
    """Each acts of its own accord at the time that it told before, to the second."""
    for name in MEMBERS:
        for each, decided in _alone(morning.logs[name]):
            told = morning.logs[name].inputs
            cause = next(
                one for one in told if one.sequence == each.mark.cause_sequence
            )
            assert isinstance(cause.message, Sensed), decided
            assert cause.message.occurred_at is not None
            late = (cause.message.occurred_at - each.at).total_seconds()
            assert late <= 1, (name, decided.arm, late)
        said = [each.message for each in morning.logs[name].outputs]
        assert not [each for each in said if isinstance(each, Quarantined)]


@pytest.mark.parametrize("name", MEMBERS)
async def test_a_replay_comes_to_the_same(morning: Played, name: str) -> None:
    """Of each villager, and of the place."""
    found = await replay(morning.live, name)
    assert found.is_identical, found.divergence


def _alone(log: Log) -> list[tuple[Output, Decided]]:
    """What it decided by itself, at a time."""
    return [
        (each, each.message)
        for each in log.outputs
        if isinstance(each.message, Decided) and each.message.timer is not None
    ]


async def _joins(live: Instance, name: str) -> None:
    """Make an agent a member, as `echoic sensor village` does."""
    folder = PACKS / "village"
    await packs.load_for(
        live.log, name, folder / name if name == "clearing" else folder
    )
    for source in ("village", "world"):
        access = await sensor_credentials(live.settings, name, source)
        write_access(access_file(live.settings.data, name, source), access)
    began = SessionStarted(session_id=f"morning-{name}", clock="event", world="morning")
    await tell(live.log, name, began)


async def _log(live: Instance, name: str) -> Log:
    found = [
        each
        async for each in groups(live.log, partition_of(name))
        if f".{name}." in each.input.subject
    ]
    return Log(
        tuple(read_input(each.input) for each in found),
        tuple(read_output(one) for each in found for one in each.outputs),
    )


@contextmanager
def model_served() -> Iterator[str]:
    """The pack's model for the length of the block; where it answers."""
    serving = model.server(0)
    thread = Thread(target=serving.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{serving.server_port}/v1"
    finally:
        serving.shutdown()
        serving.server_close()
        thread.join()
