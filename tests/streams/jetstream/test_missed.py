"""What the log missed of its intake streams is named, and brought over once."""

import asyncio
import logging
import shutil
from collections import Counter
from pathlib import Path

import pytest

from schemas.values.subjects import PARTITIONS, partition_of
from streams.jetstream import bringing, taken_mark
from streams.jetstream.append import JetStreamWriter
from streams.jetstream.bringing import Bringer, bring, bring_before_opening
from streams.jetstream.migrate import close_intake, open_intake
from streams.jetstream.missed import Lookout, Lost, Missed
from streams.jetstream.one_instance import OneInstance
from streams.jetstream.origins import BROUGHT_FROM
from streams.jetstream.registry import load
from streams.jetstream.segments import roll_over
from streams.topology import IN
from tests.patience import PATIENCE_S
from tests.servers import Broker
from tests.streams.jetstream.passed_over import (
    BOX,
    BOXED,
    ODD,
    PUBLISHED,
    damage,
    logged_inputs,
    passing_over,
    publish,
)

pytestmark = pytest.mark.services

WHERE = pytest.mark.parametrize("subject", [BOXED, PUBLISHED], ids=["box", "IN"])


def bringer(broker: Broker, mark: Path | None = None) -> Bringer:
    """What an instance brings over by, sooner sure."""
    return Bringer(broker.client, OneInstance(broker.client, "intake"), mark, 0.5)


async def brought(broker: Broker, count: int, by: Bringer | None = None) -> list[str]:
    """What the log has, in its order, once nothing is missed and so many are there."""
    by = by or bringer(broker)
    async with asyncio.timeout(PATIENCE_S):
        while True:
            await by.look()
            found = await logged_inputs(broker.client, broker.reader)
            if len(found) >= count and not await Lookout(broker.client).look():
                return [each.body.decode() for each in found]
            await asyncio.sleep(0.05)


async def arrived(broker: Broker, count: int) -> None:
    """Wait until the log has so many."""
    async with asyncio.timeout(PATIENCE_S):
        while len(await logged_inputs(broker.client, broker.reader)) < count:  # noqa: ASYNC110
            await asyncio.sleep(0.02)


async def missed(broker: Broker, subject: str, *before: str) -> list[Missed]:
    """What is missed after three messages of which the broker passed over two."""
    await publish(broker.client, subject, *before)
    await arrived(broker, len(before))
    async with passing_over(broker.client):
        await publish(broker.client, subject, "ONE", "two")
    await publish(broker.client, subject, "three")
    await arrived(broker, len(before) + 1)
    return [*await Lookout(broker.client).look()]


@pytest.mark.parametrize(
    ("subject", "before"),
    # Of `IN` a source goes on behind what the log has, wherever it should begin.
    [(BOXED, ()), (BOXED, ("zero",)), (PUBLISHED, ())],
    ids=["box", "later", "IN"],
)
@pytest.mark.parametrize("count", [1, 4], ids=["one stream", "four streams"])
async def test_what_was_passed_over_is_brought_over_once(
    broker: Broker, subject: str, before: tuple[str, ...], count: int
) -> None:
    """In the order of its intake stream, and named until then."""
    if count > 1:
        await roll_over(broker.client, count)
    found = await missed(broker, subject, *before)

    bodies = await brought(broker, 3 + len(before))

    stream = BOX if subject == BOXED else IN.name
    first = 1 + len(before)
    assert [(each.stream, each.sequence) for each in found] == [
        (stream, first), (stream, first + 1),
    ]  # fmt: skip
    assert {each.agent for each in found} == {"ada"}
    assert bodies == [*before, "three", "ONE", "two"]


@WHERE
async def test_the_last_ones_are_taken_by_the_broker_itself(
    broker: Broker, subject: str
) -> None:
    """Nothing behind them was taken, so they come in their own place."""
    async with passing_over(broker.client):
        await publish(broker.client, subject, "ONE", "two")

    bodies = await brought(broker, 2)

    assert bodies == ["ONE", "two"]
    found = await logged_inputs(broker.client, broker.reader)
    assert not any(BROUGHT_FROM in each.headers for each in found)


