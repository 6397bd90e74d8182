"""A replay cannot act: nothing that could is in its reach, and a log stays as it is."""

import subprocess
import sys
from collections.abc import Iterator
from contextlib import aclosing
from dataclasses import replace
from types import BuiltinFunctionType, CodeType, FunctionType, MethodType, ModuleType

import pytest
from nats.aio.client import Client

from echoic.client.recordings import LogSource, opened
from handlers.aids import AidProvider, PackLibrary
from handlers.effects.models import LiteLLM
from replay.closed_loop.run import Answers, ClosedLoopRun
from replay.open_loop.asked import ask_open_loop
from replay.recording.source import of_file
from replay.verify import Span, verify
from schemas.packs.manifest import to_blob
from schemas.values.record import Wire
from schemas.values.settings import StrategySpec
from schemas.values.subjects import partition_of
from streams.errors import LogRefused
from streams.groups import answer
from streams.jetstream.append import JetStreamWriter
from streams.jetstream.connection import reading
from streams.jetstream.sealed_log import open_reader
from streams.log import GroupWrite
from tests.bench.session import PARTITION
from tests.memory_log import MemoryLog
from tests.minds import publish, sensed, started, the_embedder, working
from tests.patience import PATIENCE_S
from tests.replay.evening import evening
from tests.replay.scenarios import everything, recording_of, records_of
from tests.servers import Broker, fresh_broker

ACTORS = (Client, JetStreamWriter, MemoryLog, LiteLLM)
ALWAYS = StrategySpec(name="always_llm")
_ASK_FOR_ACTORS = """
import importlib, pkgutil, sys
import replay
for found in pkgutil.walk_packages(replay.__path__, "replay."):
    importlib.import_module(found.name)
actors = ("nats", "litellm", "faststream", "streams.jetstream.append",
          "streams.jetstream.connection", "handlers.effects",
          "handlers.worker", "echoic.doors.services", "echoic")
print(*[name for name in actors if name in sys.modules])
"""


def reachable(*roots: object) -> Iterator[object]:
    """Every object that can be got at from these by attributes, items and closures."""
    seen, waiting = set[int](), list(roots)
    while waiting:
        each = waiting.pop()
        if id(each) in seen or isinstance(each, type | ModuleType | CodeType):
            continue
        seen.add(id(each))
        yield each
        waiting += _parts(each)


def _parts(each: object) -> list[object]:
    match each:
        case str() | bytes() | int() | float() | BuiltinFunctionType():
            return []
        case FunctionType():
            return [cell.cell_contents for cell in each.__closure__ or ()]
        case MethodType():
            return [each.__self__, each.__func__]
        case dict():
            return [*each.keys(), *each.values()]
        case list() | tuple() | set() | frozenset():
            return list(each)
        case _:
            slots = [
                name
                for kind in type(each).__mro__
                for name in getattr(kind, "__slots__", ())
            ]
            held = [getattr(each, name, None) for name in slots]
            frame = getattr(each, "ag_frame", None) or getattr(each, "gi_frame", None)
            local = list(frame.f_locals.values()) if frame else []
            return [*getattr(each, "__dict__", {}).values(), *held, *local]


def test_nothing_that_acts_is_even_imported():
    """All of the replay loads without a client, a writer, a worker or a model."""
    asked = subprocess.run(
        [sys.executable, "-c", _ASK_FOR_ACTORS],
        capture_output=True,
        text=True,
        check=True,
    )

    assert asked.stdout.split() == []


async def test_nothing_that_acts_is_in_reach():
    """From a replay under way no way leads to what could write, send or ask."""
    recording = of_file(evening(), "evening")
    made = the_embedder()
    bringer = AidProvider(made, PackLibrary(recording.log, made))
    life = ClosedLoopRun(recording, ALWAYS, bringer, answers=Answers(mode="cassette"))
    async with (
        aclosing(life.decisions()) as running,
        aclosing(ask_open_loop(recording, [None, ALWAYS])) as asking,
    ):
        await anext(running)
        await anext(asking)
        found = list(reachable(life, running, asking, recording, bringer))

    assert len(found) > 1_000
    assert [each for each in found if isinstance(each, ACTORS)] == []
    assert [each for each in found if hasattr(each, "append") and _is_log(each)] == []


def _is_log(each: object) -> bool:
    return hasattr(each, "commit") or hasattr(each, "put_blob")


async def test_a_replay_of_a_live_log_leaves_it_as_it_is():
    """Whatever is replayed from a broker, no stream of it has a message more."""
    session = everything(40)
    async with fresh_broker() as broker:
        await broker.writer.put_blob(to_blob(session.pack.pack))
        end = 0
        for turn in session.turns:
            input_, *outputs = [
                Wire(each.subject, each.headers, each.body) for each in records_of(turn)
            ]
            await broker.writer.append(input_, f"t:{turn.input.sequence}")
            write = GroupWrite(PARTITION, end, tuple(outputs))
            ends = await broker.writer.commit([write])
            end = ends[PARTITION]
        before = await _ends(broker)
        async with reading(broker.server.core, "test replay") as client:
            log = await open_reader(client)
            recording = replace(recording_of(session), log=log)
            made = the_embedder()
            bringer = AidProvider(made, PackLibrary(log, made))
            met = [each async for each in ask_open_loop(recording, [None, ALWAYS])]
            life = ClosedLoopRun(recording, ALWAYS, bringer)
            run = [each async for each in life.decisions()]
            await verify(log, Span(PARTITION), bringer)
            for subject in ("ev.0.in.ada.sensor.a.b", "out.ada.say", "in.ada.a.b"):
                with pytest.raises(LogRefused):
                    await client.publish(subject, b"{}")
                with pytest.raises(LogRefused):
                    await client.jetstream().publish(subject, b"{}")
        after = await _ends(broker)

    assert len(met) == len(run) >= 40
    assert after == before


async def test_a_source_is_opened_to_be_read():
    """A recording of a running log comes with its state, and what it is known by."""
    async with fresh_broker() as broker:
        async with working(broker.reader, broker.writer, started()):
            wires = [sensed("ana", f"e{n}", f"thing {n}") for n in range(6)]
            sequences = await publish(broker.writer, wires)
            place = partition_of("ana")
            await answer(broker.reader, place, sequences[-1], PATIENCE_S)
        source = LogSource(
            credentials=broker.server.core,
            agent="ana",
            embedder="wordllama",
            first=sequences[2],
            last=sequences[4],
        )
        async with opened(source) as (recording, _):
            found = [each async for each in ask_open_loop(recording, [None])]
        async with opened(source) as (again, _):
            digest = again.digest

    assert [each.decided.event_id for each in found] == ["e2", "e3", "e4"]
    assert (recording.first, recording.last) == (sequences[2], sequences[4])
    assert recording.start.agents["ana"].sources["cam"].seen.get("e1")
    assert recording.digest == digest


async def _ends(broker: Broker) -> dict[str, int]:
    context = broker.client.jetstream()
    return {
        info.config.name or "": info.state.last_seq
        for info in await context.streams_info()
    }
