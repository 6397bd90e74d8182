"""The one reader: groups in the order of their inputs, whole, and none passed over."""

import pytest

from schemas.values.record import Record, Wire
from schemas.values.subjects import outputs_of
from streams.audit import Audit, audit
from streams.errors import LogDamaged, Unanswered
from streams.groups import Group, answer, arrival, groups
from streams.log import GroupWrite
from tests.memory_log import MemoryLog
from tests.patience import PATIENCE_S
from tests.streams.conftest import BothLogs
from tests.streams.messages import (
    a_group,
    an_input,
    an_output,
    answer_all,
    append_inputs,
)


async def read(log: BothLogs, after: int = 0, until: int | None = None) -> list[Group]:
    """All whole groups of partition 11."""
    return [group async for group in groups(log.read, 11, after, until)]


async def test_each_input_is_followed_by_its_group(log: BothLogs) -> None:
    """Inputs that came before the answers to earlier ones still follow them."""
    causes = await append_inputs(log.write, 3)
    await answer_all(log.write, causes, count=2)

    found = await read(log)

    assert [group.input.sequence for group in found] == causes
    assert [[each.sequence for each in group.outputs] for group in found] == [
        [4, 5],
        [6, 7],
        [8, 9],
    ]


async def test_reading_goes_on_behind_a_position(log: BothLogs) -> None:
    """A position is an input's sequence: its group and those before are not read again."""
    causes = await append_inputs(log.write, 4)
    await answer_all(log.write, causes)

    assert [each.input.sequence for each in await read(log, after=2)] == [3, 4]
    assert [each.input.sequence for each in await read(log, after=1, until=3)] == [2, 3]
    assert await read(log, after=4) == []


async def test_inputs_without_a_group_are_not_read(log: BothLogs) -> None:
    """The end of what is answered is the end."""
    causes = await append_inputs(log.write, 3)
    await answer_all(log.write, causes[:1])

    assert [each.input.sequence for each in await read(log)] == [1]


async def test_a_group_that_is_not_whole_yet_is_not_read(log: BothLogs) -> None:
    """The last group is handed on once its last output is there."""
    causes = await append_inputs(log.write, 2)
    await answer_all(log.write, causes[:1])
    await log.write.commit([GroupWrite(11, 3, a_group(2, 3)[:2])])
    before = await read(log)
    await log.write.commit([GroupWrite(11, 5, a_group(2, 3)[2:])])

    assert [each.input.sequence for each in before] == [1]
    assert [len(each.outputs) for each in await read(log)] == [1, 3]


async def test_partitions_are_read_apart(log: BothLogs) -> None:
    """What another partition holds in between changes nothing."""
    one = await append_inputs(log.write, 2, partition=11)
    other = await append_inputs(log.write, 2, partition=4)
    await answer_all(log.write, one, partition=11)
    await answer_all(log.write, other, partition=4)

    assert [each.input.sequence for each in await read(log)] == [1, 2]
    assert [each.input.sequence async for each in groups(log.read, 4)] == [3, 4]


async def test_more_than_a_page_is_read_in_order(log: BothLogs) -> None:
    """Pages of inputs and outputs are joined without a seam."""
    causes = await append_inputs(log.write, 1200)
    last = 0
    for start in range(0, 1200, 300):
        chunk = causes[start : start + 300]
        outputs = tuple(wire for cause in chunk for wire in a_group(cause, 3))
        last = (await log.write.commit([GroupWrite(11, last, outputs)]))[11]

    found = await read(log)

    assert [each.input.sequence for each in found] == causes
    assert {len(each.outputs) for each in found} == {3}


@pytest.mark.parametrize(
    ("kind", "writes"),
    [
        ("causeless", [(an_output(9),)]),
        ("causeless", [(an_output(4),)]),
        ("skipped", [(an_output(2),)]),
        ("incomplete", [(an_output(1, 0, 2), an_output(2))]),
        ("incomplete", [(an_output(1, 1, 2),)]),
        ("repeated", [(an_output(1),), (an_output(1),)]),
        ("repeated", [(an_output(1),), (an_output(2),), (an_output(1),)]),
    ],
)
async def test_damage_is_named(
    log: BothLogs, kind: str, writes: list[tuple[Wire, ...]]
) -> None:
    """A log that breaks a rule of groups is refused, with the kind and the sequence."""
    await append_inputs(log.write, 3)
    last = 0
    for messages in writes:
        last = (await log.write.commit([GroupWrite(11, last, messages)]))[11]

    with pytest.raises(LogDamaged) as damaged:
        await read(log)

    assert damaged.value.kind == kind
    assert str(damaged.value.sequence) in str(damaged.value)


