"""Segments follow one another without a gap, whatever ends the roll-over in between."""

import asyncio
from collections import Counter
from collections.abc import Callable
from contextlib import suppress

import pytest

from bench.beside import beside
from schemas.values.record import Record, Wire
from schemas.values.subjects import PARTITIONS, outputs_of, partition_of
from streams.audit import audit
from streams.errors import Fenced, LogReclaimed, LogRefused
from streams.jetstream.append import JetStreamWriter
from streams.jetstream.connection import connected
from streams.jetstream.migrate import check, close_intake, migrate, open_intake
from streams.jetstream.read import JetStreamReader
from streams.jetstream.segments import STEPS, listed, mark, roll_over
from streams.jetstream.stalls import go_on
from streams.log import GroupWrite, scan
from streams.segments import WIDTH
from streams.topology import BOXES, box_subject
from tests.minds import until
from tests.patience import PATIENCE_S
from tests.servers import Broker

pytestmark = pytest.mark.services

AGENTS = [f"agent{number}" for number in range(24)]


class Crash(Exception):
    """Ends a roll-over as a kill would: nothing after it is done."""


def crashing(at: str) -> Callable[[str], None]:
    """What is told of a roll-over ends it at one of its steps."""

    def tell(step: str) -> None:
        if step == at:
            raise Crash

    return tell


async def send(broker: Broker, ids: list[str]) -> None:
    """Each id as an event through `IN`, through a box, and one with a malformed subject."""
    for number, id_ in enumerate(ids):
        agent = AGENTS[number % len(AGENTS)]
        box = box_subject(agent, "cam").replace("*", "seen")
        for subject in (f"in.{agent}.user.said", box, f"in.{agent}.odd"):
            headers = {"ce-id": f"{id_}:{subject}"}
            await broker.client.request(subject, b"{}", PATIENCE_S, headers=headers)


async def sensed(broker: Broker) -> list[Record]:
    """What sensors sent, as the log has it."""
    subjects = "ev.*.in.*.sensor.>"
    return [
        each
        async for each in scan(
            JetStreamReader(broker.client, broker.reader.epoch), subjects
        )
    ]


async def arrived(broker: Broker, count: int) -> list[Record]:
    """The sensors' messages, once so many are there; a moment later there are no more."""
    async with asyncio.timeout(PATIENCE_S):
        while len(await sensed(broker)) < count:  # noqa: ASYNC110
            await asyncio.sleep(0.05)
    await asyncio.sleep(0.3)
    return await sensed(broker)


def ids(name: str, count: int = 30) -> list[str]:
    """Some ids."""
    return [f"{name}{number}" for number in range(count)]


def check_whole(found: list[Record], sent: list[str]) -> None:
    """Each was sent and is there once, those of an agent and subject in their order."""
    assert len(found) == 3 * len(sent)
    assert set(Counter(each.headers["ce-id"] for each in found).values()) == {1}
    assert len({each.sequence for each in found}) == len(found)
    for subject in {each.subject for each in found}:
        own = [
            each.headers["ce-id"].partition(":")[0]
            for each in found
            if each.subject == subject
        ]
        places = [sent.index(each) for each in own]
        assert places == sorted(places)


@pytest.mark.parametrize("counts", [(1, 1), (4, 2, 16, 1), (2, 4)])
async def test_a_log_goes_on_over_its_segments(
    broker: Broker, counts: tuple[int, ...]
) -> None:
    """However often it is divided, everything is there once, and in order."""
    sent = ids("first")
    await send(broker, sent)
    for count in counts:
        # The last ones may not be taken yet when the roll-over begins.
        segments = await roll_over(broker.client, count)
        assert len(segments.open) == count
        assert await check(broker.client) == broker.reader.epoch
        more = ids(f"then{len(segments.segments)}")
        await send(broker, more)
        sent += more

    check_whole(await arrived(broker, 3 * len(sent)), sent)
    for partition in range(PARTITIONS):
        chain = (await listed(broker.client)).chain(partition)
        assert len(chain) == 1 + len(counts)
        assert [each.first for each in chain] == sorted(each.first for each in chain)


@pytest.mark.parametrize(
    ("counts", "step"),
    [
        *(((4,), step) for step in STEPS),
        *(((1,), step) for step in ("sealed", "made", "opened")),
        *(((4, 2), step) for step in ("planned", "sealed", "noted")),
    ],
)
async def test_a_crash_at_any_step_loses_and_doubles_nothing(
    broker: Broker, counts: tuple[int, ...], step: str
) -> None:
    """A roll-over that is begun again goes on; meanwhile sensors send."""
    *before, count = counts
    sent = ids("before")
    await send(broker, sent)
    for each in before:
        await roll_over(broker.client, each)
    with suppress(Crash):
        await roll_over(broker.client, count, tell=crashing(step))
    sent += ids("between")
    await send(broker, ids("between"))
    # As an instance begins.
    async with connected(broker.server.core, "again") as again:
        await migrate(again)
        await close_intake(again)
        await roll_over(again, None)
        await open_intake(again)
        assert await check(again) == broker.reader.epoch
        assert len((await listed(again)).open) == count
    sent += ids("after")
    await send(broker, ids("after"))

    check_whole(await arrived(broker, 3 * len(sent)), sent)


