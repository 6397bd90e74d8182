"""A backup of a log of several streams is of one point, while all of them are written."""

from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import pytest

from bench.beside import beside
from schemas.codec.encode import write_input
from schemas.messages.results import Delivered
from schemas.values.record import Record, Wire
from schemas.values.subjects import partition_of
from streams.backup_file import Manifest
from streams.jetstream.cut import is_closed
from streams.jetstream.migrate import check, migrate, open_intake
from streams.jetstream.segments import roll_over
from streams.log import GroupWrite, append_input
from streams.segments import WIDTH
from tests.servers import Broker, fresh_broker
from tests.streams.jetstream.test_backup import (
    FLOW,
    backed_up,
    bodies,
    having,
    keep_sending,
    records,
    restored,
)
from tests.streams.sensors import OWN, arrived, sensor

pytestmark = pytest.mark.services


TALKERS = ("ada", "bob", "cleo", "dora")


async def talk(broker: Broker, sender: str, receiver: str) -> None:
    """Tell another agent one thing after the other, as mind and effects do."""
    epoch, partition, end = broker.reader.epoch, partition_of(sender), 0
    for number in range(100_000):
        said = f"{sender}/{number}"
        headers = {"ce-id": said, "ce-causeseq": "1", "ce-causeid": "x"}
        headers |= {"ce-index": "0", "ce-count": "1"}
        subject = f"ev.{partition}.out.{sender}.ask.delivery_asked"
        written = GroupWrite(partition, end, (Wire(subject, headers, b"{}"),))
        end = (await broker.writer.commit([written]))[partition]
        told = f"ev.{partition_of(receiver)}.in.{receiver}.sensor.agent.heard"
        caused = {"ce-id": f"told-{said}", "ce-causeid": said}
        await broker.writer.append(Wire(told, caused, b"{}"), f"told-{said}")
        await append_input(
            broker.writer,
            epoch,
            Delivered(ask_id=said, channel="agent"),
            agent=sender,
            partition=partition,
            id_=f"done-{said}",
            source="/test",
        )


async def test_four_streams_have_one_point(tmp_path: Path) -> None:
    """Sensors send and agents tell each other meanwhile: nothing is without its cause."""
    assert len({partition_of(each) // 4 for each in TALKERS}) > 1
    sent: list[str] = []
    made: list[tuple[Path, list[str], Manifest]] = []
    async with fresh_broker() as broker, sensor(broker) as taken:
        await roll_over(broker.client, 4)
        pairs = zip(TALKERS, (*TALKERS[1:], TALKERS[0]), strict=True)
        async with beside(
            keep_sending(taken, OWN, sent),
            keep_sending(broker.client, "in.bob.user.message", sent),
            *(talk(broker, *pair) for pair in pairs),
        ):
            await arrived(broker, FLOW)
            for number in range(3):
                path, before = tmp_path / f"{number}.backup", list(sent)
                made.append((path, before, await backed_up(broker.client, path)))
        original = await records(broker.client, broker.reader.epoch)
    for path, before, manifest in made:
        async with restored(path) as client:
            epoch = await migrate(client)
            first = await records(client, epoch)
            await open_intake(client)
            found = await having(client, epoch, *before)
            await check(client)
        copies = [each for each in manifest.streams if each.name.startswith("LOG")]
        within = {each.name: each.state["last_seq"] for each in copies}
        assert len(within) == 5
        assert first == [
            each
            for each in original
            if each.sequence <= within["LOG"]
            or any(0 <= last - each.sequence < WIDTH // 2 for last in within.values())
        ]
        assert_caused(first)
        letters = [each for each in bodies(found) if each.startswith(("ada.", "bob."))]
        assert set(before) <= set(bodies(found))
        assert [each for each, count in Counter(letters).items() if count > 1] == []


@pytest.mark.parametrize(
    ("ends", "agree"),
    [
        ((0, 100), True),
        ((1, 100), True),
        ((1, 101), True),
        ((2, 101), True),
        # What was told, without its ask; that it was delivered, but not that it was told.
        ((0, 101), False),
        ((2, 100), False),
    ],
)
def test_a_cut_has_no_message_without_its_cause(
    ends: tuple[int, int], agree: bool
) -> None:
    """An ask is message 1 of a stream, the event is 101 of another, the result is 2."""
    result = write_input(
        Delivered(ask_id="a", channel="agent"),
        agent="ada",
        partition=11,
        id_="r",
        source="/test",
    )
    ask = Wire("ev.11.out.ada.ask.delivery_asked", {"ce-id": "a"}, b"{}")
    heard = {"ce-id": "t", "ce-causeid": "a"}
    told = Wire("ev.3.in.bob.sensor.agent.heard", heard, b"{}")
    one, two = ends
    streams = [([stored(ask, 1), stored(result, 2)], one), ([stored(told, 101)], two)]

    assert is_closed(streams) == agree


def stored(wire: Wire, sequence: int) -> Record:
    """A message as the log has it."""
    return Record(
        subject=wire.subject,
        headers=wire.headers,
        body=wire.body,
        sequence=sequence,
        time_ns=0,
    )


def assert_caused(found: Sequence[Record]) -> None:
    """What was told has its ask, and what was delivered was told."""
    asked = {each.headers["ce-id"] for each in found if ".ask." in each.subject}
    told = {
        each.headers["ce-causeid"] for each in found if ".agent.heard" in each.subject
    }
    done = {
        each.headers["ce-id"].removeprefix("done-")
        for each in found
        if each.subject.endswith(".delivered")
    }
    assert len(done) > len(TALKERS)
    assert done <= told <= asked