async def test_an_output_without_a_mark_is_damage(log: BothLogs) -> None:
    """An output that names no cause cannot be put in order."""
    bare = an_output(1)
    bare = type(bare)(bare.subject, {"ce-id": "x"}, bare.body)
    await log.write.commit([GroupWrite(11, 0, (bare,))])

    with pytest.raises(LogDamaged, match="unmarked"):
        await read(log)


async def test_a_sound_log_is_audited_as_such(log: BothLogs) -> None:
    """As many whole groups as inputs, over all partitions, and no fault."""
    await answer_all(log.write, await append_inputs(log.write, 3), count=2)
    other = await append_inputs(log.write, 2, partition=4)
    await answer_all(log.write, other, partition=4)

    found = await audit(log.read)

    assert found == Audit(inputs=5, groups=5)
    assert found.sound


async def test_an_audit_counts_every_fault(log: BothLogs) -> None:
    """Damage is counted by kind, and what is sound beside it still counts as sound."""
    await append_inputs(log.write, 5)
    outputs = (
        *a_group(1, 2),
        an_output(2, 0, 3),
        an_output(2, 2, 3),
        *a_group(99),
        *a_group(3),
        *a_group(1, 2),
    )
    await log.write.commit([GroupWrite(11, 0, outputs)])

    assert await audit(log.read) == Audit(
        inputs=5, groups=2, unanswered=3, causeless=1, incomplete=1, repeated=1
    )
    assert not (await audit(log.read)).sound


async def test_an_answer_is_waited_for(log: BothLogs) -> None:
    """The group of an input is given once it is whole."""
    (cause,) = await append_inputs(log.write, 1)
    await log.write.commit([GroupWrite(11, 0, a_group(cause, 2))])

    group = await answer(log.read, 11, cause, timeout_s=PATIENCE_S)

    assert group.input.sequence == cause
    assert [each.headers["ce-index"] for each in group.outputs] == ["0", "1"]


async def test_no_answer_in_time_is_an_error(log: BothLogs) -> None:
    """Waiting has an end, and the error says what to look at."""
    (cause,) = await append_inputs(log.write, 1)

    with pytest.raises(Unanswered, match="partition 11"):
        await answer(log.read, 11, cause, timeout_s=0.1)


async def test_an_event_is_found_by_its_id(log: BothLogs) -> None:
    """Who sent an event learns where it stands in the log."""
    await append_inputs(log.write, 3)
    subject = an_input().subject

    assert (
        await arrival(log.read, subject, "i1", 0, timeout_s=PATIENCE_S)
    ).sequence == 2
    with pytest.raises(Unanswered, match="'i9'"):
        await arrival(log.read, subject, "i9", 0, timeout_s=0.1)


async def test_a_page_that_lags_behind_the_leader_is_no_damage() -> None:
    """An input that a replica does not show yet is taken from the leader."""

    class Lagging(MemoryLog):
        async def page(self, subjects, after, limit):
            page = await super().page(subjects, after, limit)
            return page if ".out." in subjects else ()

    log = Lagging()
    causes = await append_inputs(log, 2)
    await answer_all(log, causes)

    assert [each.input.sequence async for each in groups(log, 11)] == causes
    assert await log.last_sequence(outputs_of(11)) == 4


@pytest.mark.parametrize("shown", range(10))
@pytest.mark.parametrize("more", [1, 2, 4])
async def test_a_page_that_lags_behind_the_position_is_no_damage(
    shown: int, more: int
) -> None:
    """The group of the position itself is passed over, though it comes into view late."""

    class Lagging(MemoryLog):
        seen = shown

        async def page(self, subjects, after, limit):
            page = await super().page(subjects, after, limit)
            self.seen += more
            return tuple(each for each in page if each.sequence < self.seen)

    log = Lagging()
    causes = await append_inputs(log, 3)
    await answer_all(log, causes, count=2)

    found = [each.input.sequence async for each in groups(log, 11, causes[1])]
    assert found in ([], causes[2:])


async def test_an_audit_is_not_misled_by_what_arrives_meanwhile() -> None:
    """An input that comes with its group while others are counted is left out."""
    log = GrowingLog()
    (cause,) = await append_inputs(log, 1)
    await log.commit([GroupWrite(11, 0, a_group(cause))])

    log.grows = True
    assert await audit(log) == Audit(inputs=1, groups=1)


class GrowingLog(MemoryLog):
    """A log to which an input and its group are added before outputs are read."""

    grows = False

    async def page(self, subjects: str, after: int, limit: int) -> tuple[Record, ...]:
        """As any log does, but late."""
        if self.grows and subjects == outputs_of(11):
            self.grows = False
            last = await self.last_sequence(outputs_of(11))
            cause = await self.append(an_input("late"), "e:late")
            await self.commit([GroupWrite(11, last, a_group(cause))])
        return await super().page(subjects, after, limit)
