"""Starts are bounded by checkpoints: nobody reads what a kept state knows already."""

from collections.abc import AsyncGenerator

import pytest

from echoic.client.state import state_at
from handlers import state_sources
from handlers.fold_start import Beginnings
from handlers.state_sources import state_code
from projections.projector.folding import Folding
from schemas.codec import checkpoint as codec
from schemas.state.agent import PartitionState
from schemas.values.subjects import partition_of
from streams.groups import answer
from streams.jetstream.checkpoints import JetStreamCheckpoints
from streams.jetstream.read import JetStreamReader
from streams.log import After, Records, scan
from tests.minds import bringer, publish, sensed, started, the_embedder, until, working
from tests.patience import PATIENCE_S
from tests.servers import Broker

pytestmark = pytest.mark.services

ADA, IDLE = "ada", "bob"
PARTITION = partition_of(ADA)
CODE = state_code(the_embedder().digest)


class Watched(JetStreamReader):
    """A reader that remembers which sequences it gave out."""

    def __init__(self, broker: Broker) -> None:
        super().__init__(broker.client, broker.reader.epoch)
        self.paged: list[int] = []
        self.followed: list[int] = []

    async def page(self, subjects: str, after: int, limit: int) -> Records:
        """As the reader does, remembered."""
        records = await super().page(subjects, after, limit)
        self.paged += [record.sequence for record in records]
        return records

    async def follow(
        self, subjects: str, after: After, limit: int
    ) -> AsyncGenerator[Records, None]:
        """As the reader does, remembered."""
        async for records in super().follow(subjects, after, limit):
            self.followed += [record.sequence for record in records]
            yield records


@pytest.fixture
async def position(broker: Broker) -> int:
    """The last input of a log that a worker with checkpoints has answered and left."""
    await live(broker, 0, 150)
    (label, *_) = await JetStreamCheckpoints(broker.client).labels(PARTITION)
    return label.sequence


async def live(broker: Broker, first: int, count: int) -> None:
    """Let a worker answer an event of one agent, then many of another."""
    checkpoints = JetStreamCheckpoints(broker.client)
    async with working(
        broker.reader, broker.writer, started(), checkpoints=checkpoints
    ):
        wires = [sensed(IDLE, f"idle-{first}", "all is quiet")]
        wires += [
            sensed(ADA, f"{number}", f"thing {number} came by")
            for number in range(first, first + count)
        ]
        last = (await publish(broker.writer, wires))[-1]
        await answer(broker.reader, PARTITION, last, PATIENCE_S)


async def ours(broker: Broker) -> set[int]:
    """The sequences of the partition's records; a page may hold fewer than asked for."""
    records = scan(broker.reader, f"ev.{PARTITION}.>")
    return {record.sequence async for record in records}


async def test_a_worker_reads_no_input_that_is_answered(
    broker: Broker, position: int
) -> None:
    """Neither its fold nor its reading goes back to where another partition idles."""
    log = Watched(broker)
    checkpoints = JetStreamCheckpoints(broker.client)
    async with working(log, broker.writer, started(), checkpoints=checkpoints):
        (new,) = await publish(broker.writer, [sensed(ADA, "new", "a new thing")])
        await answer(broker.reader, PARTITION, new, PATIENCE_S)
        await until(lambda: new in log.followed, "the new one is read")

    assert min(log.followed) > position
    old = {each for each in await ours(broker) if each < position}
    assert not old & set(log.paged)


async def test_other_code_folds_the_whole_log_once(
    broker: Broker, position: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """After a change of the sources no old state is taken; what comes of it is kept."""
    monkeypatch.setattr(state_sources, "_code", lambda: "other")
    checkpoints = JetStreamCheckpoints(broker.client)
    first_read = []
    for _ in range(2):
        log = Watched(broker)
        async with working(log, broker.writer, started(), checkpoints=checkpoints):
            first_read.append(min(await ours(broker) & set(log.paged)))

    assert first_read[0] < position < first_read[1]


async def test_a_state_of_any_time_begins_at_the_checkpoint_before(
    broker: Broker, position: int
) -> None:
    """Now, and at a sequence behind a checkpoint, only the rest is folded."""
    await live(broker, 1000, 120)
    inputs = await broker.reader.page(f"ev.{PARTITION}.in.{ADA}.>", 0, 1000)
    checkpoints = JetStreamCheckpoints(broker.client)
    for end in (None, inputs[-20].sequence, inputs[10].sequence):
        log = Watched(broker)
        known = await state_at(
            log, ADA, the_embedder(), sequence=end, checkpoints=checkpoints
        )
        whole = await state_at(broker.reader, ADA, the_embedder(), sequence=end)

        assert known == whole
        assert (min(log.paged) > position) == (end is None or end > position)
    moment = inputs[-20].recorded_at
    by_time = await state_at(
        broker.reader, ADA, the_embedder(), at=moment, checkpoints=checkpoints
    )
    assert by_time == await state_at(broker.reader, ADA, the_embedder(), at=moment)


async def test_a_projector_folds_nothing_that_is_written(
    broker: Broker, position: int
) -> None:
    """It goes on from the last state at or before its position, with the same changes."""
    await live(broker, 1000, 120)
    written = position + 40
    beginnings = Beginnings(broker.reader, JetStreamCheckpoints(broker.client), CODE)

    async def begin(partition: int, until: int) -> tuple[PartitionState, int]:
        found = await beginnings.of(partition, until=until)
        return found.state, found.last_output

    log = Watched(broker)
    made = await changes(Folding(log, bringer(log), begin), written)
    whole = await changes(Folding(broker.reader, bringer(broker.reader)), written)

    assert made == whole
    assert len(made) > 50
    assert min(log.paged) > position


async def changes(folding: Folding, written: int) -> list[object]:
    """Everything that the partition's log changes behind what is written."""
    return [
        each
        async for few in folding.advance(PARTITION, written=written)
        for each in few
    ]


async def test_a_state_goes_on_from_its_own_bytes(
    broker: Broker, position: int
) -> None:
    """What was kept is what a fold of the whole log up to there makes."""
    beginnings = Beginnings(broker.reader, JetStreamCheckpoints(broker.client), CODE)
    found = await beginnings.of(PARTITION)
    none = Beginnings(broker.reader, None, CODE)

    assert found.state.position == position
    assert (await none.of(PARTITION)).state.position == 0
    assert codec.load(codec.dump(found.state)) == found.state
