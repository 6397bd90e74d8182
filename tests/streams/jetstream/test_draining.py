"""Emptying intake streams: nothing leaves one that the log lacks."""

import asyncio

import pytest

from schemas.values.subjects import partition_of
from streams.jetstream.bringing import Bringer
from streams.jetstream.connection import insist
from streams.jetstream.draining import drain, remove, safe_mark, without_gap
from streams.jetstream.migrate import close_intake, open_intake
from streams.jetstream.one_instance import OneInstance
from streams.jetstream.sourced import state_of
from streams.topology import BOXES, IN, LOG
from tests.patience import PATIENCE_S
from tests.servers import Broker
from tests.streams.jetstream.passed_over import BOXED, ODD, passing_over, publish
from tests.streams.sensors import OWN, arrived, send, sensor

pytestmark = pytest.mark.services

BOX = BOXES[partition_of("ada")].name


@pytest.mark.parametrize(
    ("taken", "first", "last", "mark"),
    [
        ({1, 2, 3}, 1, 3, 3),
        ({2, 3}, 1, 3, 0),
        ({1, 3}, 1, 3, 1),
        ({5, 6, 9}, 5, 9, 6),
        (set(), 4, 9, 3),
        ({1, 2, 3, 4}, 1, 2, 2),
    ],
)
def test_a_gap_ends_what_is_safe(
    taken: set[int], first: int, last: int, mark: int
) -> None:
    """However much the log has beyond it."""
    assert without_gap(taken, first, last) == mark


async def test_what_the_log_has_leaves_and_the_newest_stays(broker: Broker) -> None:
    """Nothing comes twice and nothing is missed, though the broker is killed then."""
    async with sensor(broker) as cam:
        for number in range(50):
            await send(cam, OWN, str(number).encode())
        await arrived(broker, 50)
        removed = await drain(broker.client, BOX)
        state = await state_of(broker.client, BOX)
        await broker.server.kill()
        await broker.server.restart()
        for number in range(50, 60):
            await send(cam, OWN, str(number).encode())
    records = await arrived(broker, 60)

    assert removed == 49
    assert (state["first_seq"], state["last_seq"], state["messages"]) == (50, 50, 1)
    assert [int(each.body) for each in records] == list(range(60))


async def test_what_the_log_passed_over_stays(broker: Broker) -> None:
    """A server that stood still can go on behind a message that the log never got."""
    async with sensor(broker) as cam:
        await close_intake(broker.client)
        for number in range(5):
            await send(cam, OWN, str(number).encode())
        await insist(
            broker.client, f"$JS.API.CONSUMER.RESET.{BOX}.{LOG.name}", {"seq": 3}
        )
        await open_intake(broker.client)
        await arrived(broker, 3)

        assert await drain(broker.client, BOX) == 0
        assert (await state_of(broker.client, BOX))["messages"] == 5


@pytest.mark.parametrize("subject", [BOXED, ODD])
async def test_what_was_brought_over_leaves(broker: Broker, subject: str) -> None:
    """The log says of that, too, where it came from."""
    async with passing_over(broker.client):
        await publish(broker.client, subject, "a", "b")
    await publish(broker.client, subject, "c")
    await arrived(broker, 1, ">")
    before = await drain(broker.client, BOX)
    bringer = Bringer(broker.client, OneInstance(broker.client, "intake"), sure_s=0.1)
    async with asyncio.timeout(PATIENCE_S):
        while not await bringer.look():
            pass

    assert before == 0
    assert await drain(broker.client, BOX) == 2


async def test_what_waits_stays(broker: Broker) -> None:
    """While the intake is closed, only what was taken before goes."""
    async with sensor(broker) as cam:
        await send(cam, OWN, b"before")
        await arrived(broker, 1)
        await close_intake(broker.client)
        for number in range(3):
            await send(cam, OWN, str(number).encode())
        await drain(broker.client, BOX)
        state = await state_of(broker.client, BOX)
        await open_intake(broker.client)
        records = await arrived(broker, 4)

    assert (state["first_seq"], state["messages"]) == (2, 3)
    assert [each.body for each in records] == [b"before", b"0", b"1", b"2"]


@pytest.mark.parametrize("kind", ["*", ">", "seen"])
async def test_every_subject_that_is_stored_can_be_drained(
    broker: Broker, kind: str
) -> None:
    """A sign that the server takes for a wildcard keeps nothing in its intake stream."""
    async with sensor(broker) as cam:
        await send(cam, OWN[: OWN.rindex(".") + 1] + kind)
        await send(cam, OWN)
    await arrived(broker, 2, ">")

    assert await drain(broker.client, BOX) == 1


@pytest.mark.parametrize(
    "subject", ["in.ada", "in.ada.b", "in.ada.b.c", "in.ada.b.c.d", "in.ada.*.c"]
)
async def test_the_stream_of_those_without_an_account_is_drained(
    broker: Broker, subject: str
) -> None:
    """Whatever their subjects are made of."""
    await send(broker.client, subject)
    await send(broker.client, "in.ada.b.c")
    await arrived(broker, 2, ">")

    assert await safe_mark(broker.client, IN.name) == 2
    assert await drain(broker.client, IN.name) == 1


async def test_a_mark_beyond_the_end_leaves_the_newest(broker: Broker) -> None:
    """And an empty stream is left alone."""
    assert await remove(broker.client, BOX, 10) == 0
    async with sensor(broker) as cam:
        await send(cam, OWN)
        await send(cam, OWN)

    assert await remove(broker.client, BOX, 10) == 1
    assert await remove(broker.client, BOX, 10) == 0
