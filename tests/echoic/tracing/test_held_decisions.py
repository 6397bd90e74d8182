"""How long a decision's trace is held for what may end it."""

from echoic.tracing import observe
from echoic.tracing.observe import Observer
from echoic.tracing.spans import DecisionTrace, FollowUp
from schemas.messages.results import Delivered, ModelAnswered, ModelFailed
from schemas.values.ids import span_id
from tests.echoic.tracing import samples


def test_a_decision_is_held_for_a_minute_at_most() -> None:
    """A delivery nobody reports does not keep the trace back for ever."""
    observer = Observer()
    group = (("d1", samples.decided()), ("ask-out", samples.delivery_asked("d1")))
    list(observer.answered(samples.sensed(*group)))
    committed = samples.times().committed_ns

    assert list(observer.overdue(committed + observe.HELD_NS_MAX - 1)) == []
    assert len(list(observer.overdue(committed + observe.HELD_NS_MAX))) == 1
    assert list(observer.rest()) == []


def test_an_end_after_that_is_a_trace_of_its_own() -> None:
    """What comes after its decision's trace has gone out links to it."""
    observer = Observer()
    group = (("d1", samples.deferred()), ("ask-model", samples.model_asked("d1")))
    list(observer.answered(samples.sensed(*group)))
    list(observer.rest())

    failed = ModelFailed(ask_id="ask-model", request_hash="beef", reason="timeout")
    (trace,) = observer.answered(
        samples.result(failed, ("x1", samples.dropped("d1")), ms=90_000)
    )

    assert isinstance(trace, FollowUp)
    assert trace.root.name == "complete"
    assert trace.root.links[0].span_id == span_id("d1", "decide", 0)


def test_what_waits_for_its_answer_is_held_until_that_is_there() -> None:
    """However long it takes: its trace is to say what came of it, not `deferred`."""
    observer = Observer()
    group = (("d1", samples.deferred()), ("ask-model", samples.model_asked("d1")))
    list(observer.answered(samples.sensed(*group)))
    later = samples.times().committed_ns + 10 * observe.HELD_NS_MAX
    assert list(observer.overdue(later)) == []

    answer = ModelAnswered(ask_id="ask-model", request_hash="b", model="m", text="A.")
    ends = (("c1", samples.completed("d1")), ("out", samples.delivery_asked("d1")))
    assert not list(observer.answered(samples.result(answer, *ends, ms=600_000)))
    assert not list(observer.overdue(samples.START_NS + 601_000 * samples.MS))
    delivered = Delivered(ask_id="out", channel="console")
    (trace,) = observer.answered(samples.result(delivered, ms=602_000))

    assert isinstance(trace, DecisionTrace)
    assert trace.tags["echoic.decision.outcome"] == "spoke"
    assert "publish out.console" in [step.name for step in trace.steps]


def test_held_decisions_are_bounded() -> None:
    """With too many open decisions the oldest goes out first."""
    observer = Observer()
    for number in range(observe.HELD_MAX + 2):
        id_ = f"d{number}"
        asked = (f"a{number}", samples.delivery_asked(id_))
        list(observer.answered(samples.sensed((id_, samples.decided()), asked)))
    released = observer.overdue(samples.times().committed_ns)

    assert [trace.decision_id for trace in released] == ["d0", "d1"]
