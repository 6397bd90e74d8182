"""Running minds for tests: settings, events, and a worker over a log."""

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from functools import cache
from typing import Any

import orjson

from bench.beside import beside
from echoic.embedders import embedder
from handlers.aids import AidProvider, PackLibrary
from handlers.worker.loop import Worker
from schemas.messages.controls import MindStarted
from schemas.values.record import Wire
from schemas.values.settings import CodeDigests, MatchLimits
from schemas.values.subjects import input_subject, partition_of
from schemas.values.vectors import Embedder
from streams.groups import Group, groups
from streams.log import ReadableLog, WritableLog
from tests import factories
from tests.patience import PATIENCE_S


@cache
def the_embedder() -> Embedder:
    """The embedder of every test: loading it takes a while."""
    return embedder("wordllama")


def started(**settings: Any) -> MindStarted:
    """What a worker tells its partitions."""
    made = the_embedder()
    limits = MatchLimits(
        match=made.limits.match,
        duplicate=made.limits.duplicate,
        endorse=made.limits.endorse,
    )
    return MindStarted(
        settings=factories.settings(limits=limits, embedder=made.name, **settings),
        digests=CodeDigests(version="test", embedder=made.digest),
    )


def bringer(log: ReadableLog) -> AidProvider:
    """Brings aids out of a log's store."""
    return AidProvider(the_embedder(), PackLibrary(log, the_embedder()))


@asynccontextmanager
async def working(
    log: ReadableLog, writer: WritableLog, message: MindStarted, **options: Any
) -> AsyncIterator[Worker]:
    """A worker that answers inputs for the length of the block."""
    brings = options.pop("bringer", None) or bringer(log)
    worker = Worker(log, writer, brings, message, **options)
    async with beside(worker.run()):
        await worker.ready.wait()
        yield worker


def sensed(agent: str, id_: str, text: str, **fields: Any) -> Wire:
    """An event as the log holds it once it came from a sensor."""
    subject = input_subject(partition_of(agent), agent, "sensor", "cam.seen")
    body = orjson.dumps({"text": text, **fields})
    return Wire(subject, {"ce-id": id_}, body)


async def publish(writer: WritableLog, wires: Sequence[Wire]) -> list[int]:
    """Append events one after the other and return their sequences."""
    return [
        await writer.append(wire, f"s:{place}.{wire.headers['ce-id']}")
        for place, wire in enumerate(wires)
    ]


async def until(condition: Callable[[], bool], what: str) -> None:
    """Wait until something holds, but not for ever."""
    try:
        async with asyncio.timeout(PATIENCE_S):
            while not condition():  # noqa: ASYNC110  # whoever knows has no event
                await asyncio.sleep(0.005)
    except TimeoutError:
        raise AssertionError(f"it never came to this: {what}") from None


async def all_groups(log: ReadableLog, agent: str) -> list[Group]:
    """Every group of the agent's partition, without the worker's own start."""
    return [
        group
        async for group in groups(log, partition_of(agent))
        if ".in._." not in group.input.subject
    ]
