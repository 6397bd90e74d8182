"""From groups in the read models to spans: when a decision could be read there; pure.

The projector has its own process and sends these by itself, as children of the decision's
`process`, whose id follows from the decision. Only spoken decisions have them: these are always
traced. Each is held until the decision's own trace is due, so that no span lacks its parent.
"""

from collections.abc import Iterable, Iterator

from echoic.tracing import conventions as names
from echoic.tracing.observe import Answered, Observer, Trace
from echoic.tracing.spans import DecisionTrace, FollowUp, Step
from schemas.codec.envelope import Output
from schemas.messages.decisions import Decided
from schemas.values import ids

_LATE_NS = 60_000_000_000
"""Nanoseconds after which a decision's trace is history: a projector that catches up, or
fills new tables, adds nothing to it."""


class ProjectionObserver:
    """Turns groups that the read models have into spans."""

    def __init__(self) -> None:
        # As in the worker, so that both send at the same time, within the same bounds.
        self._decisions = Observer()
        self._held: dict[str, FollowUp] = {}

    def answered(self, seen: Answered) -> Iterator[FollowUp]:
        """Yield the spans of decisions that end with a group; its write has just ended."""
        end_ns = seen.times.committed_ns
        for output in seen.outputs:
            said = output.message
            is_late = end_ns - output.record.time_ns > _LATE_NS
            if isinstance(said, Decided) and said.silence is None and not is_late:
                self._held[output.id] = _projection(output, said, end_ns)
        # A projector that catches up has nothing to wait for.
        if self._held:
            yield from self._due(self._decisions.answered(seen))

    def overdue(self, now_ns: int) -> Iterator[FollowUp]:
        """Yield the spans of decisions that are held too long, or in excess."""
        return self._due(self._decisions.overdue(now_ns))

    def _due(self, traces: Iterable[Trace]) -> Iterator[FollowUp]:
        sent = (each.decision_id for each in traces if isinstance(each, DecisionTrace))
        return (self._held.pop(each) for each in sent if each in self._held)


def _projection(output: Output, decided: Decided, end_ns: int) -> FollowUp:
    root = ids.span_id(output.id, names.PROCESS, 0)
    return FollowUp(
        id=output.id,
        event_id=decided.event_id,
        traceparent=ids.traceparent(decided.event_id, root),
        root=Step(
            name=names.PROJECTION,
            service=names.PROJECTOR,
            kind="consumer",
            # The broker's clock may be ahead of ours.
            start_ns=min(output.record.time_ns, end_ns),
            end_ns=end_ns,
            attributes={
                names.DB_SYSTEM_NAME: "postgresql",
                names.DECISION_ID: output.id,
                names.AGENT_ID: output.agent,
            },
        ),
    )
