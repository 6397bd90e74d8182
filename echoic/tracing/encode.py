"""Encoding of spans as OTLP: JSON for files, protobuf for collectors.

OTLP's JSON differs from protobuf's JSON mapping: ids are hex, not base64; 64-bit integers
are strings in both. Jaeger's page can open it.
"""

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import orjson

from echoic.tracing import conventions as names
from echoic.tracing.spans import Attributes, Link, Scalar, SpanData, SpanEvent

if TYPE_CHECKING:
    from opentelemetry.proto.common.v1.common_pb2 import KeyValue
    from opentelemetry.proto.trace.v1.trace_pb2 import Span

SCOPE = "echoic.tracing"

# Numbers of OTLP's enums: Span.SpanKind, Status.StatusCode, and the W3C flag `sampled`.
_KINDS = {"internal": 1, "client": 3, "producer": 4, "consumer": 5}
# A bool is an int to Python, so it is asked for first.
_TYPES = ((bool, "bool"), (int, "int"), (float, "double"), (str, "string"))
_ERROR = 2
_SAMPLED = 1
_OF_THE_ENGINE = (names.SERVICE_NAME, names.SERVICE_VERSION, names.SERVICE_INSTANCE_ID)


def to_json(resource: Attributes, spans: Sequence[SpanData]) -> bytes:
    """Return one export request as OTLP-JSON on one line, without a line break."""
    return orjson.dumps(
        {
            "resourceSpans": [
                {
                    "resource": {"attributes": _json_attributes(whose)},
                    "scopeSpans": [
                        {
                            "scope": {"name": SCOPE},
                            "spans": [_json_span(span) for span in own],
                        }
                    ],
                    "schemaUrl": names.SCHEMA_URL,
                }
                for whose, own in _by_service(resource, spans)
            ]
        }
    )


def to_protobuf(resource: Attributes, spans: Sequence[SpanData]) -> bytes:
    """Return one export request in OTLP's protobuf encoding."""
    # Costs 40 ms to import, which a start without a collector need not pay.
    from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import (
        ExportTraceServiceRequest,
    )

    request = ExportTraceServiceRequest()
    for whose, own in _by_service(resource, spans):
        resource_spans = request.resource_spans.add(schema_url=names.SCHEMA_URL)
        resource_spans.resource.attributes.extend(_pairs(whose))
        scope_spans = resource_spans.scope_spans.add()
        scope_spans.scope.name = SCOPE
        for span in own:
            _fill(scope_spans.spans.add(), span)
    encoded: bytes = request.SerializeToString()
    return encoded


def _by_service(
    resource: Attributes, spans: Sequence[SpanData]
) -> Iterator[tuple[Attributes, Sequence[SpanData]]]:
    """Yield each service's resource with its spans."""
    services: dict[str | None, list[SpanData]] = {}
    for span in spans:
        services.setdefault(span.service, []).append(span)
    # The host stays: the times are ours, and Jaeger doubts clocks of two hosts.
    shared = {key: resource[key] for key in resource if key not in _OF_THE_ENGINE}
    for service, own in services.items():
        yield shared | {names.SERVICE_NAME: service} if service else resource, own


def _json_span(span: SpanData) -> dict[str, Any]:
    written: dict[str, Any] = {
        "traceId": span.trace_id,
        "spanId": span.span_id,
        "flags": _SAMPLED,
        "name": span.name,
        "kind": _KINDS[span.kind],
        # As strings: JavaScript's numbers are exact to 53 bits only.
        "startTimeUnixNano": str(span.start_ns),
        "endTimeUnixNano": str(span.end_ns),
        "attributes": _json_attributes(span.attributes),
        "events": [_json_event(event) for event in span.events],
        "links": [_json_link(link) for link in span.links],
        "status": {},
    }
    if span.parent is not None:
        written["parentSpanId"] = span.parent
    if span.error is not None:
        written["status"] = {"code": _ERROR, "message": span.error}
    return written


def _json_event(event: SpanEvent) -> dict[str, Any]:
    return {
        "timeUnixNano": str(event.at_ns),
        "name": event.name,
        "attributes": _json_attributes(event.attributes),
    }


def _json_link(link: Link) -> dict[str, Any]:
    return {
        "traceId": link.trace_id,
        "spanId": link.span_id,
        "attributes": _json_attributes(link.attributes),
    }


def _json_attributes(attributes: Attributes) -> list[dict[str, Any]]:
    return [
        {"key": key, "value": _json_value(value)} for key, value in attributes.items()
    ]


def _json_value(value: Scalar) -> dict[str, Any]:
    kind = _kind(value)
    return {f"{kind}Value": str(value) if kind == "int" else value}


def _fill(target: "Span", span: SpanData) -> None:
    target.trace_id = bytes.fromhex(span.trace_id)
    target.span_id = bytes.fromhex(span.span_id)
    target.parent_span_id = bytes.fromhex(span.parent or "")
    target.flags = _SAMPLED
    target.name = span.name
    target.kind = _KINDS[span.kind]  # type: ignore[assignment]  # the enum's numbers
    target.start_time_unix_nano = span.start_ns
    target.end_time_unix_nano = span.end_ns
    target.attributes.extend(_pairs(span.attributes))
    for event in span.events:
        added = target.events.add(time_unix_nano=event.at_ns, name=event.name)
        added.attributes.extend(_pairs(event.attributes))
    for link in span.links:
        pointing = target.links.add(
            trace_id=bytes.fromhex(link.trace_id), span_id=bytes.fromhex(link.span_id)
        )
        pointing.attributes.extend(_pairs(link.attributes))
    if span.error is not None:
        target.status.code = _ERROR  # type: ignore[assignment]  # the enum's number
        target.status.message = span.error


def _pairs(attributes: Attributes) -> list["KeyValue"]:
    # Imported late, for the same 40 ms.
    from opentelemetry.proto.common.v1.common_pb2 import AnyValue, KeyValue

    return [
        KeyValue(key=key, value=AnyValue(**_field(value)))
        for key, value in attributes.items()
    ]


def _kind(value: Scalar) -> str:
    """Return the name of a value's type in OTLP's `AnyValue`."""
    return next(name for kind, name in _TYPES if isinstance(value, kind))


def _field(value: Scalar) -> dict[str, Any]:
    return {f"{_kind(value)}_value": value}
