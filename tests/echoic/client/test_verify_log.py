"""`log verify`: it goes on from where the log was sound, and knows when it must not."""

from pathlib import Path

import pytest

from echoic.client import verified
from echoic.client.verified import Marks
from echoic.client.verify_log import Found, verify
from schemas.values.subjects import partition_of
from streams.groups import answer
from tests.handlers.worker.test_starts import Watched
from tests.minds import publish, sensed, started, working
from tests.patience import PATIENCE_S
from tests.servers import Broker

pytestmark = pytest.mark.services

ADA = "ada"


async def live(broker: Broker, first: int, count: int) -> None:
    """Let a worker answer some events."""
    async with working(broker.reader, broker.writer, started()):
        wires = [sensed(ADA, f"{n}", f"thing {n}") for n in range(first, first + count)]
        last = (await publish(broker.writer, wires))[-1]
        await answer(broker.reader, partition_of(ADA), last, PATIENCE_S)


async def look(log: Watched, data: Path, *, full: bool = False) -> Found:
    """Verify a log, which must be sound."""
    found = await verify(log, data, lambda _: None, full=full)
    assert found.is_sound
    return found


def marks(data: Path) -> Marks:
    """What a verification left."""
    found = verified.recall(data)
    assert found is not None
    return found


async def test_it_goes_on_from_where_it_was_sound(
    broker: Broker, tmp_path: Path
) -> None:
    """The second time only what is new is read, and the counts are of the whole log."""
    await live(broker, 0, 20)
    first = await look(Watched(broker), tmp_path)
    known = await broker.reader.page("ev.*.in.>", 0, 1000)
    await live(broker, 20, 5)

    log = Watched(broker)
    second = await look(log, tmp_path)
    whole = await look(Watched(broker), tmp_path, full=True)

    assert not {each.sequence for each in known} & set(log.paged)
    assert second.known == first.audit.groups
    assert second.audit == whole.audit
    assert whole.known == 0


async def test_a_mark_counts_only_where_the_log_bears_it_out(
    broker: Broker, tmp_path: Path
) -> None:
    """Of another log, with another message, or damaged: the whole log is read."""
    await live(broker, 0, 5)
    await look(Watched(broker), tmp_path)
    kept = (tmp_path / verified.FILE).read_bytes()
    digest = marks(tmp_path).partitions[partition_of(ADA)].digest.encode()

    for wrong in (kept.replace(digest, b"0" * len(digest)), b"{}", b""):
        (tmp_path / verified.FILE).write_bytes(wrong)
        found = await look(Watched(broker), tmp_path)
        assert partition_of(ADA) not in found.since
