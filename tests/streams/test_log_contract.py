"""What every log does, whether it is kept by the broker or in memory."""

import asyncio
import hashlib
from contextlib import aclosing
from itertools import pairwise

import pytest
from msgspec import structs

from schemas.values.record import Record
from schemas.values.subjects import SubjectError, inputs_of, outputs_of
from streams.errors import Fenced, LogRefused
from streams.log import GroupWrite, scan
from tests.memory_log import MemoryLog
from tests.patience import PATIENCE_S
from tests.streams.conftest import BothLogs
from tests.streams.messages import a_group, an_input, an_output, append_inputs


async def test_appended_inputs_stand_in_order_without_gaps(log: BothLogs) -> None:
    """Sequences count from 1, and what was written is what is read."""
    sequences = await append_inputs(log.write, 3)
    records = await log.read.page(inputs_of(11), 0, 10)

    assert sequences == [1, 2, 3]
    assert [each.sequence for each in records] == [1, 2, 3]
    assert [each.body for each in records] == [b"i0", b"i1", b"i2"]
    assert records[0].headers == {"ce-id": "i0", "ce-type": "echoic.session_started"}
    assert all(a.time_ns <= b.time_ns for a, b in pairwise(records))


async def test_a_repeat_at_once_is_stored_again(log: BothLogs) -> None:
    """A log with an open intake has no window for repeats; the state refuses the second."""
    first = await log.write.append(an_input(), "e:1")
    again = await log.write.append(an_input(), "e:1")

    assert again == first + 1
    assert await log.read.last_sequence(inputs_of("*")) == again


async def test_pages_are_bounded_and_filtered(log: BothLogs) -> None:
    """A page holds what matches behind a sequence, no more than asked for."""
    await append_inputs(log.write, 3, partition=11)
    await append_inputs(log.write, 2, partition=4)

    page = await log.read.page(inputs_of(11), 1, 10)
    short = await log.read.page(inputs_of("*"), 2, 2)

    assert [each.sequence for each in page] == [2, 3]
    assert [each.sequence for each in short] == [3, 4]
    assert await log.read.page(inputs_of(11), 3, 10) == ()
    assert await log.read.page(outputs_of(11), 0, 10) == ()


