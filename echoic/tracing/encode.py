"""Encoding of spans as OTLP-JSON, for files and for collectors that want it.

OTLP's JSON differs from protobuf's JSON mapping: ids are hex, not base64; 64-bit integers
are strings in both. Jaeger's page can open it.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, cast

import orjson

from echoic.tracing import conventions as names
from echoic.tracing.spans import Attributes, Link, Scalar, SpanData, SpanEvent, SpanKind

SCOPE = "echoic.tracing"
KINDS: Mapping[SpanKind, int] = {
    "internal": 1, "client": 3, "producer": 4, "consumer": 5,
}  # fmt: skip
"""Numbers of the enum Span.SpanKind."""
_ERROR = 2
"""The number of the enum Status.StatusCode."""
SAMPLED = 1
"""The flag of W3C Trace Context."""

_KIND_OF: Mapping[int, SpanKind] = {number: kind for kind, number in KINDS.items()}
# A bool is an int to Python, so it is asked for first.
_TYPES = ((bool, "bool"), (int, "int"), (float, "double"), (str, "string"))
# The projector is the same program; of a source neither version nor process is known.
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
                            "scope": {"name": SCOPE, "version": version_of(whose)},
                            "spans": [_json_span(span) for span in own],
                        }
                    ],
                    "schemaUrl": names.SCHEMA_URL,
                }
                for whose, own in by_service(resource, spans)
            ]
        }
    )


def from_json(line: bytes) -> Iterator[tuple[Attributes, list[SpanData]]]:
    """Yield each resource of a line of OTLP-JSON with its spans, as `to_json` wrote them.

    Raises:
        ValueError: the line is no such request.
    """
    try:
        for group in orjson.loads(line)["resourceSpans"]:
            scopes = (scope["spans"] for scope in group["scopeSpans"])
            spans = [_span(each) for scope in scopes for each in scope]
            yield _attributes(group["resource"]), spans
    except (KeyError, TypeError, AttributeError) as error:
        raise ValueError(f"no OTLP-JSON: {error!r}") from error


def whole(line: bytes) -> list[tuple[Attributes, list[SpanData]]]:
    """Return what a line holds; nothing of one that a killed process left unfinished."""
    try:
        return list(from_json(line))
    except ValueError:
        return []


def version_of(resource: Attributes) -> str:
    """Return the version of what makes the spans: this program's, whoever's they are."""
    return str(resource.get(names.TELEMETRY_SDK_VERSION, ""))


def by_service(
    resource: Attributes, spans: Sequence[SpanData]
) -> Iterator[tuple[Attributes, Sequence[SpanData]]]:
    """Yield each service's resource with its spans."""
    services: dict[str | None, list[SpanData]] = {}
    for span in spans:
        services.setdefault(span.service, []).append(span)
    # The host stays: the times are ours, and Jaeger doubts clocks of two hosts.
    shared = {key: resource[key] for key in resource if key not in _OF_THE_ENGINE}
    for service, own in services.items():
        known = resource if service in (None, names.PROJECTOR) else shared
        yield {**known, names.SERVICE_NAME: service} if service else resource, own


def _json_span(span: SpanData) -> dict[str, Any]:
    written: dict[str, Any] = {
        "traceId": span.trace_id,
        "spanId": span.span_id,
        "flags": SAMPLED,
        "name": span.name,
        "kind": KINDS[span.kind],
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
    if isinstance(value, tuple):
        return {"arrayValue": {"values": [_json_value(each) for each in value]}}
    kind = _kind(value)
    return {f"{kind}Value": str(value) if kind == "int" else value}


def _kind(value: Scalar) -> str:
    """Return the name of a value's type in OTLP's `AnyValue`."""
    return next(name for kind, name in _TYPES if isinstance(value, kind))


def _span(written: Mapping[str, Any]) -> SpanData:
    status = written["status"]
    return SpanData(
        trace_id=written["traceId"],
        span_id=written["spanId"],
        parent=written.get("parentSpanId"),
        name=written["name"],
        kind=_KIND_OF[written["kind"]],
        start_ns=int(written["startTimeUnixNano"]),
        end_ns=int(written["endTimeUnixNano"]),
        attributes=_attributes(written),
        events=tuple(
            SpanEvent(each["name"], int(each["timeUnixNano"]), _attributes(each))
            for each in written["events"]
        ),
        links=tuple(
            Link(each["traceId"], each["spanId"], _attributes(each))
            for each in written["links"]
        ),
        error=status.get("message") if status.get("code") == _ERROR else None,
    )


def _attributes(written: Mapping[str, Any]) -> Attributes:
    return {each["key"]: _value(each["value"]) for each in written["attributes"]}


def _value(written: Mapping[str, Any]) -> Scalar:
    ((kind, value),) = written.items()
    if kind == "arrayValue":
        return tuple(str(_value(each)) for each in value["values"])
    return int(value) if kind == "intValue" else cast(Scalar, value)
