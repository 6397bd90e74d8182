"""What Jaeger expects of traces, as read from its source, held against a session's spans.

Breaking one of these rules shows a warning on the trace, hides a span from search, or
makes an upload fail.
"""

import json
import re
from collections import defaultdict
from pathlib import Path

import pytest

from echoic.tracing import conventions
from echoic.tracing.destinations import Spool
from echoic.tracing.export import resource
from echoic.tracing.spans import Link, SpanData, SpanEvent
from tests.echoic.tracing.session import session_spans

# Jaeger searches for tags on one span, compared as text: each `decide` has all of these.
SEARCHABLE = {
    conventions.DECISION_ID,
    conventions.EVENT_ID,
    conventions.EVENT_TYPE,
    conventions.EVENT_SOURCE,
    conventions.AGENT_ID,
    conventions.RUN_ID,
    conventions.RUN_VARIANT,
    conventions.STRATEGY_ID,
    conventions.STRATEGY_VERSION,
    conventions.PACK_ID,
    conventions.PACK_VERSION,
    conventions.DECISION_PATH,
    conventions.DECISION_OUTCOME,
    conventions.DECISION_REASON,
    conventions.SUMMARY,
    conventions.SALIENCE_SCORE,
    conventions.SALIENCE_BAND,
    conventions.HEURISTIC_ID,
    conventions.QUEUE_DELAY_MS,
    conventions.QUEUE_DELAY_BAND,
}


@pytest.fixture(scope="module")
def spans() -> list[SpanData]:
    """Every span of the session."""
    return session_spans()


def test_the_session_shows_every_name(spans: list[SpanData]) -> None:
    """The rules below are held against all kinds of spans there are."""
    kinds = {span.name.split()[0] for span in spans}

    assert kinds == {
        *("thirst", "process", "queue", "decide", "commit"),
        *("salience", "gate", "match", "choose", "messages"),
        *("chat", "publish", "outcome", "complete", "feedback", "learn"),
    }


def test_ids_have_their_form(spans: list[SpanData]) -> None:
    """Ids are hex of 16 and 8 bytes, and not zero."""
    for span in spans:
        assert re.fullmatch(r"[0-9a-f]{32}", span.trace_id)
        assert re.fullmatch(r"[0-9a-f]{16}", span.span_id)
        assert int(span.trace_id, 16)
        assert int(span.span_id, 16)


def test_span_ids_are_unique(spans: list[SpanData]) -> None:
    """No span id occurs twice."""
    ids = [span.span_id for span in spans]

    assert len(ids) == len(set(ids))


def test_parents_can_be_found(spans: list[SpanData]) -> None:
    """Each parent is a span of the same trace, and each trace has one root."""
    traces: dict[str, dict[str, SpanData]] = defaultdict(dict)
    for span in spans:
        traces[span.trace_id][span.span_id] = span
    for trace in traces.values():
        roots = [span for span in trace.values() if span.parent is None]

        assert len(roots) == 1
        assert all(span.parent in trace for span in trace.values() if span.parent)


def test_links_point_somewhere(spans: list[SpanData]) -> None:
    """No link is empty, and those to decisions name a span that was exported."""
    exported = {(span.trace_id, span.span_id) for span in spans}
    links = [link for span in spans for link in span.links]
    to_decisions = [
        link
        for link in links
        if link.attributes[conventions.LINK] == conventions.LINK_DECISION
    ]

    assert {(link.trace_id, link.span_id) for link in to_decisions} <= exported
    assert len(to_decisions) == 2
    assert len(links) == 3


def test_children_lie_within_their_parents(spans: list[SpanData]) -> None:
    """On one host Jaeger warns of children that end after their parent."""
    by_id = {span.span_id: span for span in spans}
    for span in spans:
        parent = by_id.get(span.parent or "", span)
        assert parent.start_ns <= span.start_ns < span.end_ns <= parent.end_ns


