"""What the log records as lost: the reader passes over it, and everything else is read."""

from pathlib import Path
from uuid import uuid4

import pytest
from msgspec import structs

from echoic.client.verify_log import Found, verify
from schemas.codec.encode import write_input
from schemas.messages.controls import MessagesLost, Stretches
from schemas.values.record import Record
from schemas.values.subjects import SHARED_AGENT, parse, partition_of
from streams.audit import audit_partition
from streams.disk.blocks import StoredRecord
from streams.disk.leftovers import Leftovers
from streams.errors import LogDamaged
from streams.groups import answer, groups
from streams.headers import block_of
from streams.losses import Sequences, stretches
from tests.memory_log import MemoryLog
from tests.minds import DEADLINE_S, publish, sensed, started, working

ADA = "ada"
PARTITION = partition_of(ADA)
EVENTS = 12


async def events_in(
    log: MemoryLog, first: int = 0, count: int = EVENTS
) -> list[Record]:
    """Let a worker answer events one by one; all records of the partition so far."""
    async with working(log, log, started()):
        for number in range(first, first + count):
            wire = sensed(ADA, f"{number}", f"thing {number}", salience={"threat": 0.9})
            (sequence,) = await publish(log, [wire])
            await answer(log, PARTITION, sequence, DEADLINE_S)
    return list(await log.page(f"ev.{PARTITION}.>", 0, 1000))


def lose(log: MemoryLog, *sequences: int) -> None:
    """Take records out of a log, as no broker would."""
    log._records = [each for each in log._records if each.sequence not in sequences]


async def record(log: MemoryLog, lost: Stretches, void: Stretches) -> None:
    """Have the log record what it lost."""
    end = log._records[-1].sequence
    wire = write_input(
        MessagesLost(lost=lost, void=void),
        agent=SHARED_AGENT,
        partition=PARTITION,
        id_=str(uuid4()),
        source="/test",
    )
    last = Record(wire.subject, wire.headers, wire.body, end + 1, end + 1)
    log._records.append(last)


def left_over(records: list[Record], lost: Sequences) -> Stretches:
    """What the salvage makes of what is left."""
    leftovers = Leftovers()
    for each in records:
        headers = block_of(each.headers) or b""
        leftovers.take(
            StoredRecord(
                each.sequence, 0, each.subject.encode(), headers, each.body, b""
            )
        )
    void, agents = leftovers.void(PARTITION, lost)
    assert agents <= {ADA}
    return void


@pytest.mark.parametrize("what", ["input", "output", "both"])
async def test_what_is_left_over_is_not_read(tmp_path: Path, what: str) -> None:
    """Without the record nothing can be read past the loss; with it, all but the loss."""
    log = MemoryLog()
    records = await events_in(log)
    inputs = [each for each in records if f".in.{ADA}." in each.subject]
    cause = inputs[4].sequence
    outputs = [
        each.sequence
        for each in records
        if each.headers.get("ce-causeseq") == str(cause)
    ]
    gone = {"input": [cause], "output": outputs[:1], "both": [cause, *outputs]}[what]
    whole = [each.input.sequence async for each in groups(log, PARTITION)]
    lose(log, *gone)
    if what != "both":
        with pytest.raises(LogDamaged):
            _ = [each async for each in groups(log, PARTITION)]
    lost = Sequences(stretches(gone))
    void = left_over(list(await log.page(f"ev.{PARTITION}.>", 0, 1000)), lost)
    assert bool(void) == (what == "input" or what == "output")

    await record(log, lost.stretches, void)

    read = [each.input.sequence async for each in groups(log, PARTITION)]
    assert read == [each for each in whole if each != cause]
    counted = await audit_partition(log, PARTITION)
    assert counted.faults == counted.unanswered == 1  # the record itself
    assert counted.void == len(Sequences(void))
    await goes_on(log, tmp_path)


async def goes_on(log: MemoryLog, data: Path) -> None:
    """A worker answers on, and a look at the whole log finds nothing wrong."""
    end = log._records[-1].sequence
    # The list of a log in memory counts by its length: fill it up where it lost some.
    at = {each.sequence for each in log._records}
    filler = structs.replace(log._records[-1], subject="ev.15.in.x.stray.0", body=b"")
    log._records += [
        structs.replace(filler, sequence=n) for n in range(1, end) if n not in at
    ]
    log._records.sort(key=lambda each: each.sequence)
    assert parse(filler.subject).partition != PARTITION
    await events_in(log, EVENTS, 3)

    async def look() -> Found:
        return await verify(log, data, lambda _: None, full=True)

    found = await look()
    assert found.breaks == ()
    mine = await audit_partition(log, PARTITION)
    assert mine.faults == 0


def test_sequences_are_found_by_their_stretches() -> None:
    """First, last and what is between are in; their neighbours are not."""
    some = Sequences([(10, 12), (3, 3)])

    assert [each for each in range(15) if each in some] == [3, 10, 11, 12]
    assert len(some) == 4
    assert some.between(3, 11)
    assert not some.between(3, 10)
    assert stretches([3, 10, 11, 12]) == ((3, 3), (10, 12))
