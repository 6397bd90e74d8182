"""Writing to the real broker: fences between workers, lost answers, kills."""

import asyncio
import logging
import random
from dataclasses import replace

import pytest
from msgspec import structs

from schemas.values.subjects import outputs_of
from streams.audit import Audit, audit
from streams.errors import Fenced, LogFull, LogRefused, LogUnavailable
from streams.headers import block_of
from streams.jetstream import append, connection
from streams.jetstream.append import JetStreamWriter
from streams.jetstream.hardened_client import BrokerClient
from streams.log import GroupWrite
from tests.patience import PATIENCE_S
from tests.servers import Broker, opened
from tests.streams.jetstream.passed_over import damage
from tests.streams.messages import (
    a_group,
    an_input,
    an_output,
    answer_all,
    append_inputs,
)

pytestmark = pytest.mark.services


class LosesAnswers(JetStreamWriter):
    """A writer whose first answers never arrive, though the broker did as asked."""

    def __init__(self, client: BrokerClient, count: int = 1) -> None:
        super().__init__(client)
        self._to_lose = count

    async def _send(self, messages):
        sequence = await super()._send(messages)
        if self._to_lose:
            self._to_lose -= 1
            raise LogUnavailable("the answer was lost")
        return sequence


@pytest.mark.parametrize("count", [1, 4])
async def test_a_lost_answer_is_read_back(broker: Broker, count: int) -> None:
    """What the leader holds is ours: the write succeeded and is stored once."""
    (cause,) = await append_inputs(broker.writer, 1)
    writer = LosesAnswers(broker.client)

    ends = await writer.commit([GroupWrite(11, 0, a_group(cause, count))])

    assert ends == {11: 1 + count}
    assert await audit(broker.reader) == Audit(inputs=1, groups=1)


async def test_a_lost_answer_of_several_partitions_is_read_back(broker: Broker) -> None:
    """All partitions of the write are found, each with its own end."""
    writer = LosesAnswers(broker.client)

    ends = await writer.commit(
        [GroupWrite(11, 0, a_group(1, 2)), GroupWrite(4, 0, a_group(1, 3, partition=4))]
    )

    assert ends == {11: 2, 4: 5}


async def test_two_workers_never_both_write(broker: Broker) -> None:
    """Of two that answer the same inputs differently, one is fenced each time."""
    causes = await append_inputs(broker.writer, 10)
    async with opened(broker.server) as other:
        last = 0
        for cause in causes:
            rivals = await asyncio.gather(
                *(
                    writer.commit(
                        [GroupWrite(11, last, (an_output(cause, body=f'"{name}"'),))]
                    )
                    for name, writer in (("a", broker.writer), ("b", other.writer))
                ),
                return_exceptions=True,
            )
            fenced = [each for each in rivals if isinstance(each, Fenced)]
            (stored,) = [each for each in rivals if isinstance(each, dict)]
            last = stored[11]
            assert len(fenced) == 1

    assert await audit(broker.reader) == Audit(inputs=10, groups=10)


async def test_a_stale_worker_is_fenced_after_the_broker_was_killed(
    broker: Broker,
) -> None:
    """The fence is in the log, not in the memory of the broker."""
    causes = await append_inputs(broker.writer, 2)
    await answer_all(broker.writer, causes)
    await broker.server.kill()
    await broker.server.restart()

    with pytest.raises(Fenced):
        await broker.writer.commit([GroupWrite(11, 0, a_group(7, 2))])


async def test_writes_go_on_over_a_killed_broker(broker: Broker) -> None:
    """Writes in flight when the broker dies are stored once, and none is lost."""
    seed = random.randrange(10**6)
    logging.getLogger(__name__).warning("seed %s", seed)
    draw = random.Random(seed)
    last, kills = 0, 0

    for turn in range(40):
        cause = await broker.writer.append(an_input(f"i{turn}"), f"e:{turn}")
        write = GroupWrite(11, last, a_group(cause, draw.choice((1, 3))))
        committing = asyncio.ensure_future(broker.writer.commit([write]))
        if draw.random() < 0.15:
            kills += 1
            for _ in range(draw.randrange(6)):
                await asyncio.sleep(0)
            await broker.server.kill()
            await broker.server.restart()
        last = (await committing)[11]

    assert kills
    assert await audit(broker.reader) == Audit(inputs=40, groups=40)


async def test_an_input_is_appended_over_a_killed_broker(broker: Broker) -> None:
    """An append that starts while the broker is away succeeds when it is back."""
    await broker.server.kill()
    appending = asyncio.ensure_future(broker.writer.append(an_input(), "e:1"))
    await asyncio.sleep(0)
    await broker.server.restart()

    assert await appending == 1


