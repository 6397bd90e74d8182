"""A real collector's own words on what it received, over each protocol."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from echoic.tracing import conventions
from echoic.tracing.collector import Collector, endpoint
from echoic.tracing.export import resource
from echoic.tracing.spans import SpanData
from tests.echoic.tracing.collectors import Rotel, wait_until
from tests.echoic.tracing.session import session_spans

pytest.importorskip("rotel")
pytestmark = pytest.mark.services


@pytest.fixture
def rotel(tmp_path: Path) -> Iterator[Rotel]:
    """A collector that runs for one test."""
    running = Rotel(tmp_path)
    yield running
    running.stop()


@pytest.fixture(scope="module")
def spans() -> list[SpanData]:
    """A session in which every kind of span occurs."""
    return session_spans()


def received(
    rotel: Rotel, protocol: str, spans: list[SpanData], compression: str
) -> str:
    """What the collector wrote when it was sent the spans."""
    where = endpoint(
        f"http://127.0.0.1:{rotel.http}",
        {
            "OTEL_EXPORTER_OTLP_PROTOCOL": protocol,
            "OTEL_EXPORTER_OTLP_COMPRESSION": compression,
        },
    )
    collector = Collector(where)
    collector.send(resource(), spans)
    collector.close()
    wait_until(lambda: len(values(rotel.text(), "ID")) >= len(spans))
    return rotel.text()


def values(text: str, field: str) -> list[str]:
    """The values of a field, in the order in which they were written."""
    # Four spaces: those of links and events stand further in.
    return re.findall(rf"^ {{4}}{field} *: ?(.*?) *$", text, re.MULTILINE)


@pytest.mark.parametrize(
    ("protocol", "compression"),
    [("http/protobuf", "none"), ("http/protobuf", "gzip"), ("http/json", "gzip")],
)
def test_every_span_arrives_whole(
    protocol: str, compression: str, rotel: Rotel, spans: list[SpanData]
) -> None:
    """Ids, parents, names, times, links and events are those that were sent."""
    text = received(rotel, protocol, spans, compression)

    columns = ("ID", "Trace ID", "Parent ID", "Name")
    rows = zip(*(values(text, each) for each in columns), strict=True)
    # Each service's spans come together.
    assert sorted(rows) == sorted(
        (span.span_id, span.trace_id, span.parent or "", span.name) for span in spans
    )
    assert text.count("SpanEvent #") == sum(len(span.events) for span in spans)
    assert text.count("SpanLink #") == sum(len(span.links) for span in spans)
    for name in (conventions.SERVICE_NAME, conventions.HOST_NAME, conventions.HOST_ID):
        assert name in text
