"""The two forms of OTLP."""

import json
from base64 import b64decode

import pytest
from google.protobuf.json_format import MessageToDict
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import (
    ExportTraceServiceRequest,
)

from echoic.tracing import encode, protobuf
from echoic.tracing.spans import Link, SpanData, SpanEvent

RESOURCE = {
    "service.name": "echoic",
    "service.version": "1",
    "host.name": "den",
    "telemetry.sdk.version": "1",
}
SPAN = SpanData(
    trace_id="01993c5e7a107abc8def0123456789ab",
    span_id="00f067aa0ba902b7",
    parent="00f067aa0ba902b8",
    name="decide",
    kind="consumer",
    start_ns=1_795_000_000_000_000_001,
    end_ns=1_795_000_000_000_000_002,
    attributes={"text": "é", "yes": True, "count": 3, "share": 0.5, "why": ("a", "b")},
    events=(SpanEvent("gate", 1_795_000_000_000_000_002, {"passed": False}),),
    links=(Link("01993c5e7a107abc8def0123456789ac", "00f067aa0ba902b9", {"a": "b"}),),
    error="it failed",
)


def normal(value: object) -> object:
    """Protobuf's JSON with hex ids and numbers for enums, empty fields left out."""
    if isinstance(value, list):
        return [normal(each) for each in value]
    if not isinstance(value, dict):
        return value
    return {
        name: b64decode(each).hex() if name.endswith(("Id", "ID")) else normal(each)
        for name, each in value.items()
    }


def without_empty(value: object) -> object:
    """The same without empty lists and maps, which protobuf does not write."""
    if isinstance(value, list):
        return [without_empty(each) for each in value]
    if not isinstance(value, dict):
        return value
    kept = {name: without_empty(each) for name, each in value.items()}
    return {name: each for name, each in kept.items() if each not in ([], {})}


WHOLE = [
    SPAN,
    SpanData(
        trace_id=SPAN.trace_id,
        span_id="00f067aa0ba902c0",
        parent=None,
        name="queue",
        kind="internal",
        start_ns=1,
        end_ns=2,
    ),
    replace(SPAN, service="crafter"),
]
"""Spans whole, nearly empty, and of another service."""


def test_both_forms_say_the_same() -> None:
    """A collector and a file get the same spans; OpenTelemetry's own classes read them."""
    request = protobuf.request(RESOURCE, WHOLE)
    binary = normal(MessageToDict(request, use_integers_for_enums=True))
    text = json.loads(encode.to_json(RESOURCE, WHOLE))

    assert without_empty(text) == without_empty(binary)


SCALARS = st.one_of(
    st.booleans(),
    st.integers(-(2**63), 2**63 - 1),
    st.floats(allow_nan=False),
    st.text(max_size=300),
)


NAMES = st.text(min_size=1, max_size=200)


@given(st.dictionaries(NAMES, SCALARS), NAMES)
def test_every_value_arrives_in_protobuf(
    attributes: dict[str, str | bool | int | float], text: str
) -> None:
    """Values of any length and kind arrive as they are."""
    event = SpanEvent(text, 2**64 - 1, attributes)
    span = replace(SPAN, name=text, attributes=attributes, events=(event,), error=text)
    written = protobuf.request(RESOURCE, [span]).SerializeToString()
    request = ExportTraceServiceRequest.FromString(written)
    read = request.resource_spans[0].scope_spans[0].spans[0]
    found = {each.key: each.value for each in read.attributes}

    assert (read.name, read.status.message) == (text, text)
    assert {
        key: getattr(value, str(value.WhichOneof("value")))
        for key, value in found.items()
    } == attributes
    assert read.events[0].time_unix_nano == 2**64 - 1


def test_each_service_has_its_resource() -> None:
    """The source of an event is a service of its own on the same host."""
    sources = replace(SPAN, service="crafter")
    projected = replace(SPAN, service="echoic-projector")
    whose = {name: RESOURCE[name] for name in ("host.name", "telemetry.sdk.version")}
    text = json.loads(encode.to_json(RESOURCE, [SPAN, sources, SPAN, projected]))
    found = [
        (
            {each["key"]: each["value"]["stringValue"] for each in named["attributes"]},
            len(scope["spans"]),
        )
        for group in text["resourceSpans"]
        for named, scope in [(group["resource"], group["scopeSpans"][0])]
    ]

    assert found == [
        (RESOURCE, 2),
        ({**whose, "service.name": "crafter"}, 1),
        # The same program, so its version is known.
        ({**RESOURCE, "service.name": "echoic-projector"}, 1),
    ]


def test_json_is_one_line() -> None:
    """A batch is a line, so that files of many batches can be read line by line."""
    assert b"\n" not in encode.to_json(RESOURCE, [SPAN])


def test_a_file_is_read_back() -> None:
    """What was written comes back as it was, so that it can be sent later."""
    line = encode.to_json(RESOURCE, [SPAN])

    assert list(encode.from_json(line)) == [(RESOURCE, [SPAN])]


@pytest.mark.parametrize(
    "line", [b"", b"{}", b"[1]", b"null", b'{"resourceSpans": [3]}']
)
def test_what_is_no_otlp_is_passed_over(line: bytes) -> None:
    """A line that is garbage, or was cut off, holds nothing."""
    assert encode.whole(line) == []


def test_half_a_line_is_passed_over() -> None:
    """Wherever a killed process stopped, the rest of the file can be read."""
    line = encode.to_json(RESOURCE, [SPAN])

    assert all(encode.whole(line[:end]) == [] for end in range(len(line)))
