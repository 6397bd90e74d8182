"""What was spooled while no collector answered: read again, copied, or sent after all."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from echoic.tracing import encode
from echoic.tracing.collector import Collector, CollectorError
from echoic.tracing.conventions import SERVICE_NAME
from echoic.tracing.destinations import CLAIMED, Spool
from echoic.tracing.spans import Attributes, SpanData

Batch = tuple[Attributes, list[SpanData]]


def spans_of(spool: Spool, trace_id: str) -> list[SpanData]:
    """Return the spans of a trace that are in the spool, once each."""
    found = {
        span.span_id: replace(span, service=str(resource.get(SERVICE_NAME, "")))
        for resource, spans in spool.batches(containing=trace_id)
        for span in spans
        if span.trace_id == trace_id
    }
    return list(found.values())


def since(spool: Spool, start_ns: int) -> Iterator[Batch]:
    """Yield what is spooled of spans that began then or later, in ns since 1970."""
    for resource, spans in spool.batches():
        recent = [span for span in spans if span.start_ns >= start_ns]
        if recent:
            yield resource, recent


def send(spool: Spool, collector: Collector) -> int:
    """Send what is spooled; return the number of spans. What was taken leaves the disk.

    Raises:
        CollectorError: a batch was not taken; it and what follows are kept.
        OSError: a file cannot be read or written.
    """
    return sum(_send_file(path, collector) for path in _claimed(spool))


def _claimed(spool: Spool) -> Iterator[Path]:
    """Yield the files under names that no running instance writes to, oldest first."""
    for path in spool.files():
        if path.suffix == CLAIMED:
            yield path
        else:
            yield path.replace(path.with_name(path.name + CLAIMED))


def _send_file(path: Path, collector: Collector) -> int:
    lines = path.read_bytes().splitlines(keepends=True)
    sent = 0
    while lines:
        for resource, spans in encode.whole(lines[0]):
            try:
                collector.send(resource, spans)
            except CollectorError:
                # Jaeger would warn of spans that come twice, so only the rest is kept.
                path.write_bytes(b"".join(lines))
                raise
            sent += len(spans)
        del lines[0]
    path.unlink()
    return sent