@WHERE
async def test_a_start_brings_over_what_the_last_run_missed(
    broker: Broker, subject: str, tmp_path: Path
) -> None:
    """Before the intake is open, so before anything newer."""
    await missed(broker, subject)
    await close_intake(broker.client)
    await publish(broker.client, subject, "four")

    await bring_before_opening(broker.client, tmp_path / taken_mark.FILE)
    await open_intake(broker.client)

    assert await brought(broker, 4) == ["three", "ONE", "two", "four"]


@WHERE
async def test_what_is_brought_over_twice_has_one_id(
    broker: Broker, subject: str
) -> None:
    """An append that was not acknowledged is made again; the fold takes one of the two."""
    found = await missed(broker, subject)
    lookout = Lookout(broker.client)
    await lookout.look()
    (segment,) = (await load(broker.client))[0].open
    for _ in range(2):
        await bring(broker.client, lookout, segment, found)

    records = await logged_inputs(broker.client, broker.reader)
    ids = Counter((each.body, each.headers.get("ce-id")) for each in records)
    assert sorted(ids.values()) == [1, 2, 2]
    assert ids[b"ONE", "ONE"] == 2
    assert not await Lookout(broker.client).look()


@WHERE
async def test_a_crash_on_the_way_doubles_nothing(
    broker: Broker, subject: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What was brought over by then says so, and is not brought again."""
    await missed(broker, subject)
    appended: list[str] = []

    class Crashing(JetStreamWriter):
        async def append(self, wire: object, message_id: str) -> int:
            if appended:
                raise ConnectionAbortedError
            appended.append(message_id)
            return await super().append(wire, message_id)  # type: ignore[arg-type]

    with monkeypatch.context() as patched:
        patched.setattr(bringing, "JetStreamWriter", Crashing)
        with pytest.raises(ConnectionAbortedError):
            await brought(broker, 3)

    assert len(appended) == 1
    assert await brought(broker, 3) == ["three", "ONE", "two"]


@WHERE
async def test_the_broker_does_not_take_it_late(broker: Broker, subject: str) -> None:
    """Not even one that is killed and looks anew where it left off."""
    await missed(broker, subject)
    assert len(await brought(broker, 3)) == 3

    await broker.server.kill()
    await broker.server.restart()
    await publish(broker.client, subject, "four")
    await arrived(broker, 4)

    assert await brought(broker, 4) == ["three", "ONE", "two", "four"]


async def test_an_odd_subject_is_brought_over_as_a_stray(broker: Broker) -> None:
    """Apart from those of which the place says up to where strays were appended."""
    async with passing_over(broker.client):
        await publish(broker.client, ODD, "ODD")
    await publish(broker.client, BOXED, "two")
    await arrived(broker, 1)

    assert await brought(broker, 2) == ["two", "ODD"]
    (stray,) = await logged_strays(broker)
    assert stray == f"ev.{(partition_of('_') + 2) % PARTITIONS}.in._.stray.1"


async def logged_strays(broker: Broker) -> list[str]:
    """The subjects of strays in the log."""
    found = await logged_inputs(broker.client, broker.reader)
    return [each.subject for each in found if ".stray." in each.subject]


async def test_what_the_intake_does_not_keep_is_not_missed(broker: Broker) -> None:
    """Too old, or overwritten for somebody who is to be forgotten."""
    await missed(broker, BOXED)
    await broker.client.jetstream().delete_msg(BOX, 1)
    await broker.client.jetstream().purge_stream(BOX, seq=3)

    assert not await Lookout(broker.client).look()


async def test_a_mark_saves_reading_again_and_is_not_believed_of_another_log(
    broker: Broker, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One that was put back in place of this one misses what its intake streams keep."""
    monkeypatch.setattr("streams.jetstream.missed._KEPT_S", 0.0)
    file = tmp_path / taken_mark.FILE
    await publish(broker.client, BOXED, "one", "two")
    await publish(broker.client, PUBLISHED, "three")
    assert len(await brought(broker, 3)) == 3
    await bringer(broker, file).look()
    mark = taken_mark.recall(file)
    assert mark is not None
    assert (mark.taken[BOX], mark.taken[IN.name]) == (2, 1)
    assert not await Lookout(broker.client, file).look()

    # As the log was before these came.
    live = await broker.client.jetstream().stream_info("LOG")
    await broker.client.jetstream().delete_stream("LOG")
    await broker.client.jetstream().add_stream(live.config)

    assert len(await brought(broker, 3, bringer(broker, file))) == 3


@WHERE
async def test_what_waits_for_the_intake_is_not_missed(
    broker: Broker, subject: str
) -> None:
    """It is closed while an instance starts."""
    await publish(broker.client, subject, "one")
    await arrived(broker, 1)
    await close_intake(broker.client)
    await publish(broker.client, subject, "two")
    assert not await Lookout(broker.client).look()

    await open_intake(broker.client)

    assert await brought(broker, 2) == ["one", "two"]


async def test_what_is_on_its_way_is_not_missed(broker: Broker) -> None:
    """A flood through both intakes, looked at all the while, comes once and in order."""
    by = Bringer(broker.client, OneInstance(broker.client, "intake"))

    async def flood(subject: str) -> None:
        for number in range(300):
            await publish(broker.client, subject, f"{subject[:2]}{number}")

    flooding = asyncio.gather(flood(BOXED), flood(PUBLISHED))
    while not flooding.done():
        assert not await by.look()
        await asyncio.sleep(0)
    await flooding

    bodies = await brought(broker, 600, by)
    for intake in ("ip", "in"):
        own = [int(each[2:]) for each in bodies if each.startswith(intake)]
        assert own == list(range(300))


@WHERE
@pytest.mark.parametrize("keeps", ["one", "nothing"])
async def test_what_comes_behind_a_broker_that_forgot_is_taken(
    broker: Broker, subject: str, keeps: str, tmp_path: Path
) -> None:
    """A disk that does not keep what was synced takes from it what the log has."""
    stream = BOX if subject == BOXED else IN.name
    folder = broker.server.folder / "jetstream/jetstream/CORE/streams" / stream
    first, *others = ["one", "two", "THREE", "four"]
    early, late = ([first], others) if keeps == "one" else ([], [first, *others])
    await publish(broker.client, subject, *early)
    await arrived(broker, len(early))
    await broker.server.kill()
    shutil.copytree(folder, tmp_path / "kept")
    await broker.server.restart()
    await publish(broker.client, subject, *late)
    await arrived(broker, 4)
    await broker.server.kill()
    shutil.rmtree(folder)
    shutil.copytree(tmp_path / "kept", folder)
    await broker.server.restart()
    await close_intake(broker.client)
    await publish(broker.client, subject, "five")

    await bring_before_opening(broker.client, tmp_path / taken_mark.FILE)
    await open_intake(broker.client)
    await publish(broker.client, subject, "six", "SEVEN", "eight", "nine")

    assert await brought(broker, 9) == [
        first, *others, "five", "six", "SEVEN", "eight", "nine",
    ]  # fmt: skip


@pytest.mark.parametrize("is_clean", [True, False], ids=["stop", "kill"])
@WHERE
async def test_what_damaged_files_do_not_give_back_is_lost(
    broker: Broker, subject: str, is_clean: bool, caplog: pytest.LogCaptureFixture
) -> None:
    """It is named and told once; what can be read is brought over, and the rest is not lost."""
    # A command of the same process asks its own broker to say only what is wrong.
    caplog.set_level(logging.WARNING, logger="streams")
    stream = BOX if subject == BOXED else IN.name
    await missed(broker, subject)
    await (broker.server.stop if is_clean else broker.server.kill)()
    await broker.server.stop()
    damage(broker.server.folder, stream, b"two", b"owt")
    await broker.server.start()

    by = bringer(broker)
    async with asyncio.timeout(PATIENCE_S):
        while len(found := await logged_inputs(broker.client, broker.reader)) < 2:
            await by.look()
            await asyncio.sleep(0.05)
    lookout = Lookout(broker.client)
    await lookout.look()

    assert sorted(each.body for each in found) == [b"ONE", b"three"]
    assert await lookout.lost() == (Lost(stream, 2, 2),)
    assert caplog.text.count(f"the broker lost {stream} 2, which") == 1


async def test_an_empty_log_misses_nothing(broker: Broker, tmp_path: Path) -> None:
    """Nothing was ever taken in."""
    await bring_before_opening(broker.client, tmp_path / taken_mark.FILE)

    assert not await Lookout(broker.client).forgotten()
