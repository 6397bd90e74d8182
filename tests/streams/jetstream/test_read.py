"""Long stretches of the log come from consumers that read ahead; nothing shows of that."""

from contextlib import suppress

from nats.js.errors import NotFoundError

from schemas.values.subjects import outputs_of
from streams.log import GroupWrite, scan
from streams.topology import LOG
from tests.servers import Broker, fresh_broker
from tests.streams.messages import a_group

OUTPUTS = outputs_of(11)


async def filled(broker: Broker, groups: int = 3, after: int = 0) -> int:
    """Append groups of a thousand outputs, and return the last sequence."""
    for _ in range(groups):
        write = GroupWrite(11, after, a_group(after + 1, 1000))
        after = (await broker.writer.commit([write]))[11]
    return after


async def test_records_read_ahead_are_those_read_directly():
    """A record is the same whichever way it came, and comes once, in order."""
    async with fresh_broker() as broker:
        last = await filled(broker)
        ahead = [each async for each in scan(broker.reader, OUTPUTS)]
        direct = [
            each
            for after in range(0, last, 500)
            for each in await broker.reader.page(OUTPUTS, after, 500)
        ]

    assert [each.sequence for each in ahead] == list(range(1, last + 1))
    assert ahead == direct


async def test_two_readers_of_one_filter_do_not_share_a_page():
    """Neither misses what the other was sent."""
    async with fresh_broker() as broker:
        last = await filled(broker)
        one, other = (scan(broker.reader, OUTPUTS) for _ in range(2))
        met = [
            ((await anext(one)).sequence, (await anext(other)).sequence)
            for _ in range(last)
        ]

    assert met == [(each, each) for each in range(1, last + 1)]


async def test_reading_goes_on_after_the_broker_dropped_the_consumer():
    """A consumer that is gone costs a direct page, and no record."""
    async with fresh_broker() as broker:
        last = await filled(broker)
        context, seen = broker.client.jetstream(), []
        async for record in scan(broker.reader, OUTPUTS):
            seen.append(record.sequence)
            if len(seen) % 900 == 0:
                for each in await context.consumers_info(LOG.name):
                    # One that has just ended by itself may still be listed.
                    with suppress(NotFoundError):
                        await context.delete_consumer(LOG.name, each.name)

    assert seen == list(range(1, last + 1))


async def test_reading_goes_on_over_a_broker_that_was_killed():
    """What was read ahead is lost with the connection, and read again."""
    async with fresh_broker() as broker:
        last, seen = await filled(broker), []
        async for record in scan(broker.reader, OUTPUTS):
            seen.append(record.sequence)
            if len(seen) == 1_150:
                await broker.server.kill()
                await broker.server.restart()

    assert seen == list(range(1, last + 1))


async def test_readers_that_stop_early_leave_no_more_than_one_page():
    """The next reader of the filter ends the consumer of the one before."""
    async with fresh_broker() as broker:
        last = await filled(broker, 2)
        for _ in range(20):
            async for record in scan(broker.reader, OUTPUTS):
                if record.sequence == 150:
                    break
        seen = [each.sequence async for each in scan(broker.reader, OUTPUTS)]
        consumers = len(broker.client.receivers)

    assert seen == list(range(1, last + 1))
    # The others are that of requests, and that of changes of the log's segments.
    assert consumers <= 3


async def test_what_arrives_behind_the_end_is_read_later():
    """A consumer that met the end is not kept: no later record is taken for a gap."""
    async with fresh_broker() as broker:
        last = await filled(broker, 2)
        before = [each.sequence async for each in scan(broker.reader, OUTPUTS)]
        end = await filled(broker, 1, last)
        after = [each.sequence async for each in scan(broker.reader, OUTPUTS, last)]

    assert before == list(range(1, last + 1))
    assert after == list(range(last + 1, end + 1))
