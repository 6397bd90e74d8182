"""Strays: what a sensor published to a subject with a wildcard is answered, once."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest

from handlers.worker.stray_subjects import last_readmitted, reappend
from schemas.codec.decode import read_input
from schemas.codec.envelope import Unreadable
from schemas.values.record import Record
from streams.log import ReadableLog
from tests.servers import Broker

pytestmark = pytest.mark.services

READMITTED = "ev.*.in._.stray.*"


@asynccontextmanager
async def readmitting(broker: Broker) -> AsyncIterator[None]:
    """Strays are appended again for the length of the block."""
    task = asyncio.create_task(reappend(broker.reader, broker.writer))
    try:
        yield
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)


async def come(log: ReadableLog, count: int) -> list[Record]:
    """The strays that were appended again, once there are so many."""
    found: list[Record] = []
    async with asyncio.timeout(20):
        async for records in log.follow(READMITTED, 0, 100):
            found += records
            if len(found) >= count:
                break
    return found


async def publish(broker: Broker, subject: str, body: bytes) -> None:
    """Publish as a sensor may, until the log has it."""
    before = await broker.reader.last_sequence("in.>")
    await broker.client.request(subject, body, headers={"ce-id": "mine", "x-key": "v"})
    async with asyncio.timeout(20):
        while await broker.reader.last_sequence("in.>") == before:  # noqa: ASYNC110
            await asyncio.sleep(0.01)


async def test_a_stray_is_appended_as_an_input_that_says_what_is_wrong(
    broker: Broker,
) -> None:
    """It keeps body and headers, and is read as published outside the grammar."""
    async with readmitting(broker):
        await publish(broker, "in.*.game.vital", b"hello")
        (stray,) = await come(broker.reader, 1)

    taken = read_input(stray)
    assert isinstance(taken.message, Unreadable)
    assert taken.message.reason == "bad_subject"
    assert "'in.*.game.vital'" in taken.message.detail
    assert (stray.body, stray.headers["x-key"], taken.id) == (b"hello", "v", "mine")
    assert taken.agent == "_"


async def test_a_stray_is_appended_once(broker: Broker) -> None:
    """Whoever starts again goes on behind the last one; none is left out."""
    await publish(broker, "in.ana.game.*", b"1")
    async with readmitting(broker):
        await come(broker.reader, 1)
    await publish(broker, "in.ana.game.>", b"2")
    assert await last_readmitted(broker.reader) > 0

    async with readmitting(broker):
        found = await come(broker.reader, 2)

    assert [record.body for record in found] == [b"1", b"2"]
    assert len(await broker.reader.page(READMITTED, 0, 100)) == 2
