"""From a decision to the spans of its trace; pure: the same input gives the same spans.

A trace's id derives from its event's id, a span's from the decision and the span's name,
so a redelivery makes the same ids. Every child lies within its parent's time.
"""

import re
from collections.abc import Iterable, Mapping
from typing import Literal

from msgspec import Struct, field
from msgspec.structs import replace

from echoic.tracing import conventions as names
from echoic.tracing.run import LIVE, Run
from schemas.values import ids as identity

Scalar = str | bool | int | float | tuple[str, ...]
"""A value of an attribute: one, or several texts."""
Attributes = Mapping[str, Scalar]
SpanKind = Literal["internal", "client", "producer", "consumer"]

GAP_NS = 1_000
"""Nanoseconds by which every child ends early. Jaeger counts whole microseconds, and its
critical path leaves out a span that ends when the next one begins."""

# W3C Trace Context: version, trace id, parent id and flags. Ids of zeros are invalid.
_TRACEPARENT = re.compile(r"[0-9a-f]{2}-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})")


class SpanEvent(Struct, frozen=True):
    """An event within a span, at nanoseconds since 1970."""

    name: str
    at_ns: int
    attributes: Attributes = field(default_factory=dict)


class Link(Struct, frozen=True):
    """A link to a related span, mostly of another trace."""

    trace_id: str
    span_id: str
    attributes: Attributes = field(default_factory=dict)


class SpanData(Struct, frozen=True, kw_only=True):
    """A span as it is exported; ids are hex, times nanoseconds since 1970."""

    trace_id: str
    span_id: str
    parent: str | None
    name: str
    kind: SpanKind
    start_ns: int
    end_ns: int
    attributes: Attributes = field(default_factory=dict)
    events: tuple[SpanEvent, ...] = ()
    links: tuple[Link, ...] = ()
    error: str | None = None
    """What failed. Silence is not a failure."""
    service: str | None = None
    """Whose span it is, if not the engine's: the source that an event came from."""


class Step(Struct, frozen=True, kw_only=True):
    """One thing that was done for a decision: a span without ids and parent."""

    name: str
    start_ns: int
    end_ns: int
    kind: SpanKind = "internal"
    attributes: Attributes = field(default_factory=dict)
    events: tuple[SpanEvent, ...] = ()
    links: tuple[Link, ...] = ()
    error: str | None = None
    service: str | None = None
    id: str | None = None
    """Its span's, if others were told of it; None: it is made of its name and place."""


class DecisionTrace(Struct, frozen=True, kw_only=True):
    """The facts of one decision from which its trace is built."""

    decision_id: str
    event_id: str
    """What the trace is named after: the event's id, or the decision's own if a timer led
    to it."""
    source: str
    type: str
    traceparent: str | None
    """The sensor's own trace context, if it sent one."""
    received_ns: int
    """The broker's time of the event."""
    picked_up_ns: int
    """When the worker received its batch from the broker."""
    started_ns: int
    """When the mind began with it."""
    decided_ns: int
    writing_ns: int
    """When the write of its group began; 0 if that is not known."""
    committed_ns: int
    """When the broker had acknowledged its group."""
    attributes: Attributes
    """Of the root."""
    tags: Attributes
    """Of `decide`."""
    stages: tuple[Step, ...] = ()
    """Within `decide`."""
    steps: tuple[Step, ...] = ()
    """Model calls, deliveries, and outcomes of earlier decisions."""
    error: str | None = None
    run: Run = LIVE
    original: str = ""
    """The id of the recorded decision that a replay made again."""


class FollowUp(Struct, frozen=True, kw_only=True):
    """What became known of a decision later: a trace of its own that links to it."""

    id: str
    """What its trace is named after: the input's id, or that of the message which says
    it, since one input may end several decisions."""
    traceparent: str | None
    event_id: str | None = None
    """The event whose trace it is a part of; None: it has one of its own."""
    root: Step
    steps: tuple[Step, ...] = ()


def decision_spans(trace: DecisionTrace) -> tuple[SpanData, ...]:
    """Return the spans of a decision's trace, its root first."""
    trace_id = trace.run.trace_id(trace.event_id)
    parent, links = _context(trace.traceparent, trace_id)
    ids = _Ids(trace.run.span_key(trace.decision_id))
    root = _root_span(_root(trace, links), trace_id, ids, parent)
    (process,) = _children((_process(trace, root.end_ns),), root, ids)
    queue, decide = _children((_queue(trace), _decide(trace)), process, ids)
    stages = _children(trace.stages, decide, ids)
    # Beside `decide`, not within: they happened after it, and may end much later.
    others = _children((_commit(trace), *trace.steps), process, ids)
    return (root, process, queue, decide, *stages, *others)


def follow_up_spans(follow_up: FollowUp) -> tuple[SpanData, ...]:
    """Return the spans of a later input's trace, its root first."""
    trace_id = identity.trace_id(follow_up.event_id or follow_up.id)
    parent, links = _context(follow_up.traceparent, trace_id)
    ids = _Ids(follow_up.id)
    root = _root_span(follow_up.root, trace_id, ids, parent, links)
    return (root, *_children(follow_up.steps, root, ids))


def decision_link(event_id: str, decision_id: str) -> Link:
    """Return a link to the `decide` span of a decision, wherever its trace may be."""
    return Link(
        identity.trace_id(event_id),
        identity.span_id(decision_id, names.DECIDE, 0),
        {names.LINK: names.LINK_DECISION, names.DECISION_ID: decision_id},
    )


def _original(trace: DecisionTrace) -> tuple[Link, ...]:
    if not trace.original:
        return ()
    link = decision_link(trace.event_id, trace.original)
    return (
        replace(link, attributes={**link.attributes, names.LINK: names.LINK_ORIGINAL}),
    )


