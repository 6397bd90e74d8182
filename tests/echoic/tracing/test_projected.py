"""When the read models had a decision, as a span of the decision's own trace."""

from dataclasses import replace

from echoic.tracing.observe import HELD_MAX, Answered, Observer
from echoic.tracing.projected import _LATE_NS, ProjectionObserver
from echoic.tracing.spans import DecisionTrace, decision_spans, follow_up_spans
from schemas.messages.decisions import Decided
from schemas.messages.results import Delivered, ModelAnswered
from tests.echoic.tracing import samples


def a_group(decided: Decided) -> Answered:
    """A group that the read models have, 5 ms after the log had it."""
    return samples.sensed(("d1", decided))


def test_it_is_a_child_of_what_the_engine_did() -> None:
    """The two processes find the same ids, and the projector's span lacks no parent."""
    seen = a_group(samples.decided())
    (trace,) = Observer().answered(seen)
    assert isinstance(trace, DecisionTrace)
    root, process, *others = decision_spans(trace)

    (found,) = ProjectionObserver().answered(seen)
    (span,) = follow_up_spans(found)

    assert span.name == "projection"
    assert (span.trace_id, span.parent) == (root.trace_id, process.span_id)
    assert span.span_id not in {each.span_id for each in (root, process, *others)}
    assert span.links == ()
    assert span.end_ns - span.start_ns == 5 * samples.MS


def test_silence_may_not_be_traced_and_has_none() -> None:
    """A span whose trace was left out by sampling would stand alone."""
    assert not list(ProjectionObserver().answered(a_group(samples.silent())))


def test_it_is_held_until_its_parent_is_sent() -> None:
    """Jaeger merges no two versions of a trace: a child that comes first hangs on nothing."""
    words = ModelAnswered(
        ask_id="ask-llm", request_hash="r", model="small", text="Drink."
    )
    out = Delivered(ask_id="ask-out", channel="console")
    log = (
        samples.sensed(
            ("d1", samples.deferred()), ("ask-llm", samples.model_asked("d1"))
        ),
        samples.result(
            words,
            ("end", samples.completed("d1")),
            ("ask-out", samples.delivery_asked("d1")),
            ms=9_000,
        ),
        samples.result(out, ms=9_020),
    )
    engine, projector = Observer(), ProjectionObserver()

    sent = [
        (list(engine.answered(each)), list(projector.answered(each))) for each in log
    ]

    assert [(len(traces), len(spans)) for traces, spans in sent] == [
        (0, 0),
        (0, 0),
        (1, 1),
    ]
    (trace,), (found,) = sent[-1]
    assert isinstance(trace, DecisionTrace)
    _, process, *_ = decision_spans(trace)
    (span,) = follow_up_spans(found)
    assert span.parent == process.span_id
    # It tells when the decision could be read, not when that was sent.
    assert span.end_ns == log[0].times.committed_ns


def test_what_is_held_is_bounded_as_the_decisions_are() -> None:
    """Beyond it the oldest goes out, as its decision does unfinished."""
    projector = ProjectionObserver()
    for number in range(HELD_MAX + 2):
        group = (f"d{number}", samples.deferred())
        assert not list(projector.answered(samples.sensed(group)))

    out = list(projector.overdue(samples.START_NS + _LATE_NS))

    assert [each.id for each in out] == ["d0", "d1"]


def test_history_is_not_traced_again() -> None:
    """A projector that catches up adds nothing to traces that have gone out long ago."""
    seen = a_group(samples.decided())
    now_ns = samples.START_NS + _LATE_NS + 1
    times = replace(seen, times=samples.times(now_ns))

    assert not list(ProjectionObserver().answered(times))
    assert not list(ProjectionObserver().overdue(now_ns))
