"""Traces that waited in a file: found, copied, and sent after all."""

from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest
from msgspec.structs import replace

from echoic.tracing import resend
from echoic.tracing.collector import Collector, CollectorError, endpoint
from echoic.tracing.destinations import Spool
from echoic.tracing.spans import Attributes, SpanData
from tests.echoic.tracing import collectors
from tests.echoic.tracing.test_encode import RESOURCE, SPAN


@pytest.fixture
def spool(tmp_path: Path) -> Spool:
    """A file with three batches of one span each."""
    made = Spool(tmp_path / "t.jsonl")
    for number in range(3):
        made.send(RESOURCE, [span(number)])
    return made


@pytest.fixture
def receiver(tmp_path: Path) -> Iterator[collectors.TraceView]:
    """A receiver that runs for one test."""
    running = collectors.TraceView(tmp_path)
    yield running
    running.kill()


class Choosy(Collector):
    """A collector that takes so many batches, then none."""

    def __init__(self, batches: int) -> None:
        super().__init__(endpoint("http://127.0.0.1:1", {}))
        self._left = batches
        self.taken: list[SpanData] = []

    def send(self, resource: Attributes, spans: Sequence[SpanData]) -> None:
        """Take a batch, or fail."""
        if not self._left:
            raise CollectorError("503")
        self._left -= 1
        self.taken.extend(spans)


def span(number: int) -> SpanData:
    """A span in a trace of its own."""
    return SpanData(
        trace_id=f"{number + 1:032x}",
        span_id=f"{number + 1:016x}",
        parent=None,
        name="queue",
        kind="internal",
        start_ns=number,
        end_ns=number + 1,
        attributes=SPAN.attributes,
    )


def test_a_trace_is_found(spool: Spool) -> None:
    """The spans of one trace, once each though they were written twice."""
    spool.send(RESOURCE, [span(1)])

    assert resend.spans_of(spool, span(1).trace_id) == [
        replace(span(1), service="echoic")
    ]
    assert resend.spans_of(spool, "f" * 32) == []


def test_recent_spans_are_chosen(spool: Spool) -> None:
    """Spans that began earlier are left out."""
    found = [each for _, spans in resend.since(spool.batches(), 1) for each in spans]

    assert found == [span(1), span(2)]


@pytest.mark.services
@pytest.mark.parametrize("protocol", ["http/protobuf", "http/json"])
def test_what_waited_is_sent(
    protocol: str, spool: Spool, receiver: collectors.TraceView
) -> None:
    """A real receiver gets each span, and the file is gone."""
    where = endpoint(
        f"http://127.0.0.1:{receiver.port}", {"OTEL_EXPORTER_OTLP_PROTOCOL": protocol}
    )
    collector = Collector(where)

    assert resend.send(spool, collector) == 3
    collector.close()
    collectors.wait_until(lambda: receiver.rows("select count(*) from spans") == [(3,)])
    assert spool.files() == []
    assert resend.send(spool, collector) == 0


def test_what_is_not_taken_is_kept(spool: Spool) -> None:
    """A failure in the middle neither loses a span nor sends one twice."""
    first = Choosy(1)
    with pytest.raises(CollectorError):
        resend.send(spool, first)
    # The instance goes on writing meanwhile.
    spool.send(RESOURCE, [span(3)])
    second = Choosy(9)

    assert first.taken == [span(0)]
    assert [each for _, spans in spool.batches() for each in spans] == [
        span(1),
        span(2),
        span(3),
    ]
    assert resend.send(spool, second) == 3
    assert second.taken == [span(1), span(2), span(3)]
    assert spool.files() == []


def test_garbage_in_the_file_is_passed_over(spool: Spool) -> None:
    """Half a line of a killed process holds up nothing."""
    with spool.path.open("ab") as file:
        file.write(b'{"resourceSpans": [{"reso\n\xff\n')
    collector = Choosy(9)

    assert resend.send(spool, collector) == 3
