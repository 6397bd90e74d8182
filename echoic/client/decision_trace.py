"""The trace of a decision: as it was measured, if it is spooled, else from the log alone.

The log has the broker's times of what came in and what was written, and a model's own
times. When the worker began, and how long each of its stages took, it does not have.
"""

from collections.abc import Iterator
from contextlib import aclosing
from dataclasses import dataclass

from echoic.tracing import conventions as names
from echoic.tracing.observe import HELD_NS_MAX, Answered, Observer, Trace
from echoic.tracing.spans import DecisionTrace, SpanData, decision_spans
from replay.recording.decisions import DecisionRecord
from replay.recording.recorded_groups import written_ns
from schemas.codec.decode import read_input, read_output
from schemas.values.subjects import partition_of
from streams.groups import groups
from streams.log import ReadableLog

_MEASURED = ("chat ", "publish ", names.COMPLETE, names.PROCESS)
"""How the names of spans begin whose times the log has; it has those of a root, too."""


@dataclass(frozen=True, slots=True)
class ShownSpan:
    """A span to be shown, at its depth in the tree."""

    span: SpanData
    depth: int
    is_timed: bool
    """False if the log has no times of its own for it."""


async def from_log(log: ReadableLog, record: DecisionRecord) -> list[SpanData]:
    """Return the spans of a decision's trace, as far as the log tells."""
    observer = Observer()
    partition = partition_of(record.agent)
    made: list[Trace] = []
    reading = groups(log, partition, record.sequence - 1)
    async with aclosing(reading):
        async for group in reading:
            entry = read_input(group.input)
            if entry.agent == record.agent:
                outputs = tuple(map(read_output, group.outputs))
                seen = Answered.of_log(entry, outputs, written_ns(group))
                made.extend(observer.answered(seen))
            # After its end only the reports of deliveries are awaited.
            known_ns = max(record.arrived_ns, record.answered_ns)
            late = entry.record.time_ns - known_ns > HELD_NS_MAX
            if late or _of(record, made):
                break
    made.extend(observer.rest())
    trace = _of(record, made)
    return list(decision_spans(trace)) if trace else []


def tree(spans: list[SpanData], *, is_measured: bool) -> Iterator[ShownSpan]:
    """Yield spans below their parents, in order of their starts."""
    known = {span.span_id for span in spans}
    below: dict[str, list[SpanData]] = {}
    for span in sorted(spans, key=lambda each: each.start_ns):
        # A sensor's own span, which we have not, is the parent of a root.
        parent = span.parent if span.parent in known else None
        below.setdefault(parent or "", []).append(span)

    def descend(parent: str, depth: int) -> Iterator[ShownSpan]:
        for span in below.get(parent, ()):
            timed = is_measured and span.attributes.get(names.STAGE_TIMED) is not False
            of_log = depth == 0 or span.name.startswith(_MEASURED)
            yield ShownSpan(span, depth, timed or of_log)
            yield from descend(span.span_id, depth + 1)

    yield from descend("", 0)


def _of(record: DecisionRecord, traces: list[Trace]) -> DecisionTrace | None:
    for trace in traces:
        if isinstance(trace, DecisionTrace) and trace.decision_id == record.id:
            return trace
    return None
