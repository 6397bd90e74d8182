"""The intake of a sealed log, cut off anywhere: nothing is lost, swapped or counted twice."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any, Literal

import pytest

from bench.beside import beside
from echoic.client.connection import LiveLog, open_log
from schemas.values.record import Record
from schemas.values.subjects import partition_of
from streams.jetstream import intake
from streams.jetstream.connection import connected, insist
from streams.jetstream.hardened_client import BrokerClient
from streams.jetstream.migrate import migrate
from streams.log import scan
from streams.topology import BOX_WINDOW, BOXES, DUPLICATE_WINDOW_S, IN
from tests.patience import PATIENCE_S
from tests.servers import fresh_server

pytestmark = pytest.mark.services

COUNT = BOX_WINDOW
SUBJECTS = ("in.ada.cam.seen", f"ip.{partition_of('ada')}.ada.door.open")
"""Of both letter boxes of an agent."""


@asynccontextmanager
async def sealed_log() -> AsyncIterator[tuple[BrokerClient, LiveLog]]:
    """A sealed log that nobody takes anything into yet."""
    async with fresh_server() as server, connected(server.core) as client:
        yield client, await open_log(client, await migrate(client, is_sealed=True))


@asynccontextmanager
async def taking(client: BrokerClient, log: LiveLog) -> AsyncIterator[None]:
    """An intake, which ends with the block wherever it is."""
    async with beside(intake.take_in(client, log)):
        yield


async def send(client: BrokerClient, numbers: range) -> None:
    """Publish bare numbers, none with an id, to both boxes."""
    for number in numbers:
        for subject in SUBJECTS:
            await client.request(subject, b"%d" % number, PATIENCE_S)


async def taken(log: LiveLog, count: int) -> dict[str, list[Record]]:
    """What each sensor's lane holds in the log, once all of it is there."""
    async with asyncio.timeout(PATIENCE_S):
        while True:
            lanes: dict[str, list[Record]] = {}
            async for each in scan(log, "ev.*.in.ada.sensor.>"):
                lanes.setdefault(each.subject, []).append(each)
            if [len(in_order(each)) for each in lanes.values()] == [count, count]:
                return lanes
            await asyncio.sleep(0.05)


def in_order(lane: list[Record]) -> list[int]:
    """The numbers of a lane as the mind takes them: of one id the first alone."""
    first: dict[str, int] = {}
    for each in lane:
        number = first.setdefault(each.headers["ce-id"], int(each.body))
        assert number == int(each.body)
    return list(first.values())


async def left(client: BrokerClient) -> int:
    """How many messages the boxes hold."""
    names = [IN.name, BOXES[partition_of("ada")].name]
    told = [await insist(client, f"$JS.API.STREAM.INFO.{each}", {}) for each in names]
    return sum(each["state"]["messages"] for each in told)


@pytest.mark.parametrize("step", ["append", "erase"])
async def test_what_was_being_taken_comes_before_what_is_new(
    step: Literal["append", "erase"], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Cut off behind a message's append, or before it is erased; without waiting for it."""
    reached = asyncio.Event()

    async def hang(*_: object) -> None:
        reached.set()
        await asyncio.Event().wait()

    async with sealed_log() as (client, log):
        await send(client, range(10))
        with monkeypatch.context() as cut:
            if step == "erase":
                cut.setattr(intake, "erase", hang)
            else:
                append = log.append

                async def appending(*given: Any) -> None:
                    await append(*given)
                    await hang()

                cut.setattr(log, "append", appending)
            async with taking(client, log):
                await reached.wait()
        await send(client, range(10, 13))
        # The broker itself refuses what comes again at once.
        await asyncio.sleep(2 * DUPLICATE_WINDOW_S)
        async with taking(client, log):
            lanes = await taken(log, 13)
            async with asyncio.timeout(PATIENCE_S):
                while await left(client):  # noqa: ASYNC110
                    await asyncio.sleep(0.05)

    for lane in lanes.values():
        assert in_order(lane) == list(range(13))
    # The one that was cut off is there twice, under one id.
    assert 27 <= sum(map(len, lanes.values())) <= 28


async def test_an_intake_that_opens_and_closes_quickly_swaps_nothing() -> None:
    """Wherever it ends, each sensor's events are there in order, under an id each."""
    async with sealed_log() as (client, log):
        sending = asyncio.create_task(send(client, range(COUNT)))
        closed = 0
        # However fast it is sent, what arrives is taken by several.
        while not sending.done() or closed < 6:
            async with taking(client, log):
                await asyncio.sleep(0.01 * (closed % 7))
            closed += 1
        async with taking(client, log):
            lanes = await taken(log, COUNT)

    for lane in lanes.values():
        assert in_order(lane) == list(range(COUNT))