async def test_a_box_that_is_put_behind_the_log_is_not_taken_twice(
    broker: Broker,
) -> None:
    """By a segment that took nothing of it yet, and by one that took all of it."""
    sent = ids("before")
    await send(broker, sent)
    await arrived(broker, 3 * len(sent))
    segments = await roll_over(broker.client, 1)
    (segment,) = segments.open
    for name in ("between", "after"):
        await go_on(broker.client, segments, segment, list(BOXES))
        sent += ids(name)
        await send(broker, ids(name))
        check_whole(await arrived(broker, 3 * len(sent)), sent)


def an_output(partition: int, cause: int) -> Wire:
    """An output that is a whole group."""
    headers = {
        "ce-id": f"out-{cause}",
        "ce-causeseq": str(cause),
        "ce-causeid": "x",
        "ce-index": "0",
        "ce-count": "1",
    }
    return Wire(f"ev.{partition}.out._.note.handled", headers, b"{}")


@pytest.mark.parametrize("count", [1, 4])
async def test_a_stale_writer_is_refused(broker: Broker, count: int) -> None:
    """Whoever wrote to the closed segment, or never wrote, cannot write behind its end."""
    writer, other = broker.writer, JetStreamWriter(broker.client)
    ends = await writer.commit([GroupWrite(3, 0, (an_output(3, 1),))])
    await writer.commit([GroupWrite(3, ends[3], (an_output(3, 2),))])
    await roll_over(broker.client, count)
    end = await broker.reader.last_sequence(outputs_of(3))

    for stale in (0, ends[3]):
        with pytest.raises(Fenced):
            await other.commit([GroupWrite(3, stale, (an_output(3, 9),))])
    # Partition 5 has no output anywhere: 0 is the truth there.
    made = await other.commit(
        [
            GroupWrite(3, end, (an_output(3, 3), an_output(3, 4))),
            GroupWrite(5, 0, (an_output(5, 5),)),
            GroupWrite(15, 0, (an_output(15, 6),)),
        ]
    )
    assert made[3] == await broker.reader.last_sequence(outputs_of(3))
    assert made[15] == await broker.reader.last_sequence(outputs_of(15))
    again = await other.commit([GroupWrite(3, made[3], (an_output(3, 7),))])
    with pytest.raises(Fenced):
        await writer.commit([GroupWrite(3, end, (an_output(3, 8),))])
    assert await broker.reader.last_sequence(outputs_of(3)) == again[3]


async def test_who_follows_hears_of_the_next_segment(broker: Broker) -> None:
    """A reader that waits in a segment goes on in those that follow it."""
    heard: list[str] = []
    end = await broker.reader.ends("ev.*.in.*.sensor.>")

    async def follow() -> None:
        async for records in broker.reader.follow("ev.*.in.*.sensor.>", end, 10):
            heard.extend(each.headers["ce-id"] for each in records)

    sent: list[str] = []
    async with beside(follow()):
        for count in (1, 4, 2):
            await send(broker, ids(f"to{count}"))
            sent += ids(f"to{count}")
            await roll_over(broker.client, count)
        await send(broker, ids("last"))
        sent += ids("last")
        await until(lambda: len(heard) >= 3 * len(sent), "all are heard")
    assert set(Counter(heard).values()) == {1}


async def test_the_ends_of_all_ranges_are_asked_for_at_once(broker: Broker) -> None:
    """What arrives behind them is followed, and nothing before."""
    await send(broker, ids("old"))
    await roll_over(broker.client, 4)
    await send(broker, ids("new"))
    await arrived(broker, 180)
    ends = await broker.reader.ends("ev.>")
    assert len(ends) == 4
    assert [each // WIDTH for each in ends] == [0, 1, 2, 3]

    await send(broker, ids("newest"))
    heard: list[str] = []
    async with asyncio.timeout(PATIENCE_S):
        async for records in broker.reader.follow("ev.*.in.*.sensor.>", ends, 10):
            heard.extend(each.headers["ce-id"] for each in records)
            if len(heard) == 90:
                break
    assert {each.partition(":")[0] for each in heard} == set(ids("newest"))


async def test_each_partition_begins_with_what_it_goes_on_from(broker: Broker) -> None:
    """The input is there once in each, and names stream, end and digest."""
    await send(broker, ids("some"))
    (log,) = (await roll_over(broker.client, 2)).segments[:1]
    notes = [
        each async for each in scan(broker.reader, "ev.*.in._.control.segment_closed")
    ]
    assert len(notes) == PARTITIONS
    assert log.digest
    assert all(log.digest.encode() in each.body for each in notes)
    assert (await audit(broker.reader)).causeless == 0


async def test_a_state_goes_only_the_way_it_can(broker: Broker) -> None:
    """An open segment is never given up; what is gone is said to be."""
    await send(broker, ids("some"))
    await roll_over(broker.client, 1)
    with pytest.raises(LogRefused, match="open"):
        await mark(broker.client, "LOG_1", "archived", "closed")
    await mark(broker.client, "LOG", "archived", "closed")
    await mark(broker.client, "LOG", "deleted", "archived")
    reader = JetStreamReader(broker.client, broker.reader.epoch)
    with pytest.raises(LogReclaimed, match="archive"):
        await reader.page(f"ev.{partition_of(AGENTS[0])}.in.>", 0, 10)
    with pytest.raises(LogRefused, match="not 3"):
        await roll_over(broker.client, 3)