async def test_a_broker_that_stays_away_is_said(
    broker: Broker, monkeypatch: pytest.MonkeyPatch
) -> None:
    """After the deadline the error says that nothing answered."""
    monkeypatch.setattr(connection, "ATTEMPT_S", 0.2)
    monkeypatch.setattr(connection, "DEADLINE_S", 0.5)
    await broker.server.kill()

    with pytest.raises(LogUnavailable):
        await broker.writer.append(an_input(), "e:1")
    with pytest.raises(LogUnavailable):
        await broker.writer.commit([GroupWrite(11, 0, a_group(1, 2))])
    with pytest.raises(LogUnavailable):
        await broker.reader.page("ev.>", 0, 10)


async def test_a_follower_goes_on_over_a_killed_broker(broker: Broker) -> None:
    """After each kill it goes on behind the last record it gave, without a gap."""
    seen: list[int] = []
    following = broker.reader.follow("ev.>", 0, 10)

    async with asyncio.timeout(PATIENCE_S):
        for turn in range(3):
            await broker.writer.append(an_input(f"i{turn}"), f"e:{turn}")
            seen += [each.sequence for each in await anext(following)]
            await broker.server.kill()
            waiting = asyncio.ensure_future(anext(following))
            await asyncio.sleep(0)
            await broker.server.restart()
            await broker.writer.append(an_input(f"j{turn}"), f"f:{turn}")
            seen += [each.sequence for each in await waiting]

    await following.aclose()
    assert seen == [1, 2, 3, 4, 5, 6]


async def test_a_closed_connection_ends_what_reads_it(broker: Broker) -> None:
    """Readers of a connection that was closed fail at once instead of waiting."""
    async with opened(broker.server) as other:
        following = other.reader.follow("ev.>", 0, 10)
        waiting = asyncio.ensure_future(anext(following))
        await asyncio.sleep(0)

    async with asyncio.timeout(PATIENCE_S):
        with pytest.raises(LogUnavailable):
            await waiting
        with pytest.raises(LogUnavailable):
            await other.reader.page("ev.>", 0, 10)
        with pytest.raises(LogUnavailable):
            await other.reader.blob("0" * 64)


@pytest.mark.parametrize("part", ["its name", "its bytes"])
async def test_a_damaged_blob_is_none_and_can_be_stored_again(
    broker: Broker, part: str
) -> None:
    """Nobody waits for what the broker cannot hand out, and another blob stays readable."""
    digests = [await broker.writer.put_blob(each) for each in (b"a pack", b"another")]
    before = b"a pack" if part == "its bytes" else digests[0].encode()
    await broker.server.stop()
    damage(broker.server.folder, "OBJ_BLOBS", before, before[::-1])
    await broker.server.start()

    async with asyncio.timeout(PATIENCE_S):
        found = [await broker.reader.blob(each) for each in digests]
        again = await broker.writer.put_blob(b"a pack")

    assert found == [None, b"another"]
    assert again == digests[0]
    assert await broker.reader.blob(again) == b"a pack"


async def test_a_full_log_is_said(broker: Broker) -> None:
    """A log at its limit refuses inputs and groups, and names the way out."""
    await append_inputs(broker.writer, 2)
    config = (await broker.client.jetstream().stream_info("LOG")).config
    await broker.client.jetstream().update_stream(replace(config, max_msgs=2))

    with pytest.raises(LogFull, match="free disk space"):
        await broker.writer.append(an_input("full"), "e:full")
    with pytest.raises(LogFull):
        await broker.writer.commit([GroupWrite(11, 0, a_group(1))])


async def test_what_is_too_large_is_refused_and_the_connection_lives(
    broker: Broker,
) -> None:
    """The broker would close the connection; the error names the size instead."""
    large = structs.replace(an_output(1), body=b"x" * 1_048_576)
    wide = structs.replace(an_output(1), headers={"ce-id": "x" * 70_000})

    for wire in (large, wide):
        with pytest.raises(LogRefused, match="blob"):
            await broker.writer.commit([GroupWrite(11, 0, (wire,))])
    nearly = structs.replace(an_output(1), body=b"x" * 1_047_000)
    await broker.writer.commit([GroupWrite(11, 0, (nearly, an_output(1)))])

    found = await broker.reader.page(outputs_of(11), 0, 10)
    assert [len(each.body) for each in found] == [1_047_000, 2]


async def test_room_is_left_for_what_the_fence_adds() -> None:
    """The headers of fence and batch fit in what the size check keeps free."""
    wire = an_output(1)
    (fenced,) = append._fenced([GroupWrite(15, 10**18, (wire,))])
    messages = [(wire.subject, block_of(fenced.headers) or b"", wire.body)] * 1000
    *_, (_, largest, _) = append._batched(messages, "x" * 32)

    assert largest.endswith(b"Sequence: 1000\r\nNats-Batch-Commit: 1\r\n\r\n")
    assert len(largest) - len(block_of(wire.headers) or b"") < append._HEADER_ROOM
