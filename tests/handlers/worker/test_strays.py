"""Strays: what a sensor published to a subject with a wildcard is answered, once."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest

from bench.beside import beside
from bench.fuzz.raw import RawClient
from handlers.worker.stray_subjects import last_readmitted, reappend
from schemas.codec.decode import read_input
from schemas.codec.envelope import Unreadable
from schemas.values.record import Record
from schemas.values.subjects import STRAYED_TO
from streams.jetstream.connection import connected
from streams.log import ReadableLog
from tests.patience import PATIENCE_S
from tests.servers import Broker

pytestmark = pytest.mark.services

READMITTED = "ev.*.in._.stray.*"


@asynccontextmanager
async def readmitting(broker: Broker) -> AsyncIterator[None]:
    """Strays are appended again for the length of the block."""
    async with beside(reappend(broker.reader, broker.writer)):
        yield


async def come(log: ReadableLog, count: int) -> list[Record]:
    """The strays that were appended again, once there are so many."""
    found: list[Record] = []
    async with asyncio.timeout(PATIENCE_S):
        async for records in log.follow(READMITTED, 0, 100):
            found += records
            if len(found) >= count:
                break
    return found


async def publish(broker: Broker, subject: str, body: bytes) -> None:
    """Publish as a sensor may, until the log has it."""
    before = await broker.reader.last_sequence("in.>")
    await broker.client.request(subject, body, headers={"ce-id": "mine", "x-key": "v"})
    async with asyncio.timeout(PATIENCE_S):
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


async def test_a_stray_of_a_sensors_box_is_appended_too(broker: Broker) -> None:
    """It says what it was published to; those of both places come once each."""
    access = await broker.server.add_sensor("ana", "game")
    async with connected(access, "sensor") as sensor:
        for number in (b"1", b"2"):
            async with readmitting(broker):
                await sensor.request("in.ana.game.*", number)
                await publish(broker, "in.ana.game.>", number)
                await come(broker.reader, 2 * int(number))

    found = await broker.reader.page(READMITTED, 0, 100)
    assert sorted((each.headers[STRAYED_TO], each.body) for each in found) == [
        ("in.ana.game.*", b"1"), ("in.ana.game.*", b"2"),
        ("in.ana.game.>", b"1"), ("in.ana.game.>", b"2"),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("subject", "header"),
    [
        ("in.*.game.vital", b"x: \x0b\xff\x00\r\n"),
        ("in.*.game.vital", b"\x0f:\x07\x165f~\xb3H\x16k\nH\x17"),
        (f"in.*.game.{'v' * 3_000}", b"x: %b\r\n" % (b"y" * 59_000)),
    ],
    ids=["no UTF-8", "a line in a line", "as long as may be"],
)
async def test_a_stray_that_cannot_be_written_again_stops_nobody(
    broker: Broker, subject: str, header: bytes
) -> None:
    """It is appended without what it came with, and so is the next one, with it."""
    client = RawClient(broker.server.core)
    await client.send([(subject.encode(), header, b"hello")])
    await client.close()
    assert len(client.told.kept) == 1
    async with readmitting(broker):
        await publish(broker, "in.ana.game.*", b"next")
        first, second = await come(broker.reader, 2)

    taken = read_input(first)
    assert isinstance(taken.message, Unreadable)
    assert first.headers[STRAYED_TO] == subject
    assert second.body == b"next"