def test_names_are_known(spans: list[SpanData]) -> None:
    """Every span's name is in the closed grammar."""
    ours = {span.name for span in spans if span.service is None}
    events = {(span.service, span.name) for span in spans if span.service is not None}

    assert not [name for name in ours if not conventions.SPAN_NAMES.fullmatch(name)]
    assert events == {("crafter", "thirst")}


def test_decide_has_every_searchable_tag(spans: list[SpanData]) -> None:
    """Search wants all tags on one span, so they are all there."""
    decides = [span for span in spans if span.name == conventions.DECIDE]

    assert len(decides) == 5
    for span in decides:
        assert set() == SEARCHABLE - set(span.attributes)
        assert len(str(span.attributes[conventions.SUMMARY])) <= 200


def test_values_are_scalar(spans: list[SpanData]) -> None:
    """Search compares values as text, so none is a list or a map, and none is missing."""
    for span in spans:
        holders: list[SpanData | SpanEvent | Link] = [span, *span.events, *span.links]
        for name, value in (
            pair for each in holders for pair in each.attributes.items()
        ):
            assert isinstance(value, str | bool | int | float), name


def test_only_failures_are_errors(spans: list[SpanData]) -> None:
    """Silence is no error, or every trace would be red."""
    failed = {span.name for span in spans if span.error is not None}

    assert failed == {"thirst", "process", "decide", "chat tiny"}
    assert len([span for span in spans if span.error is not None]) == 4


def test_few_events_a_span(spans: list[SpanData]) -> None:
    """A span shows a handful of events; Jaeger gets slow with hundreds."""
    assert all(len(span.events) < 30 for span in spans)


def test_model_calls_are_recognized(spans: list[SpanData]) -> None:
    """Jaeger marks a span as a model's by its operation, provider and model."""
    calls = [span for span in spans if span.name.startswith("chat ")]

    assert calls
    for span in calls:
        assert span.kind == "client"
        assert span.attributes["gen_ai.operation.name"] == "chat"
        assert span.attributes["gen_ai.provider.name"] == "ollama"
        assert span.attributes["gen_ai.request.model"] == "tiny"
        assert span.attributes["gen_ai.agent.id"] == "mia"


def test_resource_names_service_and_host(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without a host Jaeger distrusts every clock; without a service nothing is found."""
    monkeypatch.setenv("OTEL_RESOURCE_ATTRIBUTES", "deployment.environment.name=stage")
    ours = resource()

    assert ours["service.name"] == "echoic"
    assert ours["deployment.environment.name"] == "stage"
    assert all(ours[name] for name in ("host.name", "host.id", "service.version"))
    assert ours["telemetry.sdk.name"] == "echoic.tracing"
    assert ours["telemetry.sdk.version"] == ours["service.version"]
    assert not [name for name in ours if name.startswith("process.")]


def test_the_service_is_named_by_the_environment(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Its own variable wins over the one for all attributes, whose values are decoded."""
    monkeypatch.setenv("OTEL_RESOURCE_ATTRIBUTES", "service.name=a,team=a%2Cb")
    assert resource()["service.name"] == "a"
    monkeypatch.setenv("OTEL_SERVICE_NAME", "b")

    assert resource()["service.name"] == "b"
    assert resource()["team"] == "a,b"


def test_spool_can_be_uploaded(spans: list[SpanData], tmp_path: Path) -> None:
    """The file is JSON a line, with hex ids and integers as text."""
    spool = Spool(tmp_path / "traces.otlp.jsonl")
    spool.send(resource(), spans[:5])
    spool.send(resource(), spans[5:])
    lines = spool.path.read_text().splitlines()
    written = [
        span
        for line in lines
        for group in json.loads(line)["resourceSpans"]
        for scope in group["scopeSpans"]
        for span in scope["spans"]
    ]

    assert len(lines) == 2
    assert {span.span_id for span in spans} == {each["spanId"] for each in written}
    assert len(spans) == len(written)
    for each in written:
        assert re.fullmatch(r"[0-9a-f]{32}", each["traceId"])
        assert each["startTimeUnixNano"].isdecimal()
        for pair in each["attributes"]:
            ((kind, value),) = pair["value"].items()
            assert (kind == "intValue") <= isinstance(value, str)
