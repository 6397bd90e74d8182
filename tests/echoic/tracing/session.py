"""A session in which every input that leaves a trace occurs once, and its spans."""

from msgspec import structs

from echoic.tracing.observe import Answered, Observer
from echoic.tracing.spans import FollowUp, SpanData, decision_spans, follow_up_spans
from schemas.messages.results import Delivered, ModelAnswered, ModelFailed
from tests.echoic.tracing import samples

OTHER_TRACE = "4bf92f3577b34da6a3ce929d0e0e4736"


def a_session() -> list[Answered]:
    """One input of every kind that leaves a trace."""
    ids = [f"01993c5e-7a10-7abc-8def-0123456789{n:02x}" for n in range(6)]
    answer = ModelAnswered(ask_id="am1", request_hash="beef", model="tiny", text="A.")
    failed = ModelFailed(ask_id="am2", request_hash="beef", reason="timeout")
    out = Delivered(ask_id="ao0", channel="console")
    return [
        samples.sensed(
            ("d0", samples.decided(event_id=ids[0])),
            ("ao0", samples.delivery_asked("d0")),
            id_=ids[0],
            headers={"traceparent": f"00-{OTHER_TRACE}-00f067aa0ba902b7-01"},
        ),
        samples.result(out, ms=10),
        samples.sensed(
            ("d1", structs.replace(samples.deferred(), event_id=ids[1])),
            ("am1", samples.model_asked("d1")),
            id_=ids[1],
        ),
        samples.result(answer, ("c1", samples.completed("d1")), ms=800),
        samples.sensed(
            ("d2", structs.replace(samples.deferred(), event_id=ids[2])),
            ("am2", samples.model_asked("d2")),
            id_=ids[2],
        ),
        samples.result(failed, ("x2", samples.dropped("d2")), ms=900),
        samples.sensed(
            ("d3", samples.silent(event_id=ids[3])),
            ("o3", samples.outcome("d0")),
            id_=ids[3],
        ),
        samples.sensed(
            ("d4", samples.silent("error", event_id="not-a-uuid")), id_="not-a-uuid"
        ),
        samples.feedback("d0"),
        samples.result(failed, ("x9", samples.dropped("long-ago")), ms=950),
    ]


def session_spans() -> list[SpanData]:
    """Every span of the session."""
    observer = Observer(packs={"survival": "1.0.0"})
    traces = [trace for seen in a_session() for trace in observer.answered(seen)]
    traces.extend(observer.rest())
    return [
        span
        for trace in traces
        for span in (
            follow_up_spans(trace)
            if isinstance(trace, FollowUp)
            else decision_spans(trace)
        )
    ]