async def test_a_scan_goes_through_every_page_up_to_its_end(
    log: BothLogs, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A scan yields each record once, in order, over `after` and up to `until`."""
    monkeypatch.setattr("streams.log._SCAN_PAGE", 2)
    await append_inputs(log.write, 5)

    async def sequences(after: int = 0, until: int | None = None) -> list[int]:
        records = scan(log.read, inputs_of(11), after, until)
        return [each.sequence async for each in records]

    assert await sequences() == [1, 2, 3, 4, 5]
    assert await sequences(1, 3) == [2, 3]
    assert await sequences(0, 4) == [1, 2, 3, 4]
    assert await sequences(4, 4) == await sequences(5) == []


async def test_a_single_record_is_found_by_its_sequence(log: BothLogs) -> None:
    """A sequence gives the same record as the page that holds it, or none."""
    await append_inputs(log.write, 2)
    page = await log.read.page(inputs_of(11), 0, 10)

    assert await log.read.record(2) == page[1]
    assert await log.read.record(3) is None
    assert await log.read.record(0) is None


async def test_the_last_sequence_is_that_of_the_filter(log: BothLogs) -> None:
    """The last record of one direction and partition, or 0 when there is none."""
    await append_inputs(log.write, 2)
    await log.write.commit([GroupWrite(11, 0, a_group(1))])

    assert await log.read.last_sequence(inputs_of(11)) == 2
    assert await log.read.last_sequence(outputs_of(11)) == 3
    assert await log.read.last_sequence(outputs_of(4)) == 0


async def test_a_commit_tells_the_new_end_of_each_partition(log: BothLogs) -> None:
    """Several partitions are written at once; each gets its own last sequence."""
    await append_inputs(log.write, 1)
    ends = await log.write.commit(
        [GroupWrite(11, 0, a_group(1, 3)), GroupWrite(4, 0, a_group(1, 2, partition=4))]
    )

    assert ends == {11: 4, 4: 6}
    assert await log.read.last_sequence(outputs_of(11)) == 4
    assert await log.read.last_sequence(outputs_of(4)) == 6


@pytest.mark.parametrize("count", [1, 2])
async def test_a_stale_writer_is_fenced(log: BothLogs, count: int) -> None:
    """A writer that does not know the partition's last output writes nothing."""
    first, second = await append_inputs(log.write, 2)
    await log.write.commit([GroupWrite(11, 0, a_group(first))])

    with pytest.raises(Fenced) as fenced:
        await log.write.commit([GroupWrite(11, 0, a_group(second, count))])

    assert fenced.value.partition == 11
    assert await log.read.last_sequence(outputs_of(11)) == 3


async def test_one_stale_partition_stops_the_whole_write(log: BothLogs) -> None:
    """All partitions of a write are stored, or none, and the stale one is named."""
    (cause,) = await append_inputs(log.write, 1)
    await log.write.commit([GroupWrite(4, 0, a_group(cause, partition=4))])

    with pytest.raises(Fenced) as fenced:
        await log.write.commit(
            [
                GroupWrite(11, 0, a_group(cause)),
                GroupWrite(4, 0, a_group(9, partition=4)),
            ]
        )

    assert fenced.value.partition == 4
    assert await log.read.last_sequence(outputs_of(11)) == 0


@pytest.mark.parametrize("count", [1, 3])
async def test_what_is_stored_already_counts_as_ours(log: BothLogs, count: int) -> None:
    """The same write again, as after a lost answer, is stored once and succeeds."""
    (cause,) = await append_inputs(log.write, 1)
    write = GroupWrite(11, 0, a_group(cause, count))
    ends = await log.write.commit([write])

    assert await log.write.commit([write]) == ends
    assert await log.read.last_sequence(outputs_of("*")) == 1 + count


async def test_more_than_ours_behind_the_fence_is_another_writer(log: BothLogs) -> None:
    """A repeated write is fenced once somebody else went on behind it."""
    first, second = await append_inputs(log.write, 2)
    write = GroupWrite(11, 0, a_group(first))
    ends = await log.write.commit([write])
    await log.write.commit([GroupWrite(11, ends[11], a_group(second))])

    with pytest.raises(Fenced):
        await log.write.commit([write])


async def test_an_altered_repeat_is_fenced(log: BothLogs) -> None:
    """Another body under the same cause and index is not ours."""
    (cause,) = await append_inputs(log.write, 1)
    await log.write.commit([GroupWrite(11, 0, (an_output(cause, body="{}"),))])

    with pytest.raises(Fenced):
        await log.write.commit([GroupWrite(11, 0, (an_output(cause, body="[]"),))])


async def test_a_write_takes_a_thousand_messages(log: BothLogs) -> None:
    """The largest write is stored whole; one message more is refused."""
    (cause,) = await append_inputs(log.write, 1)

    ends = await log.write.commit([GroupWrite(11, 0, a_group(cause, 1000))])

    assert ends == {11: 1001}
    with pytest.raises(LogRefused, match="1001 messages"):
        await log.write.commit([GroupWrite(11, 1001, a_group(cause, 1001))])


async def test_misplaced_messages_are_refused(log: BothLogs) -> None:
    """Inputs are appended, outputs are committed to their own partition."""
    with pytest.raises(LogRefused, match="no input"):
        await log.write.append(an_output(1), "e:1")
    with pytest.raises(LogRefused, match="no output of partition 4"):
        await log.write.commit([GroupWrite(4, 0, a_group(1, partition=11))])
    with pytest.raises(LogRefused, match="empty"):
        await log.write.commit([GroupWrite(4, 0, ())])
    write = GroupWrite(11, 0, a_group(1))
    with pytest.raises(LogRefused, match="twice"):
        await log.write.commit([write, write])
    with pytest.raises(SubjectError):
        await log.write.append(structs.replace(an_input(), subject="elsewhere"), "e:1")


async def test_following_gives_what_is_there_and_what_arrives(log: BothLogs) -> None:
    """A follower gets every record once, in order, in bounded pieces."""
    await append_inputs(log.write, 5)
    pieces: list[list[int]] = []
    following = log.read.follow(inputs_of(11), 1, 2)

    async with asyncio.timeout(PATIENCE_S), aclosing(following):
        async for records in following:
            pieces.append([each.sequence for each in records])
            if pieces[-1][-1] == 5:
                await log.write.append(an_input("late"), "e:late")
            if pieces[-1][-1] == 6:
                break

    assert [each for piece in pieces for each in piece] == [2, 3, 4, 5, 6]
    assert all(1 <= len(piece) <= 2 for piece in pieces)


async def test_a_slow_follower_misses_nothing(log: BothLogs) -> None:
    """However many records wait, they come in order and without gaps."""
    expected = 0
    for _ in range(5):
        write = GroupWrite(11, expected, a_group(expected + 1, 1000))
        expected = (await log.write.commit([write]))[11]
    seen: list[int] = []
    following = log.read.follow(outputs_of(11), 0, 700)

    async with asyncio.timeout(PATIENCE_S), aclosing(following):
        async for records in following:
            seen.extend(each.sequence for each in records)
            if len(seen) == 5000:
                break

    assert seen == list(range(1, 5001))


async def test_followed_and_paged_records_are_equal(log: BothLogs) -> None:
    """Both ways of reading give the same subject, headers, body, sequence and time."""
    await append_inputs(log.write, 2)
    following = log.read.follow(inputs_of("*"), 0, 10)
    followed: list[Record] = []

    async with asyncio.timeout(PATIENCE_S), aclosing(following):
        async for records in following:
            followed.extend(records)
            if len(followed) == 2:
                break

    assert tuple(followed) == await log.read.page(inputs_of("*"), 0, 10)


async def test_blobs_are_kept_by_their_digest(log: BothLogs) -> None:
    """Bytes larger than a message come back by their sha256; unknown ones are none."""
    data = bytes(range(256)) * 8000
    digest = await log.write.put_blob(data)

    assert digest == hashlib.sha256(data).hexdigest()
    assert await log.write.put_blob(data) == digest
    assert await log.read.blob(digest) == data
    assert await log.read.blob("0" * 64) is None


async def test_each_log_has_an_epoch_of_its_own(log: BothLogs) -> None:
    """The epoch is a random UUID that another new log does not share."""
    assert log.read.epoch.version == 4
    assert log.read.epoch != MemoryLog().epoch
