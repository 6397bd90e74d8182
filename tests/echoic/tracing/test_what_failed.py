"""What failed on the way to an answer: calls that were made again, and deliveries."""

from typing import Literal

import pytest

from echoic.tracing.observe import Observer
from echoic.tracing.spans import DecisionTrace
from schemas.messages.results import (
    Delivered,
    DeliveryFailed,
    ModelAnswered,
    ModelFailed,
    Repeated,
)
from schemas.values.record import moment
from tests.echoic.tracing import samples


@pytest.mark.parametrize("is_answered", [True, False])
def test_calls_that_were_repeated_are_events_of_the_span(is_answered: bool) -> None:
    """Which attempt it was, when, why it failed and with what status, if a server said one."""
    observer = Observer()
    group = (("d1", samples.deferred()), ("ask-model", samples.model_asked("d1")))
    list(observer.answered(samples.sensed(*group)))
    begun = [samples.START_NS + each * samples.MS for each in (10, 300)]
    repeated = (
        Repeated(at=moment(begun[0]), reason="unavailable", detail="500", status=500),
        Repeated(at=moment(begun[1]), reason="unavailable", detail="it hung up"),
    )
    end = (
        ("c1", samples.completed("d1")) if is_answered else ("x", samples.dropped("d1"))
    )
    said: ModelAnswered | ModelFailed = (
        ModelAnswered(
            ask_id="ask-model",
            request_hash="beef",
            repeated=repeated,
            model="tiny",
            text="A lake.",
            started_at=moment(samples.START_NS + 700 * samples.MS),
            latency_ms=50.0,
        )
        if is_answered
        else ModelFailed(
            ask_id="ask-model",
            request_hash="beef",
            repeated=repeated,
            reason="unavailable",
        )
    )
    (trace,) = observer.answered(samples.result(said, end, ms=800))

    assert isinstance(trace, DecisionTrace)
    (chat,) = [each for each in trace.steps if each.kind == "client"]
    assert [each.name for each in chat.events] == ["call failed"] * 2
    assert [each.at_ns for each in chat.events] == begun
    assert [each.attributes["echoic.model.attempt"] for each in chat.events] == [1, 2]
    assert chat.events[0].attributes["http.response.status_code"] == 500
    assert "http.response.status_code" not in chat.events[1].attributes
    assert chat.start_ns <= begun[0] < chat.end_ns
    if is_answered:
        assert chat.end_ns == samples.START_NS + 750 * samples.MS


@pytest.mark.parametrize("first", ["refused", "unknown"])
def test_what_may_have_reached_somebody_was_spoken(
    first: Literal["refused", "unknown"],
) -> None:
    """One delivery of two is enough, and so is one of which nobody knows."""
    observer = Observer()
    asks = [(f"ask-{n}", samples.delivery_asked("d1")) for n in range(2)]
    list(observer.answered(samples.sensed(("d1", samples.decided()), *asks)))
    failed = DeliveryFailed(ask_id="ask-0", channel="console", reason=first)
    list(observer.answered(samples.result(failed, ms=20)))
    then = (
        Delivered(ask_id="ask-1", channel="console")
        if first == "refused"
        else DeliveryFailed(ask_id="ask-1", channel="console", reason="expired")
    )
    (trace,) = observer.answered(samples.result(then, ms=30))

    assert isinstance(trace, DecisionTrace)
    assert trace.tags["echoic.decision.outcome"] == "spoke"
