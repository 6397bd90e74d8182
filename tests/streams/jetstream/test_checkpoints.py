"""Which checkpoints of a partition are kept, and that each is found again."""

from dataclasses import replace
from uuid import UUID

import pytest

from streams.jetstream.checkpoints import (
    KEPT,
    KEPT_BYTES,
    Checkpoint,
    JetStreamCheckpoints,
    Label,
    place,
)
from tests.servers import Broker

FIRST = Label(
    partition=3,
    sequence=1,
    time_ns=1,
    message_id="1",
    last_output=2,
    epoch=UUID(int=1),
    code="one",
)


def kept_after(count: int, size: int) -> list[Label]:
    """The labels after so many checkpoints of one size, by their sequence."""
    kept: dict[int, Label] = {}
    for number in range(1, count + 1):
        new = replace(FIRST, sequence=10 * number)
        slot, dropped = place(tuple(kept.values()), new, size)
        for each in dropped:
            del kept[each]
        kept[slot] = replace(new, slot=slot, size=size)
    return sorted(kept.values(), key=lambda label: label.sequence)


def test_checkpoints_stay_spread_over_the_log() -> None:
    """However many are made, those that are kept leave no gap of a quarter of the log."""
    kept = [label.sequence for label in kept_after(1000, size=1000)]

    assert len(kept) == KEPT
    assert kept[-1] == 10_000
    ends = [0, *kept]
    assert max(b - a for a, b in zip(ends, kept, strict=False)) < 2_500


def test_checkpoints_are_bounded_in_bytes() -> None:
    """Large ones are fewer, but two are always kept: a reader may be a little behind."""
    few = kept_after(50, size=KEPT_BYTES // 4)
    huge = kept_after(50, size=2 * KEPT_BYTES)

    assert sum(label.size for label in few) <= KEPT_BYTES
    assert [label.sequence for label in huge] == [490, 500]


def test_what_other_code_made_gives_way() -> None:
    """After an upgrade the old program's checkpoints go with the first new one."""
    old = [replace(FIRST, slot=slot, sequence=10 + slot) for slot in range(KEPT)]

    slot, dropped = place(old, replace(FIRST, code="two", sequence=5), 10)

    assert {slot, *dropped} == set(range(KEPT))


@pytest.mark.services
async def test_a_label_leads_to_its_state(broker: Broker) -> None:
    """Each kept checkpoint is found by its label, the newest first."""
    checkpoints = JetStreamCheckpoints(broker.client)
    for number in (1, 2, 3):
        label = replace(FIRST, sequence=number)
        await checkpoints.save(Checkpoint(label=label, state=b"%d" % number))

    labels = await checkpoints.labels(3)

    assert [label.sequence for label in labels] == [3, 2, 1]
    states = [await checkpoints.load(label) for label in labels]
    assert states == [b"3", b"2", b"1"]
    assert await checkpoints.labels(4) == ()


@pytest.mark.services
async def test_a_slot_that_was_taken_since_is_not_read(broker: Broker) -> None:
    """A label is of one state: another in its slot is not given out for it."""
    checkpoints = JetStreamCheckpoints(broker.client)
    await checkpoints.save(Checkpoint(label=FIRST, state=b"old"))
    (label,) = await checkpoints.labels(3)
    other = replace(FIRST, code="two", sequence=9)
    await checkpoints.save(Checkpoint(label=other, state=b"new"))

    assert await checkpoints.load(label) is None
