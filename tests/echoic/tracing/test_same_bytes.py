"""Whatever the collector does, the mind answers the same, byte for byte, and goes on."""

from collections.abc import Callable
from contextlib import AbstractContextManager
from itertools import count
from pathlib import Path
from uuid import UUID

import pytest

from echoic.tracing.export import open_tracer
from handlers.worker.listening import Listeners, Observer, tell_nobody
from schemas.values.record import Record
from schemas.values.subjects import partition_of
from streams.groups import answer
from tests.echoic.tracing import collectors
from tests.memory_log import MemoryLog
from tests.minds import all_groups, publish, sensed, started, working
from tests.patience import PATIENCE_S

ADA = "ada"
EVENTS = 60
BEGIN_NS = 1_795_000_000_000_000_000


async def answers(answered: Observer) -> list[Record]:
    """All that a worker writes on the same events, watched by an observer."""
    times = count(BEGIN_NS, 1_000_000)
    log = MemoryLog(UUID(int=7), lambda: next(times))
    # Stored before the worker starts, so that their times are the same each time.
    wires = [
        sensed(ADA, f"event-{n}", f"a visitor with {n} apples") for n in range(EVENTS)
    ]
    sequences = await publish(log, wires)
    async with working(log, log, started(), listeners=Listeners(answered=answered)):
        await answer(log, partition_of(ADA), sequences[-1], PATIENCE_S)
    found = await all_groups(log, ADA)
    return [record for group in found for record in group.outputs]


@pytest.mark.parametrize("protocol", ["http/protobuf", "http/json"])
@pytest.mark.parametrize(
    "bad", [collectors.dead, collectors.hanging, collectors.refusing]
)
async def test_no_collector_changes_or_holds_up_an_answer(
    bad: Callable[[], AbstractContextManager[int]], protocol: str, tmp_path: Path
) -> None:
    """All events are answered while the collector is dead, hangs or refuses."""
    untraced = await answers(tell_nobody)
    with bad() as port:
        tracer = open_tracer(
            f"http://127.0.0.1:{port}",
            {"OTEL_EXPORTER_OTLP_PROTOCOL": protocol},
            spool=tmp_path / "traces.jsonl",
            notify=lambda _: None,
        )
        assert tracer is not None
        traced = await answers(tracer.observe)
        tracer.close()

    assert len(traced) >= EVENTS
    assert [each.body for each in traced] == [each.body for each in untraced]
    assert [each.subject for each in traced] == [each.subject for each in untraced]
    assert [each.headers for each in traced] == [each.headers for each in untraced]
