"""What was spooled while no collector answered: read again, copied, or sent after all."""

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from msgspec.structs import replace

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


def since(batches: Iterable[Batch], start_ns: int) -> Iterator[Batch]:
    """Yield what batches have of spans that began then or later, in ns since 1970."""
    for resource, spans in batches:
        recent = [span for span in spans if span.start_ns >= start_ns]
        if recent:
            yield resource, recent


class Copy:
    """A file of OTLP-JSON lines, one batch a line; it counts what it takes."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self.spans = 0
        self.traces: set[str] = set()

    def send(self, resource: Attributes, spans: Sequence[SpanData]) -> None:
        """Append a batch.

        Raises:
            OSError: the file cannot be written.
        """
        self._file.write(encode.to_json(resource, spans) + b"\n")
        self.spans += len(spans)
        self.traces.update(span.trace_id for span in spans)


@contextmanager
def new_copy(path: Path) -> Iterator[Copy]:
    """Write a new file, which has its name once it is whole; it is of any length.

    Raises:
        OSError: the file cannot be written.
    """
    part = path.with_name(f"{path.name}.part")
    try:
        with part.open("wb") as file:
            yield Copy(file)
        part.replace(path)
    finally:
        part.unlink(missing_ok=True)


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