class _Ids:
    """Makes the span ids of one trace, counting spans of the same name."""

    def __init__(self, key: str) -> None:
        self._key = key
        self._used: dict[str, int] = {}

    def next(self, name: str) -> str:
        index = self._used.get(name, 0)
        self._used[name] = index + 1
        return identity.span_id(self._key, name, index)


def _context(
    traceparent: str | None, trace_id: str
) -> tuple[str | None, tuple[Link, ...]]:
    """Return the sensor's span as parent if it is in this trace, otherwise as a link."""
    match = _TRACEPARENT.fullmatch(traceparent or "")
    if match is None or match[2] == "0" * 16 or match[1] == "0" * 32:
        return None, ()
    # Not recorded (W3C Trace Context, 3.2.2.5.1): a link would lead to a trace nobody has.
    if not int(match[3], 16) & 1:
        return None, ()
    # A sensor may use the event's id as its trace id, and so share the trace.
    if match[1] == trace_id:
        return match[2], ()
    return None, (Link(match[1], match[2], {names.LINK: names.LINK_SENSOR}),)


def _root(trace: DecisionTrace, links: tuple[Link, ...]) -> Step:
    # Model calls and deliveries end after the commit, and the root covers them all.
    ends = [trace.committed_ns, trace.decided_ns, *(s.end_ns for s in trace.steps)]
    return Step(
        # Jaeger titles a trace by its root's service and name: `crafter: vital_changed`.
        name=trace.type,
        service=trace.source,
        kind="producer",
        start_ns=min(trace.received_ns, trace.started_ns),
        end_ns=max(ends),
        # Jaeger's list of traces shows the root: what came of it is to be seen there.
        attributes={**trace.attributes, **_ended(trace)},
        links=links,
        error=trace.error,
    )


def _ended(trace: DecisionTrace) -> Attributes:
    outcome = trace.tags.get(names.DECISION_OUTCOME)
    return {} if outcome is None else {names.DECISION_OUTCOME: outcome}


def _process(trace: DecisionTrace, end_ns: int) -> Step:
    """Return all that the engine did of it: the one span by which it hangs on the source."""
    shared = {
        name: value
        for name, value in trace.attributes.items()
        if name in names.OF_THE_MESSAGE
    }
    return Step(
        name=names.PROCESS,
        kind="consumer",
        start_ns=min(trace.received_ns, trace.started_ns),
        end_ns=end_ns,
        attributes={
            **shared,
            names.MESSAGING_OPERATION_NAME: "process",
            names.MESSAGING_OPERATION_TYPE: "process",
            names.DECISION_ID: trace.decision_id,
            **_ended(trace),
        },
        error=trace.error,
    )


def _queue(trace: DecisionTrace) -> Step:
    # A broker whose clock is ahead would end the queue before it began.
    start = min(trace.received_ns, trace.started_ns)
    picked_up = min(max(trace.picked_up_ns, start), trace.started_ns)
    return Step(
        name=names.QUEUE,
        start_ns=start,
        end_ns=trace.started_ns,
        events=(SpanEvent(names.PICKED_UP_EVENT, picked_up),),
    )


def _decide(trace: DecisionTrace) -> Step:
    return Step(
        name=names.DECIDE,
        start_ns=trace.started_ns,
        end_ns=trace.decided_ns,
        attributes=trace.tags,
        links=_original(trace),
        error=trace.error,
    )


def _commit(trace: DecisionTrace) -> Step:
    # One write at a time: until it begins, the group waits for the one before.
    begun = (
        (SpanEvent(names.WRITE_EVENT, trace.writing_ns),) if trace.writing_ns else ()
    )
    return Step(
        name=names.COMMIT,
        start_ns=trace.decided_ns,
        end_ns=trace.committed_ns,
        events=begun,
    )


def _root_span(
    step: Step,
    trace_id: str,
    ids: _Ids,
    parent: str | None,
    more_links: tuple[Link, ...] = (),
) -> SpanData:
    return SpanData(
        trace_id=trace_id,
        span_id=step.id or ids.next(step.name),
        parent=parent,
        name=step.name,
        kind=step.kind,
        start_ns=step.start_ns,
        end_ns=max(step.end_ns, step.start_ns + 1),
        attributes=step.attributes,
        events=step.events,
        links=step.links + more_links,
        error=step.error,
        service=step.service,
    )


def _children(steps: Iterable[Step], parent: SpanData, ids: _Ids) -> list[SpanData]:
    """Return the spans of steps, cut to their parent's time: clocks need not agree."""
    return [_child(step, parent, ids) for step in steps]


def _child(step: Step, parent: SpanData, ids: _Ids) -> SpanData:
    # One nanosecond at least: of a span without any Jaeger says that its time is negative.
    start = _within(step.start_ns, parent.start_ns, parent.end_ns - 1)
    end = _within(step.end_ns - GAP_NS, start + 1, parent.end_ns)
    events = [
        SpanEvent(each.name, _within(each.at_ns, start, end), each.attributes)
        for each in step.events
    ]
    return SpanData(
        trace_id=parent.trace_id,
        span_id=step.id or ids.next(step.name),
        parent=parent.span_id,
        name=step.name,
        kind=step.kind,
        start_ns=start,
        end_ns=end if end > start else start + 1,
        attributes=step.attributes,
        events=tuple(events),
        links=step.links,
        error=step.error,
        service=step.service,
    )


def _within(at_ns: int, start_ns: int, end_ns: int) -> int:
    # Spelled out: `min` and `max` take four times as long, and this is asked 30 times.
    if at_ns < start_ns:
        at_ns = start_ns
    return end_ns if at_ns > end_ns else at_ns
